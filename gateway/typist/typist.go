// Package typist types for an agent: it makes terminal.input messages of the mouse, text, keys and Enter, sends them in order, each
// when the one before has arrived, and keeps the receipts. It must not know who asks for it: the MCP server and the
// command line type by the same rules.
package typist

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

const (
	// enterDelay is the quiet time that text gets before its Enter, in milliseconds. Programs that tell typing from pasting
	// by its speed take an Enter that follows at once for a part of the text, and do not act on it.
	enterDelay = 250
	// restless is how much longer than its quiet time a part gets to settle before the next one, in milliseconds: a screen
	// with a spinner never does, and would take the next part's time too. A program that is still reading gets it again.
	restless = 1500
	// busyMost is how many times its quiet time a program gets that shows nothing of what was typed and is busy.
	busyMost = 6
	// longLine is how long a line is typed, in bytes. A longer one is pasted where the program can take that: some draw
	// anew for each character, and are not through with it when Enter comes.
	longLine = 256
)

// Keyboard is what typing needs of a connection to a gateway.
type Keyboard interface {
	Read(ctx context.Context, m *protocol.Read) (*protocol.ReadResult, error)
	Input(ctx context.Context, m *protocol.Input) (*protocol.InputResult, error)
	Wait(ctx context.Context, m *protocol.Wait) (*protocol.WaitResult, error)
}

// Text is what to type: an act of the mouse, then text or a paste, then keys, then Enter; at least one of them. The mouse
// comes first: it says where the text goes.
type Text struct {
	SessionID   string
	Mouse       *Mouse
	Text, Paste string
	Keys        []string
	Enter       bool
	// Rev is the revision that the screen must still have at the first byte, nil for any.
	Rev *uint64
	// SettleMs is how long the screen has to be quiet after each part, in milliseconds.
	SettleMs int64
	// NoSettle leaves that out after the last part: the caller waits for something else.
	NoSettle bool
	// Deadline bounds everything.
	Deadline time.Time
	// Held moves the deadline to so much from now where the grant is of level type, and the user may have to let
	// something through; 0 does not.
	Held time.Duration
	// Mine reports whether a grant is the caller's own; nil never is.
	Mine func(protocol.Keyboard) bool
}

// Typed is what became of it.
type Typed struct {
	// Before is the screen before the first key.
	Before *protocol.Frame
	// Parts are the inputs in order, those that were never sent included.
	Parts []text.Part
	// After is the newest revision that was there before the last part: what that part caused is younger.
	After uint64
	// Held says that the deadline was moved for the user's sake.
	Held bool
}

// Failed is the receipt of the part that did not reach the program whole, nil if all did.
func (t *Typed) Failed() *protocol.InputResult {
	for _, p := range t.Parts {
		if p.Result != nil && !p.Landed() {
			return p.Result
		}
	}
	return nil
}

// Notes are the user's messages that came with the receipts.
func (t *Typed) Notes() (notes []string) {
	for _, p := range t.Parts {
		if p.Result != nil {
			notes = append(notes, p.Result.Notes...)
		}
	}
	return notes
}

// Last is the receipt of the last part.
func (t *Typed) Last() *protocol.InputResult { return t.Parts[len(t.Parts)-1].Result }

// Check finds what no terminal would take. Its errors are sentences for who wrote it.
func (t Text) Check() error {
	switch {
	case t.Mouse == nil && t.Text == "" && t.Paste == "" && len(t.Keys) == 0 && !t.Enter:
		return errors.New("nothing to type: give text, paste, keys, enter or click")
	case t.Text != "" && t.Paste != "":
		return errors.New("text and paste exclude each other: send them one after another")
	case slices.Contains(t.Keys, ""):
		return errors.New("one of the keys has no name: leave it out, or name it, as in: ctrl-x enter")
	}
	return nil
}

// blanks are the names of keys that somebody wrote as what they type. Blanks separate names on the wire.
var blanks = map[string]string{" ": "space", "\t": "tab", "\n": "enter", "\r": "enter", "\r\n": "enter"}

// names are the keys as the wire has them.
func names(list []string) string {
	out := slices.Clone(list)
	for i, name := range out {
		if known, ok := blanks[name]; ok {
			out[i] = known
		}
	}
	return strings.Join(out, " ")
}

// oneLine takes the line end off a text that is one line: it is meant as Enter, and would be a part of the text in a paste.
func (t *Text) oneLine() {
	line, ends := strings.CutSuffix(t.Text, "\n")
	line = strings.TrimSuffix(line, "\r")
	if ends && len(t.Keys) == 0 && !strings.ContainsAny(line, "\r\n") {
		t.Text, t.Enter = line, true
	}
}

// Type types t and stops at the first part that does not arrive. A refusal is no error: it stands in the receipts. An
// error means that it is not known what became of the part that was under way; Typed says what came before.
func Type(ctx context.Context, k Keyboard, t Text) (*Typed, error) {
	if err := t.Check(); err != nil {
		return &Typed{}, err
	}
	t.oneLine()
	before, err := k.Read(ctx, &protocol.Read{SessionID: t.SessionID})
	if err != nil {
		return &Typed{}, err
	}
	out := &Typed{Before: before.Frame, After: before.Frame.Seq}
	t.allow(out)
	inputs := t.inputs(out)
	if err := check(inputs); err != nil {
		return &Typed{}, err
	}
	for i, input := range inputs {
		last := i == len(inputs)-1
		if !last {
			input.SettleMs = 0
		}
		input.TimeoutMs = Left(t.Deadline)
		got, err := k.Input(ctx, input)
		refused, isRefusal := errors.AsType[*protocol.Error](err)
		switch {
		case isRefusal:
			got = &protocol.InputResult{RequestID: input.RequestID, SessionID: t.SessionID, Status: protocol.StatusRefused, Reason: refused.Code, Message: refused.Message}
		case err != nil:
			out.Parts[i].Unknown = true
			return out, err
		}
		if input.InputKind == protocol.InputMouse {
			out.Parts[i].What = t.Mouse.words(got.At)
		}
		if out.Parts[i].Result = got; !out.Parts[i].Landed() {
			break
		}
		if !last {
			out.After = max(out.After, got.Seq, t.settle(ctx, k, got.Seq, max(t.SettleMs, enterDelay)))
		}
	}
	return out, nil
}

// settle waits until the program has read what was typed and the screen has been quiet for so many milliseconds after
// revision seq, and returns the revision then. It gives up on a screen that does not come to rest, on a program that
// reads no more, and on one that has shown nothing and does something else for a while: on a loaded machine that is one which
// has yet to look at what it read, and would take an Enter that comes now for a part of the text. An error is no matter: if
// the terminal is gone, the next part says so.
func (t *Text) settle(ctx context.Context, k Keyboard, seq uint64, quiet int64) uint64 {
	typed := seq
	for before, busy := math.MaxInt, 0; ; {
		got, err := k.Wait(ctx, &protocol.Wait{
			SessionID: t.SessionID, Until: protocol.Until{QuietMs: quiet}, AfterSeq: seq, TimeoutMs: min(quiet+restless, Left(t.Deadline)),
		})
		if err != nil {
			return seq
		}
		seq = got.Seq
		unread := 0
		if got.Frame != nil && got.Frame.Activity != nil {
			unread = got.Frame.Activity.UnreadBytes
		}
		if busy < busyMost && unread == 0 && seq == typed && got.Frame != nil && got.Frame.Activity != nil && got.Frame.Activity.State == "busy" {
			busy++
			_, _ = k.Wait(ctx, &protocol.Wait{
				SessionID: t.SessionID, Until: protocol.Until{Changed: true}, AfterSeq: seq, TimeoutMs: min(quiet, Left(t.Deadline)),
			})
			continue
		}
		if unread == 0 || unread >= before || time.Now().After(t.Deadline) {
			return seq
		}
		before = unread
	}
}

// Reacted reports whether the screen became another one since the first key, up to revision seq. It is true, too, where
// that is not known.
func (t *Typed) Reacted(seq uint64) bool {
	first := t.Parts[0].Result
	return first == nil || first.FromSeq == 0 || seq != first.FromSeq
}

// Odd says in words what is odd about how the program took it, as far as frame, the last screen, shows; "" for nothing.
func (t *Typed) Odd(frame *protocol.Frame) string {
	if frame == nil || frame.Blackout.ByUser() || frame.Activity != nil && frame.Activity.State == "exited" {
		return ""
	}
	return text.Reaction(t.Reacted(frame.Seq), t.Before, frame)
}

// allow gives the user time to decide where the grant leaves something to them.
func (t *Text) allow(out *Typed) {
	k, later := out.Before.Keyboard, time.Now().Add(t.Held)
	if k.Level == protocol.LevelType && t.Mine != nil && t.Mine(k) && later.After(t.Deadline) {
		t.Deadline, out.Held = later, true
	}
}

// Left is the time until a deadline in milliseconds, at least 1: on the wire 0 is no limit.
func Left(deadline time.Time) int64 { return max(1, time.Until(deadline).Milliseconds()) }

// inputs makes the messages, and names the parts in out.
func (t Text) inputs(out *Typed) []*protocol.Input {
	var all []*protocol.Input
	add := func(what string, kind protocol.InputKind, data string) {
		out.Parts = append(out.Parts, text.Part{What: what})
		all = append(all, &protocol.Input{SessionID: t.SessionID, InputKind: kind, Data: data, SettleMs: t.SettleMs})
	}
	if t.Mouse != nil {
		add(t.Mouse.words(nil), protocol.InputMouse, t.Mouse.Act)
		all[0].On, all[0].At, all[0].To = t.Mouse.On, t.Mouse.At, t.Mouse.To
	}
	switch {
	case t.Paste != "":
		add(text.Text("paste", t.Paste), protocol.InputPaste, t.Paste)
	case out.Before.Screen.Modes.BracketedPaste && (strings.ContainsAny(t.Text, "\r\n") || len(t.Text) > longLine):
		// Line by line the program would act on each Enter; as a paste it takes the lines as one text.
		add(text.Text("text, as a paste", t.Text), protocol.InputPaste, t.Text)
	case strings.ContainsAny(t.Text, "\r\n"):
		add(text.Text("text, line by line", t.Text), protocol.InputText, t.Text)
	case t.Text != "":
		add(text.Text("text", t.Text), protocol.InputText, t.Text)
	}
	if len(t.Keys) > 0 {
		keys := names(t.Keys)
		add("keys "+text.Keys(keys), protocol.InputKeys, keys)
	}
	if t.Enter {
		add("Enter", protocol.InputKeys, "enter")
	}
	t.guard(all, out.Before.Keyboard)
	return all
}

// guard ties the parts to what the caller knows: the first to the screen, all to the grant that holds now, so that one
// which comes too late does not fall under a later grant.
func (t Text) guard(all []*protocol.Input, k protocol.Keyboard) {
	if t.Rev != nil {
		all[0].Expect = &protocol.Expect{Seq: t.Rev}
	}
	if t.NoSettle {
		all[len(all)-1].SettleMs = 0
	}
	if k.Holder != protocol.HolderAgent || t.Mine == nil || !t.Mine(k) {
		return
	}
	for _, input := range all {
		input.Epoch = k.Epoch
	}
}

// check refuses what a gateway would not take: it cuts the connection of who sends a longer frame.
func check(inputs []*protocol.Input) error {
	const most = protocol.MaxAgentMessage - 2048 // less what ids and numbers take
	for _, input := range inputs {
		probe := *input
		probe.RequestID = "r"
		frame, err := protocol.Encode(&probe)
		if err != nil {
			if fe, ok := errors.AsType[*protocol.FieldError](err); ok {
				return fe.Reply()
			}
			return err
		}
		if len(frame) > most {
			return &protocol.Error{Code: protocol.CodeTooLarge, Field: "data", Message: fmt.Sprintf(
				"this is too much for one input: %d bytes on the wire, at most %d are possible", len(frame), most)}
		}
	}
	return nil
}
