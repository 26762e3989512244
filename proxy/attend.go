package proxy

import (
	"slices"
	"sync"
	"syscall"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/keys"
)

// What a person who looks on from elsewhere gets and does. A session on a user's terminal has none of this.

const (
	// groundPatience is how long a repaint waits for the program to finish a sequence that it has begun.
	groundPatience = 300 * time.Millisecond
	// repaintPiece bounds one message of a repaint, in bytes.
	repaintPiece = 256 << 10
)

// stream is the live output of a session. It belongs to the copier's goroutine.
type stream struct {
	s       *session
	at      uint64    // bytes of live output so far
	waiting time.Time // since when a repaint waits, zero while none does

	mu      sync.Mutex
	leaving []string // viewers who are let go when the proxy's own line is off their screens
}

// leave lets a viewer go as soon as what they see is the program's alone. It may be called from any goroutine.
func (st *stream) leave(viewer string) {
	st.mu.Lock()
	st.leaving = append(st.leaving, viewer)
	st.mu.Unlock()
	st.s.output.repaint()
}

// letGo tells the viewers who leave that they have left.
func (st *stream) letGo() {
	st.mu.Lock()
	leaving := st.leaving
	st.leaving = nil
	st.mu.Unlock()
	for _, viewer := range leaving {
		st.s.link.Send(&protocol.Detach{SessionID: st.s.id, ViewerID: viewer})
	}
}

// write is the sink of an absent terminal.
func (st *stream) write(p []byte) {
	st.s.link.Live(&protocol.Output{ID: newID(), SessionID: st.s.id, Seq: st.at, DataB64: slices.Clone(p)})
	st.at += uint64(len(p))
}

// repaint sends the whole screen; see output.fresh. The model has taken all that the copier read.
func (st *stream) repaint() (ok bool) {
	if st.waiting.IsZero() {
		st.waiting = time.Now()
		time.AfterFunc(groundPatience, st.s.output.repaint) // for a program that stops within a sequence
	}
	var all []byte
	var cols, rows int
	ran := st.s.loop.call(func(now time.Time) {
		m := st.s.loop.model
		if ok = m.Ground() || now.Sub(st.waiting) >= groundPatience; ok {
			cols, rows = m.Size()
			all = m.AppendRedraw(nil)
		}
		st.s.painter.titles = ^uint64(0) // the window of who looks has no title yet
	})
	if !ran || !ok {
		return !ran
	}
	st.waiting = time.Time{}
	first := all[:min(len(all), repaintPiece)]
	st.s.link.Live(&protocol.Output{ID: newID(), SessionID: st.s.id, Seq: st.at, DataB64: first, Repaint: true, Cols: cols, Rows: rows})
	for rest := all[len(first):]; len(rest) > 0; rest = rest[min(len(rest), repaintPiece):] {
		st.write(rest[:min(len(rest), repaintPiece)])
	}
	return true
}

// attended takes what people who look on do. It runs on the link's goroutine.
func (d *desk) attended(m protocol.Message) {
	s, h := d.s, d.s.conf.headless
	if h == nil {
		d.refuse(protocol.RequestID(m), protocol.CodeForbidden, "this is the user's own terminal: it is seen there and through snapshots, and nobody sits down in front of it elsewhere")
		return
	}
	switch m := m.(type) {
	case *protocol.Watch:
		s.term.Look(true)
		s.output.renew()
	case *protocol.Unwatch:
		s.term.Look(false)
	case *protocol.Attach:
		if !s.pump.Post(func(now time.Time) { s.attach(now, m) }) {
			d.gone(m.RequestID)
		}
	case *protocol.Detach:
		s.pump.Post(func(now time.Time) { s.detach(now, m.ViewerID) })
	case *protocol.Typed:
		s.pump.Post(func(now time.Time) { s.typed(now, m) })
	}
}

// attach lets a person sit down. The newest size is the session's: what is drawn fits at least the terminal of who came
// last. It and the following run on the pump's goroutine.
func (s *session) attach(now time.Time, m *protocol.Attach) {
	h := s.conf.headless
	h.people[m.ViewerID] = true
	h.seats.Store(int32(len(h.people)))
	s.authority.Attend(now, true)
	s.term.SetSize(m.Cols, m.Rows)
	select {
	case s.windows <- syscall.SIGWINCH:
	default: // one that waits does as well
	}
	if s.authority.Driven() {
		s.status.say(s.authority.State(now).Agent.Name+" drives. "+s.status.key+" takes the keyboard; your own keys pause it", tellFor)
	}
	s.link.Send(&protocol.Done{RequestID: m.RequestID})
}

// detach lets a person go.
func (s *session) detach(now time.Time, viewer string) {
	h := s.conf.headless
	delete(h.people, viewer)
	h.seats.Store(int32(len(h.people)))
	if len(h.people) == 0 {
		s.authority.Attend(now, false)
	}
}

// desert lets everybody go: the way to them is lost. Who is still there is announced anew.
func (s *session) desert(now time.Time) {
	s.term.Look(false)
	for viewer := range s.conf.headless.people {
		s.detach(now, viewer)
	}
}

// typed takes the keys of a person, as if they came from a keyboard here.
func (s *session) typed(now time.Time, m *protocol.Typed) {
	h := s.conf.headless
	switch {
	case !h.people[m.ViewerID]:
	case leaves(m.DataB64) && s.authority.State(now).Menu:
		s.authority.Key(now) // the menu is answered
		s.detach(now, m.ViewerID)
		s.pump.Post(func(time.Time) { s.stream.leave(m.ViewerID) }) // when it is known that the menu is closed
	default:
		s.pump.Type(now, m.DataB64)
	}
}

// leaves reports whether what was typed is the key that leaves a session, in the menu: d.
func leaves(typed []byte) bool {
	letter, ok := keys.Letter(typed)
	return ok && letter == 'd'
}

// expectEchoes expects the answers that the terminal of a person gives to questions that the model has answered already:
// they are thrown away.
func (s *session) expectEchoes(replies []byte) {
	if s.conf.headless == nil || !s.term.HasScreen() {
		return
	}
	if n := cursorReports(replies); n > 0 {
		s.pump.Post(func(time.Time) {
			for range n {
				s.detector.expect(func(int) {})
			}
		})
	}
}
