package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"terminalproxy/protocol"
)

// What typing takes from a session whose proxy is older and takes no parts.
const (
	// enterGap is how long the screen is quiet before the next part, in milliseconds. Programs that tell typing from pasting by its
	// speed take an Enter that follows at once for a part of the text.
	enterGap = 250
	// enterMost bounds that, for a screen that does not come to rest.
	enterMost = 2000
)

// Keyboard is what typing needs of a connection to a gateway.
type Keyboard interface {
	Read(ctx context.Context, m *protocol.Read) (*protocol.ReadResult, error)
	Input(ctx context.Context, m *protocol.Input) (*protocol.InputResult, error)
}

// Typing is what to type, and when.
type Typing struct {
	Session protocol.SessionInfo
	Parts   []protocol.InputPart
	// Rev is the revision that the screen must still have at the first byte, nil for any.
	Rev *uint64
	// SettleMs is how long the screen has to be quiet afterwards, in milliseconds; 0 for a caller who waits for something else.
	SettleMs int64
	// Deadline bounds everything.
	Deadline time.Time
	// Held moves the deadline to so much from now where the grant is of level type, and the user may have to let
	// something through; 0 does not.
	Held time.Duration
	// Mine reports whether a grant is the caller's own.
	Mine func(protocol.Keyboard) bool
}

// Typed is what became of it.
type Typed struct {
	// Before is the screen before the first key.
	Before *protocol.Frame
	// Result is the receipt. Beside an error it tells of the parts whose receipts came, and is nil if none did.
	Result *protocol.InputResult
	// After is the newest revision that was there before the last part: what that part caused is younger.
	After uint64
	// Epoch is that of the caller's grant, 0 for none.
	Epoch uint64
	// Held says that the deadline was moved for the user's sake.
	Held bool
}

// Left is the time until a deadline in milliseconds, at least 1: on the wire 0 is no limit.
func Left(deadline time.Time) int64 { return max(1, time.Until(deadline).Milliseconds()) }

// Type types t, under the grant that holds now: what comes too late does not fall under a later one. A refusal is no error: it stands
// in the receipt. Beside an error Typed is nil where nothing was typed; else it is not known what became of what was under way.
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
		if later := time.Now().Add(t.Held); held.Level == protocol.LevelType && later.After(t.Deadline) {
			t.Deadline, out.Held = later, true
		}
	}
	if err := fits(m); err != nil {
		return nil, err
	}
	if t.Session.Parts {
		m.TimeoutMs = Left(t.Deadline)
		out.Result, err = receipt(k.Input(ctx, m))
	} else {
		out.Result, err = oneByOne(ctx, k, m, t.Deadline)
	}
	if out.Result != nil {
		out.After = max(out.After, out.Result.FromSeq)
		if n := len(out.Result.Parts); n > 0 {
			out.After = max(out.After, out.Result.Parts[n-1].FromSeq)
		}
	}
	return out, err
}

// receipt makes a receipt of a refusal. Where no receipt came, nothing is known: that stays an error.
func receipt(r *protocol.InputResult, err error) (*protocol.InputResult, error) {
	refused, ok := errors.AsType[*protocol.Error](err)
	if ok && refused.Code != protocol.CodeUnavailable && refused.Code != protocol.CodeTimeout {
		return &protocol.InputResult{Status: protocol.StatusRefused, Reason: refused.Code, Message: refused.Message}, nil
	}
	return r, err
}

// oneByOne types the parts of m as inputs of their own, for a proxy that is older, up to the first that does not arrive.
func oneByOne(ctx context.Context, k Keyboard, m *protocol.Input, deadline time.Time) (all *protocol.InputResult, err error) {
	for i, p := range m.Parts {
		one := &protocol.Input{
			SessionID: m.SessionID, Epoch: m.Epoch, InputKind: p.InputKind, Data: p.Data, At: p.At, On: p.On, To: p.To,
			SettleMs: m.SettleMs, TimeoutMs: Left(deadline),
		}
		if i == 0 {
			one.Expect = m.Expect
		}
		if i < len(m.Parts)-1 {
			one.SettleMs, one.TimeoutMs = enterGap, min(one.TimeoutMs, enterMost)
		}
		if p.InputKind == protocol.InputLines {
			one.InputKind = protocol.InputPaste // in brackets if the program asked for them
		}
		got, err := receipt(k.Input(ctx, one))
		if err != nil {
			return all, err
		}
		all = join(all, got, one.InputKind)
		if got.Status != protocol.StatusWritten {
			break
		}
	}
	return all, nil
}

// join is the receipts of several parts as one: the last of them, with what those before say.
func join(all, last *protocol.InputResult, kind protocol.InputKind) *protocol.InputResult {
	out := *last
	part := protocol.PartResult{InputKind: kind, WrittenBytes: last.WrittenBytes, DroppedBytes: last.DroppedBytes, FromSeq: last.FromSeq}
	if all != nil {
		part.FromSeq = max(part.FromSeq, all.Seq) // it was awaited that the part before was dealt with
		out.At, out.FromSeq, out.Parts = all.At, all.FromSeq, all.Parts
		out.WrittenBytes, out.DroppedBytes = all.WrittenBytes+last.WrittenBytes, all.DroppedBytes+last.DroppedBytes
		out.Notes = append(all.Notes[:len(all.Notes):len(all.Notes)], last.Notes...)
		if out.Status == protocol.StatusRefused {
			out.Status = protocol.StatusDropped
		}
	}
	out.Parts = append(out.Parts, part)
	return &out
}

// fits refuses what a gateway would not take: it cuts the connection of who sends a longer frame.
func fits(m *protocol.Input) error {
	const most = protocol.MaxAgentMessage - 2048 // less what ids and numbers take
	probe := *m
	probe.RequestID = "r"
	frame, err := protocol.Encode(&probe)
	if wrong, ok := errors.AsType[*protocol.FieldError](err); ok {
		return wrong.Reply()
	}
	if err == nil && len(frame) > most {
		return &protocol.Error{Code: protocol.CodeTooLarge, Field: "data", Message: fmt.Sprintf(
			"this is too much for one input: %d bytes on the wire, at most %d are possible", len(frame), most)}
	}
	return err
}
