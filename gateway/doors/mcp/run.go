package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// Times of starting and closing.
const (
	// firstWithin is how long to wait for a program's first output before its screen is shown as it
	// is.
	firstWithin = 2 * time.Second
	// closeWithin bounds how long a terminal may take to end: a little more than the host's own
	// limit.
	closeWithin = 12 * time.Second
)

func (s *toolset) startTools() []tool {
	return []tool{
		define("terminal_run",
			"Start a program in a new terminal of yours, and type steps as in terminal_send. You have "+
				"its keyboard; the user may watch and take it. It ends when it exits, idles too "+
				"long, you close it or leave.", &mcp.ToolAnnotations{}, false, s.runProgram,
			param{name: "program", kind: "string", required: true, about: "For a command line: bash with args " +
				"-c and the line."},
			param{name: "args", kind: "array"}, param{name: "cwd", kind: "string"},
			param{name: "cols", kind: "integer", high: protocol.MaxSize},
			param{name: "rows", kind: "integer", high: protocol.MaxSize},
			param{
				name: "wait_for", kind: "string", enum: waitFor, unlisted: true,
				about: "As in terminal_send. Default: settled.",
			},
			param{
				name: "value",
				kind: "string",
			}, param{name: "stop", kind: "array"}, laterSteps, tokensParam, timeoutParam),
	}
}

func (s *toolset) closeTools() []tool {
	return []tool{
		define("terminal_close",
			"End a terminal of terminal_run and all that runs in it, as closing its window would.",
			&mcp.ToolAnnotations{
				IdempotentHint: true,
				OpenWorldHint:  new(false),
			}, false, s.closeTerminal,
			param{name: "terminal", kind: "string", required: true},
			param{name: "force", kind: "boolean", about: "Kill it at once."}),
	}
}

type runArgs struct {
	Program   string   `json:"program"`
	Args      []string `json:"args"`
	Cwd       string   `json:"cwd"`
	Cols      int      `json:"cols"`
	Rows      int      `json:"rows"`
	WaitFor   string   `json:"wait_for"`
	Value     string   `json:"value"`
	MaxTokens *int     `json:"max_tokens"`
	TimeoutMs *int64   `json:"timeout_ms"`
	Stop      []string `json:"stop"`

	Steps []text.Step `json:"steps"`
}

func (s *toolset) runProgram(
	ctx context.Context, req *mcp.CallToolRequest, in runArgs,
) (string, error) {
	tokens, err := callerOf(req).tokenLimit(in.MaxTokens)
	if err != nil {
		return "", err
	}
	if err := checkSteps(in.Steps); err != nil {
		return "", err
	}
	until, err := sendArgs{WaitFor: in.WaitFor, Value: in.Value, Stop: in.Stop}.waitCondition()
	if err != nil {
		return "", err
	}
	deadline := time.Now().
		Add(time.Duration(timeLimit(ctx, req, in.TimeoutMs, defaultTimeoutMs)) * time.Millisecond)
	id, err := s.cfg.Programs.Start(ctx, &protocol.ProxyStart{
		Command: in.Program, Args: in.Args, Cwd: in.Cwd, Cols: in.Cols, Rows: in.Rows,
		AgentName: clientName(req),
	})
	if err != nil {
		return "", fmt.Errorf("cannot start the program: %w", err)
	}
	started := "started " + id + ": its keyboard is yours, and terminal_close ends it"
	info, err := s.findTerminal(ctx, id)
	if err != nil {
		return "", &partialError{cause: err, receipt: started}
	}
	got, frame, err := s.firstOutput(ctx, req, info, in, until, deadline)
	if err != nil {
		return "", &partialError{cause: err, receipt: started}
	}
	if frame.Keyboard.Holder == protocol.HolderAgent {
		s.self.learnID(frame.Keyboard.AgentID)
	}
	recordEnd(&info, got)
	if len(in.Steps) > 0 && got.ExitCode == nil && (in.WaitFor == "" || got.Met) {
		steps := sendArgs{Terminal: id, Steps: in.Steps, Look: lookScreen, MaxTokens: in.MaxTokens}
		return s.typeSteps(ctx, req, started, steps, deadline)
	}
	return s.showStarted(ctx, info, in, until, got, frame, tokens), nil
}

// showStarted shows a program's first output, or its end, if no steps are typed.
func (s *toolset) showStarted(
	ctx context.Context, info protocol.SessionInfo, in runArgs, until protocol.Until,
	got *protocol.WaitResult, frame *protocol.Frame, tokens int,
) string {
	preamble := ""
	switch {
	case in.WaitFor != "":
		preamble = matchedLine(got, until)
	case !got.Met && got.ExitCode == nil:
		preamble = "not settled in time"
	}
	if len(in.Steps) > 0 {
		preamble = text.Join(preamble, "the steps were not typed")
	}
	if got.ExitCode != nil {
		return s.showEnd(ctx, info, nil, frame, protocol.FirstSeq, in.MaxTokens, tokens, preamble)
	}
	empty := &protocol.Frame{Screen: protocol.Screen{Cols: frame.Screen.Cols, Lines: []string{}}}
	if note := text.ScrolledOff(empty, frame); note != "" {
		preamble = text.Join(preamble, note+": terminal_read with view history shows them")
	}
	return s.answers.formatAnswer(ctx, info, frame, dialect.Whole(frame, 0), tokens, preamble, "")
}

// firstOutput waits for the agent's condition, or for the first screen of a program to settle:
// programs draw nothing for a while after their start.
func (s *toolset) firstOutput(
	ctx context.Context, req *mcp.CallToolRequest, info protocol.SessionInfo, in runArgs,
	until protocol.Until, deadline time.Time,
) (*protocol.WaitResult, *protocol.Frame, error) {
	ask := &protocol.Wait{
		SessionID: info.SessionID,
		Until:     until,
		TimeoutMs: client.MillisecondsLeft(deadline),
	}
	if in.WaitFor != "" {
		ask.AfterSeq = protocol.FirstSeq             // output before this wait counts
		ask.Stop, _ = text.Patterns("stop", in.Stop) // checked before the program was started
		return s.awaitFact(ctx, req, ask, in.WaitFor)
	}
	within := min(firstWithin, time.Until(deadline))
	if _, err := s.cfg.Terminals.Wait(ctx, &protocol.Wait{
		SessionID: info.SessionID,
		Until:     protocol.Until{Changed: true},
		AfterSeq:  protocol.FirstSeq,
		TimeoutMs: max(1, within.Milliseconds()),
	}); err != nil {
		return nil, nil, err
	}
	ask.Until, ask.TimeoutMs = protocol.Until{
		QuietMs:  defaultSettleMs,
		Repaints: true,
	}, client.MillisecondsLeft(deadline)
	return s.awaitFact(ctx, req, ask, "the first screen")
}

type closeArgs struct {
	Terminal string `json:"terminal"`
	Force    bool   `json:"force"`
}

func (s *toolset) closeTerminal(
	ctx context.Context, req *mcp.CallToolRequest, in closeArgs,
) (string, error) {
	info, err := s.findTerminal(ctx, in.Terminal)
	if err != nil {
		return "", err
	}
	if info.State == protocol.StateExited {
		return dismissEnded(ctx, s.cfg.Programs, info)
	}
	end := &protocol.Close{SessionID: info.SessionID}
	if in.Force {
		end.Signal = "KILL"
	}
	err = s.cfg.Programs.EndSession(ctx, end)
	refused, ok := errors.AsType[*protocol.Error](err)
	if err != nil && (!ok || refused.Code != protocol.CodeExited) {
		return "", err
	}
	got, _, err := s.awaitFact(ctx, req, &protocol.Wait{
		SessionID: info.SessionID, Until: protocol.Until{Exit: true},
		TimeoutMs: closeWithin.Milliseconds(),
	}, "the end")
	switch {
	case err != nil:
		return "", err
	case !got.Met || got.ExitCode == nil:
		return "", fmt.Errorf("%s did not end within %s; terminal_close with force kills it",
			info.SessionID, text.Span(closeWithin))
	}
	return fmt.Sprintf("closed: %s has ended (%s); terminal_read still shows what it printed",
		info.SessionID, text.ExitStatus(*got.ExitCode, got.Signal)), nil
}

// dismissEnded closes a terminal whose program has ended, so that its output is no longer kept.
func dismissEnded(
	ctx context.Context, programs Programs, info protocol.SessionInfo,
) (string, error) {
	how := text.ExitStatus(info.ExitCode, info.Signal)
	err := programs.EndSession(ctx, &protocol.Close{SessionID: info.SessionID})
	refused, ok := errors.AsType[*protocol.Error](err)
	switch {
	case err == nil:
		return fmt.Sprintf("closed: %s had ended (%s); what it printed is no longer kept",
			info.SessionID, how), nil
	case ok && refused.Code == protocol.CodeExited:
		// another agent's terminal, or a gateway that keeps all ended ones for a while
		return fmt.Sprintf("closed: %s has ended (%s)", info.SessionID, how), nil
	}
	return "", err
}
