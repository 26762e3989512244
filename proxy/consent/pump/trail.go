package pump

import (
	"bytes"
	"slices"
)

// Bounds of a trail. The kernel holds less between the pump and the program.
const (
	maxTrail = 128 << 10 // bytes
	maxSpans = 4096
)

// trail records who wrote the newest bytes to the program under the present grant. The kernel's
// queue is a tail of it, so it gives the origin of each byte in the queue.
type trail struct {
	spans []span
	size  int
	older reader // has read the bytes before those
}

// span is a run of bytes from one origin. Only its last byte may end a line.
type span struct {
	job  *pending // nil for the user and the proxy
	own  bool     // the proxy's
	text []byte
	ends bool // the last byte submits
	// spell is the spell of canonical mode in which the kernel collected them, or 0.
	spell  uint64
	noText bool // they leave no text on the program's line: a mouse report
	pause  bool // a pause follows
	group  int  // had the terminal
}

// spanOf returns the span of the next piece of a job.
func spanOf(job *pending) span {
	piece := &job.pieces[0]
	return span{job: job, noText: piece.Description != "", pause: piece.Gap > 0}
}

// addWritten notes that the program took b.
func (t *trail) addWritten(s span, b []byte) {
	pause := s.pause
	for len(b) > 0 {
		n := len(b)
		at := bytes.IndexAny(b, lineEnds)
		if s.ends = at >= 0; s.ends {
			n = at + 1
		}
		s.text, s.pause = b[:n], pause && n == len(b)
		b = b[n:]
		t.appendSpan(s)
	}
	for t.size > maxTrail || len(t.spans) > maxSpans {
		t.forgetOldest()
	}
}

func (t *trail) appendSpan(s span) {
	t.size += len(s.text)
	if len(t.spans) > 0 {
		last := &t.spans[len(t.spans)-1]
		if last.job == s.job && last.own == s.own && last.spell == s.spell &&
			last.noText == s.noText && last.group == s.group && !last.ends && !last.pause {
			last.text, last.ends, last.pause = append(last.text, s.text...), s.ends, s.pause
			return
		}
	}
	s.text = bytes.Clone(s.text)
	t.spans = append(t.spans, s)
}

// forgetRead forgets bytes that the program has read: spans before the newest n bytes.
func (t *trail) forgetRead(n int) {
	for len(t.spans) > 0 && t.size-len(t.spans[0].text) >= n {
		t.forgetOldest()
	}
}

func (t *trail) forgetOldest() {
	s := t.spans[0]
	t.older.readSpan(s)
	t.size -= len(s.text)
	clear(s.text)
	t.spans = t.spans[1:]
}

// openLineLen counts the bytes on a line that the kernel still collects: no program can have read
// them, and the kernel does not count them as unread. Bytes collected before the present spell were
// read raw, or count as unread.
func (t *trail) openLineLen(spell uint64) (n int) {
	if spell == 0 {
		return 0
	}
	for i := len(t.spans) - 1; i >= 0 && t.spans[i].spell == spell && !t.spans[i].ends; i-- {
		n += len(t.spans[i].text)
	}
	return n
}

// cutTail removes the newest n bytes. It returns those of agents among them, newest first, and the
// user's, oldest first.
func (t *trail) cutTail(n int) (agents []span, user []byte) {
	for ; n > 0 && len(t.spans) > 0; t.spans = t.spans[:len(t.spans)-1] {
		last := &t.spans[len(t.spans)-1]
		cut, at := *last, max(0, len(last.text)-n)
		cut.text = last.text[at:]
		switch {
		case cut.job != nil:
			agents = append(agents, cut)
		case !cut.own:
			user = slices.Concat(cut.text, user)
		}
		n -= len(cut.text)
		t.size -= len(cut.text)
		if last.text = last.text[:at]; at > 0 {
			last.ends, last.pause = false, false
			break
		}
	}
	return agents, user
}

// countUnsubmitted counts the agents' bytes after the last byte that submits. whole is false if the
// trail has no such byte.
func (t *trail) countUnsubmitted() (n int, whole bool) {
	for i := len(t.spans) - 1; i >= 0; i-- {
		s := t.spans[i]
		if s.ends {
			return n, true
		}
		if s.job != nil && !s.noText {
			n += len(s.text)
		}
	}
	return n, false
}

// writeProgram writes b to the program, and notes how much of it the program took, if agents may
// type. s says whose it is. It checks the mode before and after: a program that read a key raw may
// have restored canonical mode by then, and one in canonical mode may have left it. If the checks
// differ, no byte is on a line: the program has read the bytes, or the kernel counts them unread.
func (p *Pump) writeProgram(s span, b []byte) (n int, err error) {
	if p.Control == nil {
		return p.Program.Write(b)
	}
	spell, ends := p.Program.CanonicalSpell()
	if s.job == nil && p.wrote && p.Program.CountUnread() == 0 {
		p.trail.forgetRead(p.trail.openLineLen(spell)) // it may have been a password
	}
	n, err = p.Program.Write(b)
	if spell != 0 {
		if after, _ := p.Program.CanonicalSpell(); after != spell {
			spell = 0
		}
	}
	p.collected.addWritten(spell, ends[:], b[:n])
	if s.job != nil || p.wrote {
		s.spell, s.group = spell, p.Program.ForegroundGroup()
		s.pause = s.pause && n == len(b)
		p.trail.addWritten(s, b[:n])
	}
	return n, err
}

// takeBackInput ends the agents' input under the last grant. It takes back the bytes that the
// program has not read, answers the queue, and returns how many bytes did not reach the program.
func (p *Pump) takeBackInput() (dropped int) {
	for _, job := range p.flushUnread() {
		if job.Life.State() >= Ended {
			dropped += job.flushed
			if job.Flushed != nil {
				job.Flushed(job.flushed)
			}
		}
	}
	return dropped + p.dropQueue(ControlEnded)
}

// flushUnread takes back the bytes that the program has not read, and returns the jobs that wrote
// some of them. The kernel has one queue: the user's own unread bytes are lost with them, and
// written again.
func (p *Pump) flushUnread() (jobs []*pending) {
	if !p.wrote {
		return nil
	}
	spell, _ := p.Program.CanonicalSpell()
	// There is no remedy for an error, and the order of the writes does not depend on it.
	unread, _ := p.Program.FlushInput()
	tail, flushed := 0, 0
	if after, _ := p.Program.CanonicalSpell(); after == spell {
		tail = p.trail.openLineLen(spell)
	}
	p.collected = collectedLine{}
	agents, user := p.trail.cutTail(tail + unread)
	for _, s := range agents {
		n := len(s.text)
		p.advance(s.job, TakenBack)
		s.job.written -= n
		s.job.flushed += n
		flushed += n
		if !slices.Contains(jobs, s.job) {
			jobs = append(jobs, s.job)
		}
	}
	left, whole := p.trail.countUnsubmitted()
	if !whole {
		left = max(left, p.unsubmitted-flushed)
	}
	p.unsubmitted, p.wrote = left, false
	p.user = slices.Concat(user, p.user)
	p.closeUnclosed(true)
	p.trail = trail{}
	return jobs
}
