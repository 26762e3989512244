package requests

import (
	"fmt"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/line"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/terminal/keys"
)

// Times between two steps of an input.
const (
	// enterGap is the quiet period before the next step. Programs that tell typing from pasting by
	// its speed take an immediate Enter for a part of the text.
	enterGap = 250 * time.Millisecond
	// maxEnterGap bounds it on a screen that never settles, and maxBusyEnterGap for a busy program
	// that has not read, or not shown, what was typed.
	maxEnterGap     = 2 * time.Second
	maxBusyEnterGap = 3 * time.Second
	// echoGap and maxEchoGap apply while the kernel collects lines: only the echo matters there.
	echoGap    = 10 * time.Millisecond
	maxEchoGap = 100 * time.Millisecond
)

// step is a part of an input that is encoded and written without a pause: one of its parts, or the
// keys of that up to an Enter that follows a character. Its results are owned by the pump's
// goroutine.
type step struct {
	protocol.InputPart
	part   int    // of the input
	size   int    // in bytes; until it is encoded, of the data
	pastes bool   // in brackets
	from   uint64 // the screen's revision before the first byte
}

// splitSteps returns the steps of an input.
func splitSteps(m *protocol.Input) (all []step) {
	for i, p := range m.All() {
		if p.InputKind != protocol.InputKeys {
			all = append(all, step{InputPart: p, part: i, size: len(p.Data)})
			continue
		}
		for _, names := range splitBeforeEnter(p.Data) {
			all = append(all, step{
				InputPart: protocol.InputPart{InputKind: p.InputKind, Data: names},
				part:      i,
				size:      len(names),
			})
		}
	}
	return all
}

// splitBeforeEnter cuts names of keys before each Enter that follows a character.
func splitBeforeEnter(names string) (runs []string) {
	from, typed := 0, false
	list := strings.Fields(names)
	for i, name := range list {
		press, err := keys.Parse(name)
		if err == nil && typed && press.IsEnter() {
			runs = append(runs, strings.Join(list[from:i], " "))
			from = i
		}
		typed = err == nil && press.IsText()
	}
	return append(runs, strings.Join(list[from:], " "))
}

// firstStep returns the first step of pieces.
func firstStep(pieces []pump.Piece) []pump.Piece {
	for i := 1; i < len(pieces); i++ {
		if pieces[i].Step != 0 {
			return pieces[:i]
		}
	}
	return pieces
}

// isBracketedPaste reports whether a step that begins with p is a bracketed paste.
func (s *step) isBracketedPaste(p pump.Piece) bool {
	return (s.InputKind == protocol.InputPaste || s.InputKind == protocol.InputLines) &&
		string(p.Bytes) == pasteBegins
}

// noteOutgoing notes what is about to be written.
func (in *delivery) noteOutgoing(pieces []pump.Piece) {
	if pieces[0].Step == 0 {
		return // the rest of a step
	}
	in.steps[pieces[0].Step-1].from = in.rev
	var s *step
	for _, p := range pieces {
		if p.Step != 0 {
			s = &in.steps[p.Step-1]
			s.size, s.pastes = 0, s.isBracketedPaste(p)
		}
		s.size += len(p.Bytes)
	}
}

// partResults splits the written bytes among the parts, nil for an input without parts.
func (in *delivery) partResults(written int) []protocol.PartResult {
	if len(in.m.Parts) == 0 {
		return nil
	}
	out := make([]protocol.PartResult, len(in.m.Parts))
	for _, s := range in.steps {
		p, n := &out[s.part], min(written, s.size)
		if p.InputKind = s.InputKind; s.pastes {
			p.InputKind = protocol.InputPaste
		} else if s.InputKind == protocol.InputLines {
			p.InputKind = protocol.InputText
		}
		if n > 0 && p.WrittenBytes == 0 {
			p.FromSeq = s.from
		}
		p.WrittenBytes += n
		p.DroppedBytes += s.size - n
		written -= n
	}
	return out
}

// nextStep returns the step that begins with left, the unwritten rest of an input; nil is the whole
// input.
func (in *delivery) nextStep(left []pump.Piece) step {
	if left == nil {
		return in.steps[0]
	}
	return in.steps[left[0].Step-1]
}

// waitID returns the id of the wait before step k.
func (in *delivery) waitID(k int) string { return fmt.Sprint(in.m.RequestID, "#", k) }

// pauseBefore returns the condition that ends the pause before the next step, its bound, and for
// how long it may be repeated. first means that the pause begins. It runs on the observer's
// goroutine.
func (in *delivery) pauseBefore(
	now time.Time, f line.Facts, first bool,
) (until protocol.Until, most, late time.Duration) {
	if first {
		in.editorBeforeLast = in.editorBeforeNext
		in.editorBeforeNext = line.PromptOf(f) == line.Editor
	}
	until, most, late = pauseFor(f, in.editorBeforeLast)
	// An input let through late still needs a pause, or it looks like a paste
	if in.m.TimeoutMs > 0 {
		most = min(most, max(minSettleTime, in.began.Add(timeoutOf(in.m.TimeoutMs)).Sub(now)))
	}
	return until, most, late
}

// pauseFor returns the condition that ends a pause, its bound, and for how long it may be repeated.
// edited means that the program edited a line before what was typed last.
func pauseFor(f line.Facts, edited bool) (until protocol.Until, most, late time.Duration) {
	switch {
	case edited || line.PromptOf(f) == line.Editor:
		// A line editor tells an Enter from text by the key alone. A program that it starts then
		// has the kernel collect lines, too, and may be about to ask for a secret.
		return protocol.Until{Waiting: true}, maxEnterGap, 0
	case f.Settings.Canonical:
		return protocol.Until{QuietMs: echoGap.Milliseconds()}, maxEchoGap, maxEchoGap
	}
	return protocol.Until{QuietMs: enterGap.Milliseconds()}, maxEnterGap, maxBusyEnterGap
}

// hasConsumed reports whether the program seems to have processed what was typed. It has read that
// and, unless it waits for more, has shown something and does not run: a working program may show
// older output, and take an early Enter for a part of the text. While the kernel collects lines,
// the echo is enough.
func (in *delivery) hasConsumed(f line.Facts) bool {
	shows := in.Observer.Model().Rev() != in.rev
	if f.Settings.Canonical {
		return shows || !f.Settings.Echo
	}
	return in.Observer.HasCaughtUp() && (!in.all.line.isBusy() || shows && !in.all.line.isRunning())
}

// noteTyping informs the waits of a step that is about to be written. Unless it is late, it returns
// false if the system may be able to tell in a moment what the program does.
func (in *delivery) noteTyping(pieces []pump.Piece, late bool) bool {
	step := pieces[0].Step
	if step <= in.notedSteps {
		return true // it was noted before the user was asked
	}
	r, passing := in.all.line.readinessForInput()
	if passing && !late {
		return false
	}
	in.notedSteps = step
	var typed []byte
	for _, p := range pieces {
		typed = append(typed, p.Bytes...)
	}
	in.Observer.NoteTyping(typed, r)
	return true
}
