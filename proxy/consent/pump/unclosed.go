package pump

import "terminalproxy/proxy/terminal/keys"

// This file closes what an agent has begun in the program's input and not finished, with bytes of
// the proxy's own: when control ends, when the input is given up, and before the user's next key.
// The trail says what the program has read, or will.

// reader is a program that reads a trail.
type reader struct {
	keys.Unclosed
	group int // has the terminal
}

// readSpan adds the bytes of a span.
func (r *reader) readSpan(s span) {
	if s.group != r.group {
		r.ForgetKeys()
	}
	r.group = s.group
	r.Feed(s.text, s.job != nil || s.own, s.pause)
}

// unclosed returns what the program has read by the end of the trail.
func (t *trail) unclosed() *reader {
	r := t.older
	for _, s := range t.spans {
		r.readSpan(s)
	}
	return &r
}

// closeUnclosed ends an agent's unfinished key and its paste. At the end of control (all) it also
// lets go the buttons and keys that are down.
func (p *Pump) closeUnclosed(all bool) {
	r := p.trail.unclosed()
	if p.own = nil; p.Program.ForegroundGroup() != r.group {
		r.ForgetKeys()
	}
	if spell, _ := p.Program.CanonicalSpell(); spell != 0 {
		return // the kernel would put these bytes on a line
	}
	paste := r.EndPaste()
	if p.own = append(r.EndUnit(), paste...); len(paste) > 0 {
		p.noteOwnMark(keys.PasteEnds)
	}
	if !all {
		return
	}
	p.own = append(p.own, r.ReleaseKeys()...)
	if r.IsOthersOpen() { // the rest of the user's key, or paste, comes first
		p.user, p.own = append(p.user, p.own...), nil
	}
}

// noteOwnMark notes a mark of a paste that is not a piece of the agent's input.
func (p *Pump) noteOwnMark(mark string) {
	p.line.agent.lastEnd([]byte(mark))
	if p.Line != nil {
		p.Line.NoteAgentKeys([]byte(mark))
	}
}

// endAgentPaste ends the paste of an agent before the user's bytes, and has the rest of its input
// open it again. It reports whether bytes of the proxy come before the user's.
func (p *Pump) endAgentPaste() bool {
	if len(p.own) > 0 || !p.wrote {
		return len(p.own) > 0
	}
	p.own = p.trail.unclosed().EndPaste()
	if len(p.own) > 0 && len(p.queue) > 0 && p.queue[0].written > 0 {
		p.queue[0].reopens = true
	}
	return len(p.own) > 0
}
