package requests

import (
	"fmt"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/line"
	"terminalproxy/proxy/snapshot"
)

// Times between two steps of an input.
const (
	// enterGap is how long the screen is quiet before what follows, at least. Programs that tell typing from pasting by its speed take
	// an Enter that comes at once for a part of the text.
	enterGap = 250 * time.Millisecond
	// enterMost bounds that for a screen that does not come to rest, and enterLate for a program that has yet to read what was typed,
	// or to show anything of it, and does something else.
	enterMost = 2 * time.Second
	enterLate = 3 * time.Second
	// echoGap and echoMost are the same where the kernel collects a line: what counts there is that its echo has been shown.
	echoGap  = 10 * time.Millisecond
	echoMost = 100 * time.Millisecond
)

// step is what is encoded at once and written without a pause: a part of an input, or what such a part holds up to an Enter behind a
// character. What becomes of it belongs to the pump's goroutine.
type step struct {
	protocol.InputPart
	part   int    // of the input
	size   int    // in bytes: of the data until it is encoded
	pastes bool   // in brackets
	from   uint64 // the screen's revision before the first byte
}

// steps are the steps of an input.
func steps(m *protocol.Input) (all []step) {
	for i, p := range m.All() {
		if p.InputKind != protocol.InputKeys {
			all = append(all, step{InputPart: p, part: i, size: len(p.Data)})
			continue
		}
		for _, names := range untilEnter(p.Data) {
			all = append(all, step{InputPart: protocol.InputPart{InputKind: p.InputKind, Data: names}, part: i, size: len(names)})
		}
	}
	return all
}

// untilEnter cuts names of keys before each Enter that follows a character.
func untilEnter(names string) (runs []string) {
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

// head is the first step of pieces.
func head(pieces []input.Piece) []input.Piece {
	for i := 1; i < len(pieces); i++ {
		if pieces[i].Step != 0 {
			return pieces[:i]
		}
	}
	return pieces
}

// pasted reports whether a step that begins with piece p is a paste in brackets.
func (s *step) pasted(p input.Piece) bool {
	return (s.InputKind == protocol.InputPaste || s.InputKind == protocol.InputLines) && string(p.Bytes) == pasteBegins
}

// take notes what is about to be written.
func (in *typing) take(pieces []input.Piece) {
	if pieces[0].Step == 0 {
		return // the rest of a step
	}
	in.steps[pieces[0].Step-1].from = in.rev
	var s *step
	for _, p := range pieces {
		if p.Step != 0 {
			s = &in.steps[p.Step-1]
			s.size, s.pastes = 0, s.pasted(p)
		}
		s.size += len(p.Bytes)
	}
}

// parts says how far each part came when so many bytes of the whole were written, nil for an input without parts.
func (in *typing) parts(written int) []protocol.PartResult {
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

// pause has then run when the program has had the time that it needs before what is left of an input: at once for the first step, and
// within one.
func (h *Handler) pause(in *typing, left []input.Piece, then func()) {
	if left == nil || left[0].Step == 0 || !h.Observer.Post(func(now time.Time) { h.rest(now, now, in, left[0].Step, then) }) {
		then()
	}
}

// rest waits until the program has taken what was typed before step k. It runs on the observer's goroutine.
func (h *Handler) rest(now, began time.Time, in *typing, k int, then func()) {
	f := h.line.facts()
	if now.Equal(began) {
		in.edited, in.edits = in.edits, line.At(f) == line.Editor
	}
	until, most, late := pauseFor(f, in.edited)
	if in.m.TimeoutMs > 0 { // a little after its time, too: who is let through late is not to be taken for a paste
		most = min(most, max(settleLeast, in.began.Add(patience(in.m.TimeoutMs)).Sub(now)))
	}
	condition, _ := snapshot.Compile(until) // these compile
	h.Observer.Wait(now, until.Waiting, snapshot.Wait{
		ID: fmt.Sprint(in.m.RequestID, "#", k), Condition: condition, NotBefore: now, Deadline: now.Add(most),
		Done: func(r snapshot.Result) {
			if now := time.Now(); now.Sub(began) < late && !h.took(in, f) && (r.End == snapshot.Met || r.End == snapshot.TimedOut) {
				h.rest(now, began, in, k, then)
				return
			}
			then()
		},
	}, func(error) { then() })
}

// pauseFor is what a pause ends with, what bounds it, and for how long it may be repeated; edited says that the program edited a line
// before what was typed last.
func pauseFor(f line.Facts, edited bool) (until protocol.Until, most, late time.Duration) {
	switch {
	case edited || line.At(f) == line.Editor:
		// It tells an Enter from text by nothing but the key. What it runs after one has the kernel collect lines, too, and may be
		// about to ask for a secret.
		return protocol.Until{Waiting: true}, enterMost, 0
	case f.Settings.Canonical:
		return protocol.Until{QuietMs: echoGap.Milliseconds()}, echoMost, echoMost
	}
	return protocol.Until{QuietMs: enterGap.Milliseconds()}, enterMost, enterLate
}

// took reports whether nothing speaks against that the program has dealt with what was typed: it has read that and, if it does not wait
// for more, has shown something and does not run. What was shown may be older news: who still works may not have looked at what it read,
// and takes an Enter that comes meanwhile for a part of it. Where the kernel collects the line, it has shown its echo.
func (h *Handler) took(in *typing, f line.Facts) bool {
	shows := h.Observer.Model().Rev() != in.rev
	if f.Settings.Canonical {
		return shows || !f.Settings.Echo
	}
	return h.Observer.CaughtUp() && (!h.line.busy() || shows && !h.line.runs())
}
