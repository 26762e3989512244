package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"terminalproxy/protocol"
)

// Keyboard is the part of a gateway connection that typing needs.
type Keyboard interface {
	Read(ctx context.Context, m *protocol.Read) (*protocol.ReadResult, error)
	Input(ctx context.Context, m *protocol.Input) (*protocol.InputResult, error)
}

// Typing describes one input, and its limits.
type Typing struct {
	Session protocol.SessionInfo
	Parts   []protocol.InputPart
	// Rev is the revision that the screen must still have at the first byte, nil for any.
	Rev *uint64
	// SettleMs is how long the screen has to be quiet afterwards, in milliseconds; 0 if the caller
	// waits for something else.
	SettleMs int64
	// Deadline bounds everything.
	Deadline time.Time
	// Held extends the deadline to this long from now if the grant has level type, because the user
	// may have to approve the input; 0 does not.
	Held time.Duration
	// Mine reports whether a grant is the caller's own.
	Mine func(protocol.Keyboard) bool
}

// HasSteps reports whether there is a condition between two parts.
func (t Typing) HasSteps() bool { return (&protocol.Input{Parts: t.Parts}).HasSteps() }

// Typed reports on a Typing.
type Typed struct {
	// Before is the screen before the first key.
	Before *protocol.Frame
	// Result is the receipt. With an error it covers the parts whose receipts arrived, and is nil
	// without one.
	Result *protocol.InputResult
	// After is the newest revision before the last part: the effects of that part are newer.
	After uint64
	// Epoch is the epoch of the caller's grant, 0 without a grant.
	Epoch uint64
	// Held is set if the deadline was extended for the user's approval.
	Held bool
}

// MillisecondsLeft returns the time until a deadline in milliseconds, at least 1: on the wire 0
// means no limit.
func MillisecondsLeft(deadline time.Time) int64 {
	return max(1, time.Until(deadline).Milliseconds())
}

// Type types t under the present grant; input that arrives late does not count for a later one. A
// refusal is not an error: it is in the receipt. With an error, Typed is nil if nothing was typed;
// otherwise the outcome of the unanswered parts is unknown.
func Type(ctx context.Context, k Keyboard, t Typing) (*Typed, error) {
	read, err := k.Read(ctx, &protocol.Read{SessionID: t.Session.SessionID, Probe: true})
	if err != nil {
		return nil, err
	}
	m := &protocol.Input{SessionID: t.Session.SessionID, Parts: t.Parts, SettleMs: t.SettleMs}
	if t.Rev != nil {
		m.Expect = &protocol.Expect{Seq: t.Rev}
	}
	out := &Typed{Before: read.Frame, After: read.Frame.Seq}
	if held := read.Frame.Keyboard; held.Holder == protocol.HolderAgent && t.Mine(held) {
		m.Epoch, out.Epoch = held.Epoch, held.Epoch
		if later := time.Now().
			Add(t.Held); held.Level == protocol.LevelType &&
			later.After(t.Deadline) {
			t.Deadline, out.Held = later, true
		}
	}
	if err := checkSize(m); err != nil {
		return nil, err
	}
	m.TimeoutMs = MillisecondsLeft(t.Deadline)
	out.Result, err = receiptOf(k.Input(ctx, m))
	if out.Result != nil {
		out.After = max(out.After, out.Result.FromSeq)
		if n := len(out.Result.Parts); n > 0 {
			out.After = max(out.After, out.Result.Parts[n-1].FromSeq)
		}
	}
	return out, err
}

// receiptOf turns a refusal into a receipt. Without a receipt the outcome is unknown, and stays an
// error.
func receiptOf(r *protocol.InputResult, err error) (*protocol.InputResult, error) {
	refused, ok := errors.AsType[*protocol.Error](err)
	if ok && refused.Code != protocol.CodeUnavailable && refused.Code != protocol.CodeTimeout {
		return &protocol.InputResult{
			Status:  protocol.StatusRefused,
			Reason:  refused.Code,
			Message: refused.Message,
		}, nil
	}
	return r, err
}

// checkSize rejects an input that a gateway would reject: a gateway closes a connection that sends
// a longer frame.
func checkSize(m *protocol.Input) error {
	const limit = protocol.MaxAgentMessage - 2048 // leaves room for ids and numbers
	probe := *m
	probe.RequestID = "r"
	frame, err := protocol.Encode(&probe)
	if wrong, ok := errors.AsType[*protocol.FieldError](err); ok {
		return wrong.Reply()
	}
	if err == nil && len(frame) > limit {
		return &protocol.Error{Code: protocol.CodeTooLarge, Field: "data", Message: fmt.Sprintf(
			"this is too much for one input: %d bytes on the wire, the limit is %d",
			len(frame),
			limit,
		)}
	}
	return err
}
