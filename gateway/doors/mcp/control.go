package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// releaseWithin bounds the time for releasing a grant after its call was cancelled.
const releaseWithin = 5 * time.Second

type requestArgs struct {
	Terminal  string `json:"terminal"`
	Reason    string `json:"reason"`
	Level     string `json:"level"`
	Seconds   int64  `json:"seconds"`
	TimeoutMs *int64 `json:"timeout_ms"`

	Steps []text.Step `json:"steps"`
}

// readReason returns the agent's stated purpose.
func (in requestArgs) readReason() (string, error) {
	reason, err := text.Sentence("reason", in.Reason)
	if err == nil && reason == "" {
		err = errors.New("reason is empty: say in one sentence what you want to do")
	}
	return reason, err
}

func (s *toolset) requestControl(
	ctx context.Context, req *mcp.CallToolRequest, in requestArgs,
) (string, error) {
	reason, err := in.readReason()
	if err != nil {
		return "", err
	}
	if err := checkSteps(in.Steps); err != nil {
		return "", err
	}
	info, err := s.findTerminal(ctx, in.Terminal)
	if err != nil {
		return "", err
	}
	if in.Level == "" {
		in.Level = string(protocol.LevelDrive)
	}
	limit := time.Duration(timeLimit(ctx, req, in.TimeoutMs, requestTimeoutMs)) * time.Millisecond
	defer s.startProgress(ctx, req, "waiting for the user", limit)()
	deadline, rev := time.Now().Add(limit), s.answers.seenRevision(ctx, info.SessionID)
	asking, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	grant, revoke, err := s.cfg.Terminals.Request(asking, &protocol.ControlRequest{
		SessionID: info.SessionID,
		AgentName: clientName(req),
		Level:     protocol.Level(in.Level),
		Why:       reason,
		Seconds:   in.Seconds,
	})
	switch {
	case err != nil && asking.Err() != nil && ctx.Err() == nil:
		return "pending: the user has not answered yet; wait with terminal_wait for=control", nil
	case err != nil:
		return "", err
	case grant != nil:
		s.self.learnID(grant.AgentID)
		if ctx.Err() != nil {
			return "", returnGrant(ctx, s.cfg.Terminals, info.SessionID)
		}
		answer := text.WithMessages(grant.Notes, grantedText(info, grant, s.cfg.Now()))
		if len(in.Steps) > 0 {
			// The user may have used the terminal since: the steps are for the screen that the agent saw.
			return s.typeSteps(ctx, req, answer, sendArgs{
				Terminal: info.SessionID, Steps: in.Steps, ExpectRev: &rev,
			}, deadline)
		}
		screen, err := s.readView(ctx, req, readArgs{Terminal: info.SessionID})
		if err != nil {
			return answer, nil // the agent has the keyboard, and its own look tells it why
		}
		return text.Join(answer, screen), nil
	}
	return "", refusalError(revoke)
}

// refusalError returns the error for a refused request, with what the agent may do next.
func refusalError(revoke *protocol.ControlRevoke) error {
	reason := text.RefusalReason(revoke)
	if len(revoke.Notes) > 0 {
		reason += "; " + text.Messages(revoke.Notes)
	}
	if revoke.Reason == protocol.ReasonRefused || revoke.Reason == protocol.ReasonReclaimed {
		return fmt.Errorf("refused: %s; do not ask again for the same thing unless the user "+
			"tells you to; terminal_read still works", reason)
	}
	return fmt.Errorf("not granted: %s; terminal_read still works, and "+
		"terminal_request_control asks again", reason)
}

// returnGrant releases a grant that arrived after its call was cancelled: the agent reads no answer
// and would not know that it has the keyboard.
func returnGrant(ctx context.Context, terminals Terminals, sessionID string) error {
	releasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	err := terminals.Release(releasing, &protocol.ControlRelease{SessionID: sessionID})
	return cmp.Or(err, ctx.Err())
}

func grantedText(info protocol.SessionInfo, grant *protocol.ControlGrant, now time.Time) string {
	words := text.Grant(grant.Level, grant.ExpiresAt, now)
	if words != "" {
		words = " (" + words + ")"
	}
	held := ""
	if grant.Level == protocol.LevelType {
		held = " At a shell's or REPL's prompt you may type and edit. Input that submits or " +
			"signals (Enter, Tab, Ctrl-C, Escape, a click) waits until the user approves it, " +
			"as does all input elsewhere (editors, pagers, menus, ssh); terminal_send " +
			"waits for that."
	}
	return fmt.Sprintf("granted: you have the keyboard of %s%s.%s Type with terminal_send and "+
		"give it back with terminal_release when you are done; the user can take it back at any "+
		"time.",
		info.SessionID, words, held)
}

// clientName returns the name that the client gives itself, cleaned for the user.
func clientName(req *mcp.CallToolRequest) string {
	if info := req.ClientInfo(); info != nil {
		if name := text.Name(info.Name); name != "" {
			return name
		}
	}
	return "an agent"
}

type releaseArgs struct {
	Terminal string `json:"terminal"`
	Note     string `json:"note"`
}

func (s *toolset) releaseControl(
	ctx context.Context, _ *mcp.CallToolRequest, in releaseArgs,
) (string, error) {
	note, err := text.Sentence("note", in.Note)
	if err != nil {
		return "", err
	}
	info, err := s.findTerminal(ctx, in.Terminal)
	if err != nil {
		return "", err
	}
	err = s.cfg.Terminals.Release(ctx,
		&protocol.ControlRelease{SessionID: info.SessionID, Note: note})
	refused, ok := errors.AsType[*protocol.Error](err)
	switch {
	case ok && refused.Code == protocol.CodeExited:
		return text.Name(info.SessionID) + " has ended: there is no keyboard to give back", nil
	case ok && refused.Code == protocol.CodeNoGrant: // releasing twice changes nothing
	case err != nil:
		return "", err
	}
	return "released: the user has the keyboard of " + info.SessionID, nil
}
