package input

import (
	"bytes"
	"slices"
)

// Bounds of a trail. The kernel holds less than that between the pump and the program.
const (
	trailMax = 128 << 10 // bytes
	spansMax = 4096
)

// trail is what the program was given under the present grant, the newest bytes of it: of the bytes in the kernel's queue
// it knows whose they are, since that queue is a tail of the trail.
type trail struct {
	spans []span
	size  int
}

// span is bytes of one origin that were written in a row. None has a line's end but as its last byte.
type span struct {
	job  *pending // nil for the user
	n    int
	ends bool // the last one submits
	// spell is that of canonical mode in which the kernel collected a line of them, 0 for none.
	spell uint64
	mute  bool // they leave nothing on the program's line: the mouse's
}

// add notes that the program took b.
func (t *trail) add(s span, b []byte) {
	for len(b) > 0 {
		s.n, s.ends = len(b), false
		if at := bytes.IndexAny(b, lineEnds); at >= 0 {
			s.n, s.ends = at+1, true
		}
		b = b[s.n:]
		t.append(s)
	}
	for t.size > trailMax || len(t.spans) > spansMax {
		t.size -= t.spans[0].n
		t.spans = t.spans[1:]
	}
}

func (t *trail) append(s span) {
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

// open is how many bytes stand on a line that the kernel still collects: no program can have read them, and it does not
// count them as unread. What was collected before the present spell was read raw, or counts as unread.
func (t *trail) open(spell uint64) (n int) {
	if spell == 0 {
		return 0
	}
	for i := len(t.spans) - 1; i >= 0 && t.spans[i].spell == spell && !t.spans[i].ends; i-- {
		n += t.spans[i].n
	}
	return n
}

// takeBack cuts the newest n bytes off, and returns those of them that are of agents, newest first.
func (t *trail) takeBack(n int) (back []span) {
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

// unsubmitted is how many bytes of agents' stand behind the last one that submits; whole is false if none is on the trail.
func (t *trail) unsubmitted() (n int, whole bool) {
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

// give writes b to the program, and notes how much of it that took: of a job's, or of the user's (nil) where there are agents. The mode
// is looked at before and after: who read a key raw may have restored canonical mode by then, and who is in canonical mode may have left
// it. Where the looks differ nothing is on a line: the program has read the bytes, or the kernel counts them as unread.
func (p *Pump) give(job *pending, b []byte, mute bool) (n int, err error) {
	if p.Control == nil {
		return p.Program.Write(b)
	}
	spell, ends := p.Program.Collects()
	n, err = p.Program.Write(b)
	if after, _ := p.Program.Collects(); after != spell {
		spell = 0
	}
	p.collected.add(spell, ends[:], b[:n])
	if job != nil || p.wrote {
		p.trail.add(span{job: job, spell: spell, mute: mute}, b[:n])
	}
	return n, err
}

// takeBack ends all that agents typed under the grant that is over: what the program has not read is taken back from it,
// and the queue is answered. It returns how many bytes did not reach the program.
func (p *Pump) takeBack() (dropped int) {
	for _, job := range p.flush() {
		if job.done {
			dropped += job.flushed
			if job.Flushed != nil {
				job.Flushed(job.flushed)
			}
		}
	}
	return dropped + p.drop(Receipt{Fate: Dropped})
}

// flush takes back what the program has not read, and returns the jobs of which that has something. The user's own unread
// bytes go with it: the kernel keeps one queue.
func (p *Pump) flush() (jobs []*pending) {
	if !p.wrote {
		return nil
	}
	spell, _ := p.Program.Collects()
	unread, _ := p.Program.FlushInput() // there is no second way; the order of the writes holds without it
	tail, flushed := 0, 0
	if after, _ := p.Program.Collects(); after == spell {
		tail = p.trail.open(spell)
	}
	p.collected = collected{}
	for _, s := range p.trail.takeBack(tail + unread) {
		s.job.written -= s.n
		s.job.flushed += s.n
		flushed += s.n
		if !slices.Contains(jobs, s.job) {
			jobs = append(jobs, s.job)
		}
	}
	left, whole := p.trail.unsubmitted()
	if !whole {
		left = max(left, p.unsubmitted-flushed)
	}
	p.unsubmitted = left
	p.trail, p.wrote = trail{}, false
	return jobs
}
