package pump

import (
	"bytes"
	"slices"
)

// Bounds of a trail. The kernel holds less between the pump and the program.
const (
	trailMax = 128 << 10 // bytes
	spansMax = 4096
)

// trail records the bytes written to the program under the present grant, up to its newest bytes.
// The kernel's queue is a tail of it, so it gives the origin of each byte in the queue.
type trail struct {
	spans []span
	size  int
}

// span is a run of bytes from one origin. Only its last byte may end a line.
type span struct {
	job  *pending // nil for the user
	n    int
	ends bool // the last one submits
	// spell is that of canonical mode in which the kernel collected a line of them, or 0.
	spell uint64
	mute  bool // they leave no text on the program's line: the mouse's
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
	for t.size > trailMax || len(t.spans) > spansMax {
		t.size -= t.spans[0].n
		t.spans = t.spans[1:]
	}
}

func (t *trail) appendSpan(s span) {
	t.size += s.n
	if len(t.spans) > 0 {
		last := &t.spans[len(t.spans)-1]
		if last.job == s.job && last.spell == s.spell && last.mute == s.mute && !last.ends {
			last.n, last.ends = last.n+s.n, s.ends
			return
		}
	}
	t.spans = append(t.spans, s)
}

// openLineLen counts the bytes on a line that the kernel still collects: no program can have read
// them, and the kernel does not count them as unread. What was collected before the present spell
// was read raw, or counts as unread.
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

// countUnsubmitted counts the agents' bytes behind the last one that submits. whole is false if the
// trail has no such byte.
func (t *trail) countUnsubmitted() (n int, whole bool) {
	for i := len(t.spans) - 1; i >= 0; i-- {
		s := t.spans[i]
		if s.ends {
			return n, true
		}
		if s.job != nil && !s.mute {
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
	if after, _ := p.Program.CanonicalSpell(); after != spell {
		spell = 0
	}
	p.collected.addWritten(spell, ends[:], b[:n])
	if job != nil || p.wrote {
		p.trail.addWritten(span{job: job, spell: spell, mute: mute}, b[:n])
	}
	return n, err
}

// takeBackInput ends all that agents typed under the last grant. It takes back what the program has
// not read, answers the queue, and returns how many bytes did not reach the program.
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

// flushUnread takes back what the program has not read, and returns the jobs with a part in that.
// The user's own unread bytes are lost with it: the kernel keeps one queue.
func (p *Pump) flushUnread() (jobs []*pending) {
	if !p.wrote {
		return nil
	}
	spell, _ := p.Program.CanonicalSpell()
	// An error has no remedy; the order of the writes holds without it.
	unread, _ := p.Program.FlushInput()
	tail, flushed := 0, 0
	if after, _ := p.Program.CanonicalSpell(); after == spell {
		tail = p.trail.openLineLen(spell)
	}
	p.collected = collected{}
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
