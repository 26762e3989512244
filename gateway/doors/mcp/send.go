package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

type sendArgs struct {
	Terminal  string   `json:"terminal"`
	Text      string   `json:"text"`
	Paste     string   `json:"paste"`
	Keys      []string `json:"keys"`
	Enter     bool     `json:"enter"`
	Click     string   `json:"click"`
	ClickAt   string   `json:"click_at"`
	Mouse     string   `json:"mouse"`
	To        string   `json:"to"`
	ExpectRev *uint64  `json:"expect_rev"`
	Look      string   `json:"look"`
	WaitFor   string   `json:"wait_for"`
	Value     string   `json:"value"`
	SettleMs  *int64   `json:"settle_ms"`
	MaxTokens *int     `json:"max_tokens"`
	TimeoutMs *int64   `json:"timeout_ms"`
	Stop      []string `json:"stop"`

	Steps []text.Step `json:"steps"`
}

// readParts returns the parts to type. The condition of the last step becomes the call's own.
func (in *sendArgs) readParts() ([]protocol.InputPart, error) {
	words := text.MouseWords{On: "click", At: "click_at", Act: "mouse", To: "to"}
	mouse, err := text.ParseMouse(words, in.Click, in.ClickAt, in.Mouse, in.To)
	if err != nil {
		return nil, err
	}
	if len(in.Steps) == 0 {
		input := text.Typing{
			Mouse: mouse, Text: in.Text, Paste: in.Paste, Keys: in.Keys, Enter: in.Enter,
		}
		return input.Parts()
	}
	if in.Text+in.Paste+in.WaitFor+in.Value != "" || in.Enter || len(in.Keys)+len(in.Stop) > 0 {
		return nil, errors.New("steps replaces text, paste, keys, enter, wait_for, value and stop: " +
			"put them into the steps")
	}
	parts, err := text.StepParts(in.Steps)
	if err != nil {
		return nil, err
	}
	last := in.Steps[len(in.Steps)-1]
	in.WaitFor, in.Value, in.Stop = last.Until, last.Value, last.Stop
	if mouse != nil {
		parts = append([]protocol.InputPart{*mouse}, parts...)
	}
	return parts, nil
}

// checkSteps checks the steps of a call that does something else first. They may be empty.
func checkSteps(steps []text.Step) error {
	if len(steps) == 0 {
		return nil
	}
	_, err := text.StepParts(steps)
	return err
}

// minStepsMs is the least time that steps get after what came before them in the same call.
const minStepsMs = 5000

// typeSteps types the steps of a call that got the keyboard first, as preamble says.
func (s *toolset) typeSteps(
	ctx context.Context, req *mcp.CallToolRequest, preamble string, in sendArgs, deadline time.Time,
) (string, error) {
	in.TimeoutMs = new(max(client.MillisecondsLeft(deadline), minStepsMs))
	answer, err := s.sendInput(ctx, req, in)
	if err != nil {
		return "", &partialError{cause: err, receipt: preamble}
	}
	return text.Join(preamble, answer), nil
}

func (s *toolset) sendInput(
	ctx context.Context, req *mcp.CallToolRequest, in sendArgs,
) (string, error) {
	tokens, err := callerOf(req).tokenLimit(in.MaxTokens)
	if err != nil {
		return "", err
	}
	parts, err := in.readParts()
	if err != nil {
		return "", err
	}
	until, err := in.waitCondition()
	if err != nil {
		return "", err
	}
	info, err := s.findTerminal(ctx, in.Terminal)
	if err != nil {
		return "", err
	}
	limit := time.Duration(timeLimit(ctx, req, in.TimeoutMs, defaultTimeoutMs)) * time.Millisecond
	typing := s.newTyping(info, in, parts, limit)
	free, err := s.turns.lockTerminal(ctx, info.SessionID)
	if err != nil {
		return "", err
	}
	defer free()
	defer s.startProgress(ctx, req, "typing", limit)()
	typed, err := client.Type(ctx, s.cfg.Terminals, typing)
	switch {
	case typed == nil:
		return "", err
	case err != nil:
		return "", &partialError{cause: err, receipt: text.Receipt(parts, typed.Result, true)}
	}
	if typed.Result.Status != protocol.StatusWritten {
		return "", s.inputFailure(ctx, info, typed, text.Receipt(parts, typed.Result, false),
			tokens)
	}
	if typed.Held {
		typing.Deadline = time.Now().Add(limit) // the user's decision must not use up the program's time
	}
	return s.inputOutcome(ctx, req, info, typed, parts, tokens, in, until, typing.Deadline)
}

// waitCondition returns the condition to wait for after typing, empty without one.
func (in sendArgs) waitCondition() (protocol.Until, error) {
	switch {
	case in.WaitFor == "" && in.Value != "":
		return protocol.Until{}, errors.New("value belongs to wait_for")
	case in.WaitFor == "" && len(in.Stop) > 0:
		return protocol.Until{}, errors.New("stop belongs to wait_for")
	case in.WaitFor == "":
		return protocol.Until{}, nil
	}
	if _, err := text.Patterns("stop", in.Stop); err != nil {
		return protocol.Until{}, err
	}
	return text.Until(in.WaitFor, in.Value)
}

// newTyping returns the input for the client, with the limits of the call.
func (s *toolset) newTyping(
	info protocol.SessionInfo, in sendArgs, parts []protocol.InputPart, limit time.Duration,
) client.Typing {
	typing := client.Typing{
		Session: info, Parts: parts, Rev: in.ExpectRev,
		SettleMs: millis(in.SettleMs, defaultSettleMs), Deadline: time.Now().Add(limit),
		Mine: func(k protocol.Keyboard) bool { return k.AgentID == s.self.ownID() },
	}
	if in.WaitFor != "" {
		typing.SettleMs = 0
	}
	if in.TimeoutMs == nil {
		typing.Held = heldMs * time.Millisecond
	}
	return typing
}

// inputOutcome answers an input that arrived whole, with the new screen.
func (s *toolset) inputOutcome(
	ctx context.Context, req *mcp.CallToolRequest, info protocol.SessionInfo, typed *client.Typed,
	parts []protocol.InputPart, tokens int, in sendArgs, until protocol.Until, deadline time.Time,
) (string, error) {
	receipt := stepRows(s.cfg.Mark(), typed.Result, nil)
	receipt = text.Join(receipt, text.Confirm(parts, typed.Result))
	if in.WaitFor == "" {
		return s.settledOutcome(ctx, info, typed, tokens, in, receipt), nil
	}
	ask := in.waitAfter(typed, until, deadline)
	ask.SessionID = info.SessionID
	got, frame, err := s.awaitFact(ctx, req, ask, in.WaitFor)
	if err != nil {
		return "", &partialError{cause: err, receipt: receipt}
	}
	if len(in.Steps) > 1 {
		receipt = stepRows(s.cfg.Mark(), typed.Result, got)
	}
	if !got.Met {
		receipt = text.Join(receipt, text.DescribeOddReaction(typed.Before, typed.Result, frame))
	}
	preamble := text.Join(text.Messages(append(typed.Result.Notes, got.Notes...)),
		text.Join(receipt, matchedLine(got, until)+text.OldMatchNote(got, parts)))
	if got.ExitCode != nil {
		recordEnd(&info, got)
		return s.endAfter(ctx, info, typed, frame, tokens, in, preamble), nil
	}
	return s.screenAfter(ctx, info, typed.Before, frame, in.Look, tokens, preamble), nil
}

// waitAfter returns the wait for what follows an input.
func (in sendArgs) waitAfter(
	typed *client.Typed, until protocol.Until, deadline time.Time,
) *protocol.Wait {
	stop, _ := text.Patterns("stop", in.Stop) // checked before anything was typed
	return &protocol.Wait{
		Until: until, Stop: stop, AfterSeq: typed.After, InputSeq: typed.Before.Seq,
		Epoch: typed.Epoch, TimeoutMs: client.MillisecondsLeft(deadline),
		// an older proxy, which keeps no history, reports only the present screen
		SinceSeq: typed.Before.Seq, Scrollback: protocol.MaxHistory,
	}
}

// settledOutcome answers an input after which the agent waits only for a quiet screen.
func (s *toolset) settledOutcome(
	ctx context.Context, info protocol.SessionInfo, typed *client.Typed, tokens int, in sendArgs,
	receipt string,
) string {
	frame := typed.Result.Frame
	settles := in.SettleMs == nil || *in.SettleMs > 0 // else the agent did not ask
	receipt = text.Join(receipt, text.DescribeOddReaction(typed.Before, typed.Result, frame))
	ended := frame != nil && frame.Activity != nil && frame.Activity.State == protocol.StateExited
	if frame != nil && !frame.Settled && settles && !ended {
		receipt = text.Join(receipt, "not settled in time")
	}
	receipt = text.Join(text.Messages(typed.Result.Notes), receipt)
	if ended {
		return s.endAfter(ctx, info, typed, frame, tokens, in, receipt)
	}
	return s.screenAfter(ctx, info, typed.Before, frame, in.Look, tokens, receipt)
}

// endAfter shows how a program that the agent typed into ended, after the preamble.
func (s *toolset) endAfter(
	ctx context.Context, info protocol.SessionInfo, typed *client.Typed, frame *protocol.Frame,
	tokens int, in sendArgs, preamble string,
) string {
	if in.Look == lookNone {
		return s.answers.formatHeader(ctx, info, frame, preamble)
	}
	since := s.answers.newsSince(ctx, info.SessionID, typed.Before.Seq)
	return s.showEnd(ctx, info, typed.Before, frame, since, in.MaxTokens, tokens, preamble)
}

// inputFailure returns the error of an input that did not arrive whole, with the screen if that
// helps to decide the next step.
func (s *toolset) inputFailure(
	ctx context.Context, info protocol.SessionInfo, typed *client.Typed, receipt string, tokens int,
) error {
	got := typed.Result
	out := failureReason(got) + "\n"
	if len(got.Notes) > 0 {
		out += text.Messages(got.Notes) + "\n"
	}
	out += receipt
	if rows := stepRows(s.cfg.Mark(), got, nil); rows != "" {
		out += "\n" + rows
	}
	if left := text.LeftOnLine(got.LeftOnLine); left != "" {
		out += "\n" + left
	}
	if got.Ended == protocol.ReasonExited {
		if end, err := s.showFailedEnd(ctx, info, typed, tokens, out); err == nil {
			return errors.New(end)
		}
	}
	if isScreenHelpful(got) {
		before := typed.Before
		if s.answers.seenRevision(ctx, info.SessionID) == protocol.FirstSeq {
			// shows the whole screen, because the agent has seen nothing of it
			before = &protocol.Frame{}
		}
		out = s.screenAfter(ctx, info, before, got.Frame, lookChanges, tokens, out)
	}
	return errors.New(out)
}

// stepRows quotes the rows that met the conditions of an input's steps, in a fence with a mark;
// last is the wait after the last step, or nil.
func stepRows(mark string, r *protocol.InputResult, last *protocol.WaitResult) string {
	return text.Fence(mark, "rows that met the steps", text.StepEnds(r, last))
}

// The views of terminal_send after typing.
const (
	lookChanges = "changes"
	lookScreen  = "screen"
	lookNone    = "none"
)

var looks = []string{lookChanges, lookScreen, lookNone}

// failureReason explains why an input did not arrive whole, and what to do next.
func failureReason(got *protocol.InputResult) string {
	out, advice := text.Refusal(got.Reason, got.Message), nextSteps[got.Reason]
	if text.CutOff(got) {
		out = "control ended while you typed: " + text.EndedAs(got)
		if advice = lookFirst; got.Ended == protocol.ReasonExited {
			advice = nextSteps[protocol.CodeExited]
		}
	}
	if step := text.UnmetStep(got); step != "" {
		out, advice = step, "look at the screen, and send the rest if it is still right"
	}
	if advice != "" {
		out += "; " + advice
	}
	return out
}

// explainedByScreen are the reasons for a failure that the screen explains.
var explainedByScreen = []protocol.Code{
	protocol.CodeScreenChanged, protocol.CodeUserTyping, protocol.CodeStaleEpoch,
}

// isScreenHelpful reports whether the screen helps to decide what to do about a failed input.
func isScreenHelpful(got *protocol.InputResult) bool {
	if got.Reason == protocol.CodeSecretPrompt {
		return got.WrittenBytes > 0 // else the agent has seen the prompt
	}
	if slices.Contains(explainedByScreen, got.Reason) {
		return true
	}
	return got.Ended != "" || text.CutOff(got) || text.UnmetStep(got) != ""
}

// screenAfter shows the screen after typing, below the preamble: the changes if they are shorter,
// otherwise all of it. before is the screen before the first key; look is the agent's choice of
// view.
func (s *toolset) screenAfter(
	ctx context.Context, info protocol.SessionInfo, before, f *protocol.Frame, look string,
	tokens int, preamble string,
) string {
	if look == lookNone && f != nil {
		return s.answers.formatHeader(ctx, info, f, preamble)
	}
	lines, known := text.Screen(before, f)
	if look != lookScreen {
		if answer, ok := s.newsAfter(ctx, info, before, f, tokens, preamble); ok {
			return answer
		}
	}
	if !known {
		got, err := s.cfg.Terminals.Read(ctx, &protocol.Read{SessionID: info.SessionID})
		if err != nil {
			return text.Join(preamble, "the screen could not be read: "+explain(err))
		}
		f, lines = got.Frame, got.Frame.Screen.Lines
	}
	if note := text.ScrolledOff(before, f); note != "" {
		if n := unseenSince(ctx, s.cfg.Terminals, info.SessionID, before.Seq, f.Line); n > 0 {
			note = text.LeftUnseen(n)
		}
		preamble = text.Join(preamble, fmt.Sprintf("%s: terminal_read with view changes and since_rev %d "+
			"shows them", note, before.Seq))
	}
	if look == lookScreen {
		whole := *f
		whole.Screen.Lines = lines
		return s.answers.formatAnswer(ctx, info, &whole, dialect.Whole(&whole, 0), tokens, preamble, "")
	}
	return s.answers.formatAnswer(ctx, info, f, dialect.After(before, f, lines), tokens, preamble, "")
}

// newsAfter shows the changes since the agent last looked, if that was not the screen before the
// first key.
func (s *toolset) newsAfter(
	ctx context.Context, info protocol.SessionInfo, before, f *protocol.Frame, tokens int,
	preamble string,
) (answer string, ok bool) {
	seen := s.answers.seenRevision(ctx, info.SessionID)
	if seen <= protocol.FirstSeq || before.Seq == seen {
		return "", false
	}
	got, err := s.cfg.Terminals.Read(ctx,
		&protocol.Read{SessionID: info.SessionID, SinceSeq: seen, Follow: true, Scrollback: 1})
	if err != nil {
		return "", false
	}
	if f != nil {
		got.Frame.Repainting = f.Repainting
	}
	return s.answers.formatAnswer(ctx, info, got.Frame, dialect.News(got, seen), tokens,
		text.Join(text.Messages(got.Notes), preamble), hiddenTextWarning(got)), true
}

// unseenSince returns how many rows have left the screen unseen since a revision, up to a line of
// the history, because the number of rows in view changes. 0 means unknown.
func unseenSince(ctx context.Context, terminals Terminals, terminal string, seen, line uint64) int {
	got, err := terminals.Read(ctx,
		&protocol.Read{SessionID: terminal, SinceSeq: seen, Follow: true, Scrollback: 1})
	if err != nil || got.NextLine < line || got.Unseen <= got.NextLine-line {
		return 0
	}
	return int(got.Unseen - (got.NextLine - line)) //nolint:gosec // a program would have to print for years
}
