package proxy

import (
	"slices"
	"sync"
	"syscall"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/overlay"
)

// What a person who looks on from elsewhere gets and does. A session on a user's terminal has none of this.

const (
	// groundPatience is how long a repaint waits for the program to finish a sequence that it has begun.
	groundPatience = 300 * time.Millisecond
	// repaintPiece bounds one message of a repaint, in bytes.
	repaintPiece = 256 << 10
	// leastCols and leastRows bound what a person's terminal makes of a session: bash ends with SIGFPE on 2 columns. A smaller
	// terminal shows a part.
	leastCols, leastRows = 20, 5
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
	st.s.copier.Repaint()
}

// Drawn tells the viewers who leave that they have left: the proxy's own line is off their screens.
func (st *stream) Drawn() {
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

// Repaint sends the whole screen; ok is false while nothing can be inserted into the stream. The model has taken all that the
// copier read.
func (st *stream) Repaint() (ok bool) {
	if st.waiting.IsZero() {
		st.waiting = time.Now()
		time.AfterFunc(groundPatience, st.s.copier.Repaint) // for a program that stops within a sequence
	}
	var all []byte
	var cols, rows int
	ran := st.s.observer.Call(func(now time.Time) {
		m := st.s.observer.Model()
		if ok = m.Ground() || now.Sub(st.waiting) >= groundPatience; ok {
			cols, rows = m.Size()
			all = m.AppendRedraw(nil)
		}
		st.s.painter.Retitle()
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
		s.copier.Renew()
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

// attach lets a person sit down, or says that their terminal has another size now. It and the following run on the pump's
// goroutine.
func (s *session) attach(now time.Time, m *protocol.Attach) {
	h := s.conf.headless
	_, sits := h.people[m.ViewerID]
	h.people[m.ViewerID] = &seat{cols: max(m.Cols, leastCols), rows: max(m.Rows, leastRows)}
	h.seats.Store(int32(len(h.people)))
	s.authority.Attend(now, true)
	s.turnTo(m.ViewerID)
	if !sits && s.authority.Driven() {
		s.status.Say(s.authority.State(now).Agent.Name+" drives. "+s.status.Key()+" takes the keyboard; your own keys pause it", overlay.TellFor)
	}
	s.link.Send(&protocol.Done{RequestID: m.RequestID})
}

// turnTo gives the session the size of the terminal of a person who does something: what they do, they see whole.
func (s *session) turnTo(viewer string) {
	h := s.conf.headless
	p := h.people[viewer]
	if p == nil {
		return
	}
	h.turns++
	p.turn = h.turns
	s.fit(p)
}

// fit gives the session the size of a person's terminal.
func (s *session) fit(p *seat) {
	if cols, rows, err := s.term.Size(); err == nil && cols == p.cols && rows == p.rows {
		return
	}
	s.term.SetSize(p.cols, p.rows)
	select {
	case s.windows <- syscall.SIGWINCH:
	default: // one that waits does as well
	}
}

// detach lets a person go. Those who stay have the size of the terminal of the one who did something last.
func (s *session) detach(now time.Time, viewer string) {
	h := s.conf.headless
	delete(h.people, viewer)
	h.seats.Store(int32(len(h.people)))
	if len(h.people) == 0 {
		s.authority.Attend(now, false)
		return
	}
	var last *seat
	for _, p := range h.people {
		if last == nil || p.turn > last.turn {
			last = p
		}
	}
	s.fit(last)
}

// desert lets everybody go: the way to them is lost. Who is still there is announced anew.
func (s *session) desert(now time.Time) {
	s.term.Look(false)
	h := s.conf.headless
	clear(h.people)
	h.seats.Store(0)
	s.authority.Attend(now, false)
}

// seat is the terminal of a person who sits in front of a session.
type seat struct {
	cols, rows int
	turn       uint64 // grows with everything that people do
}

// typed takes the keys of a person, as if they came from a keyboard here.
func (s *session) typed(now time.Time, m *protocol.Typed) {
	h := s.conf.headless
	switch {
	case h.people[m.ViewerID] == nil:
	case leaves(m.DataB64) && s.authority.State(now).Menu:
		s.authority.Key(now) // the menu is answered
		s.detach(now, m.ViewerID)
		s.pump.Post(func(time.Time) { s.stream.leave(m.ViewerID) }) // when it is known that the menu is closed
	default:
		h.typist = m.ViewerID // what their terminal says by itself is nothing that they do
		s.pump.Type(now, m.DataB64)
		h.typist = ""
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
	if n := keys.CursorReports(replies); n > 0 {
		s.pump.Post(func(time.Time) {
			for range n {
				s.detector.expect(func(int) {})
			}
		})
	}
}
