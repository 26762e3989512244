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
}

// span is a run of bytes from one origin. Only its last byte may end a line.
type span struct {
	job  *pending // nil for the user
	n    int
	ends bool // the last byte submits
	// spell is the spell of canonical mode in which the kernel collected them, or 0.
	spell  uint64
	noText bool // they leave no text on the program's line: a mouse report
}

// addWritten notes that the program took b.
func (t *trail) addWritten(s span, b []byte) {
	for len(b) > 0 {
		s.n, s.ends = len(b), false
		if at := bytes.IndexAny(b, lineEnds); at >= 0 {
			s.n, s.ends = at+1, true
		}
		b = b[s.n:]
		t.appendSpan(s)
	}
	for t.size > maxTrail || len(t.spans) > maxSpans {
		t.size -= t.spans[0].n
		t.spans = t.spans[1:]
	}
}

func (t *trail) appendSpan(s span) {
	t.size += s.n
	if len(t.spans) > 0 {
		last := &t.spans[len(t.spans)-1]
		if last.job == s.job && last.spell == s.spell && last.noText == s.noText && !last.ends {
			last.n, last.ends = last.n+s.n, s.ends
			return
		}
	}
	t.spans = append(t.spans, s)
}

// openLineLen counts the bytes on a line that the kernel still collects: no program can have read
// them, and the kernel does not count them as unread. Bytes collected before the present spell were
// read raw, or count as unread.
func (t *trail) openLineLen(spell uint64) (n int) {
	if spell == 0 {
		return 0
	}
	for i := len(t.spans) - 1; i >= 0 && t.spans[i].spell == spell && !t.spans[i].ends; i-- {
		n += t.spans[i].n
	}
	return n
}

// cutTail removes the newest n bytes, and returns those of agents among them, newest first.
func (t *trail) cutTail(n int) (back []span) {
	for ; n > 0 && len(t.spans) > 0; t.spans = t.spans[:len(t.spans)-1] {
		last := &t.spans[len(t.spans)-1]
		cut := *last
		cut.n = min(n, last.n)
		if cut.job != nil {
			back = append(back, cut)
		}
		n -= cut.n
		t.size -= cut.n
		if last.n -= cut.n; last.n > 0 {
			last.ends = false
			break
		}
	}
	return back
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
			n += s.n
		}
	}
	return n, false
}

// writeProgram writes b to the program, and notes how much of it the program took: of a job, or of
// the user (nil) if agents may type. It checks the mode before and after: a program that read a key
// raw may have restored canonical mode by then, and one in canonical mode may have left it. If the
// checks differ, no byte is on a line: the program has read the bytes, or the kernel counts them as
// unread.
func (p *Pump) writeProgram(job *pending, b []byte, mute bool) (n int, err error) {
	if p.Control == nil {
		return p.Program.Write(b)
	}
	spell, ends := p.Program.CanonicalSpell()
	n, err = p.Program.Write(b)
	if spell != 0 {
		if after, _ := p.Program.CanonicalSpell(); after != spell {
			spell = 0
		}
	}
	p.collected.addWritten(spell, ends[:], b[:n])
	if job != nil || p.wrote {
		p.trail.addWritten(span{job: job, spell: spell, noText: mute}, b[:n])
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
// some of them. The user's own unread bytes are lost, too: the kernel has one queue.
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
	for _, s := range p.trail.cutTail(tail + unread) {
		p.advance(s.job, TakenBack)
		s.job.written -= s.n
		s.job.flushed += s.n
		flushed += s.n
		if !slices.Contains(jobs, s.job) {
			jobs = append(jobs, s.job)
		}
	}
	left, whole := p.trail.countUnsubmitted()
	if !whole {
		left = max(left, p.unsubmitted-flushed)
	}
	p.unsubmitted = left
	p.trail, p.wrote = trail{}, false
	return jobs
}
