package attach

import (
	"slices"
	"sync"
	"time"

	"terminalproxy/protocol"
)

const (
	// groundPatience is how long a repaint waits for the program to finish a sequence that it has
	// begun.
	groundPatience = 300 * time.Millisecond
	// modelPatience is how long the copier waits for the model.
	modelPatience = 50 * time.Millisecond
	// repaintPiece bounds one message of a repaint, in bytes.
	repaintPiece = 256 << 10
)

// Output is the live output of a session. Its methods belong to the copier's goroutine.
type Output struct {
	*Config
	at      uint64    // bytes of live output so far
	waiting time.Time // since when a repaint waits, zero without one

	mu        sync.Mutex
	detaching []string // viewers who are let go when the proxy's own line is off their screens
}

// queueDetach lets a viewer go as soon as they see only the program's output. It may be called from
// any goroutine.
func (o *Output) queueDetach(viewer string) {
	o.mu.Lock()
	o.detaching = append(o.detaching, viewer)
	o.mu.Unlock()
	o.Copier.Repaint()
}

// NoteDrawn tells the viewers who detached that they have: the proxy's own line is off their
// screens.
func (o *Output) NoteDrawn() {
	o.mu.Lock()
	detaching := o.detaching
	o.detaching = nil
	o.mu.Unlock()
	for _, viewer := range detaching {
		o.Link.Send(&protocol.Detach{SessionID: o.SessionID, ViewerID: viewer})
	}
}

// Write sends what is written to the absent terminal. It does not keep p.
func (o *Output) Write(p []byte) {
	o.sendLive(&protocol.Output{DataB64: slices.Clone(p)})
	o.at += uint64(len(p))
}

func (o *Output) sendLive(m *protocol.Output) {
	m.ID, m.SessionID, m.Seq = protocol.NewID(), o.SessionID, o.at
	o.Link.SendLive(m)
}

// Repaint sends the whole screen; ok is false while nothing can be inserted into the stream. The
// model has taken all that the copier read.
func (o *Output) Repaint() (ok bool) {
	if o.waiting.IsZero() {
		o.waiting = time.Now()
		// for a program that stops within a sequence
		time.AfterFunc(groundPatience, o.Copier.Repaint)
	}
	var all []byte
	var cols, rows int
	ran, over := o.Model.TryCall(modelPatience, func(now time.Time) {
		m := o.Model.Model()
		if ok = m.IsAtGround() || now.Sub(o.waiting) >= groundPatience; ok {
			cols, rows = m.Size()
			all = m.AppendRedraw(nil)
		}
		o.Title.RedrawTitle()
	}, o.Copier.NoteCaughtUp)
	if !ran || !ok {
		return over
	}
	o.waiting = time.Time{}
	first := all[:min(len(all), repaintPiece)]
	o.sendLive(&protocol.Output{DataB64: first, Repaint: true, Cols: cols, Rows: rows})
	for piece := range slices.Chunk(all[len(first):], repaintPiece) {
		o.Write(piece)
	}
	return true
}
