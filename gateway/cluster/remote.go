package cluster

import (
	"errors"
	"sync"
	"time"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// Seat is a participant in the switchboard.
type Seat interface {
	Handle(m protocol.Message)
	HandleRepeat(m protocol.Message)
	Next(done <-chan struct{}) (protocol.Message, error)
	MarkBusy()
	MarkIdle()
	Leave()
}

// Bounds of one letter to a participant, and of all stand-ins.
const (
	batchMessages = 32
	batchBytes    = 64 << 10
	pollEvery     = 50 * time.Millisecond
)

type remoteKey struct{ from, link string }

// remote represents, in this switchboard, a participant of another gateway on its route to one
// session.
type remote struct {
	remotes *remotes
	key     remoteKey
	space   string // its namespace
	session string // "" for a list, or for programs to start
	seat    Seat
	done    chan struct{}
	ending  sync.Once

	taken uint64 // number of the last letter; owned by the goroutine that takes letters
}

// takeLetter handles the next letter, and ignores a repeated one.
func (r *remote) takeLetter(l *letter) reply {
	switch {
	case l.N <= r.taken:
		return reply{}
	case l.N != r.taken+1:
		return reply{Lost: true}
	}
	r.taken = l.N
	switch l.Op {
	case opLeave:
		r.close()
	case opWork:
		r.seat.MarkBusy()
	case opRest:
		r.seat.MarkIdle()
	}
	for _, m := range l.messages {
		if id := protocol.SessionID(m); id != r.session {
			r.remotes.mesh.logRefusal(l.From,
				"a message for session "+token(id)+" on the way to another")
			return reply{Wrong: "this route leads to one session", Code: protocol.CodeForbidden}
		}
		if l.Again {
			r.seat.HandleRepeat(m)
		} else {
			r.seat.Handle(m)
		}
	}
	return reply{}
}

// close removes the participant.
func (r *remote) close() {
	r.ending.Do(func() {
		r.remotes.remove(r)
		close(r.done)
		r.seat.Leave()
	})
}

// sendMessages sends the participant's messages to its gateway, until either ends.
func (r *remote) sendMessages() {
	defer r.close()
	for n := uint64(1); ; n++ {
		l := &letter{Op: opSay, Link: r.key.link, N: n}
		err := r.fillLetter(l)
		if err != nil {
			l.End = err.Error()
		}
		if len(l.frames) > 0 || err != nil && !r.isClosed() {
			if said, failed := r.sendLetter(l); failed != nil || said.Lost || said.Wrong != "" {
				return
			} else if said.Full && err == nil && !r.waitForRoom(&n) {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// sendLetter sends a letter to the participant's gateway. A gateway that does not take it would
// miss messages without noticing: it is dropped, so that both start again.
func (r *remote) sendLetter(l *letter) (reply, error) {
	m := r.remotes.mesh
	said, err := m.callPeer(m.ctx, r.key.from, answers, l)
	if err != nil && m.ctx.Err() == nil && m.isKnown(r.key.from) {
		m.dropPeer(r.key.from, "it accepts no messages")
	}
	return said, err
}

// waitForRoom waits until the participant accepts messages again.
func (r *remote) waitForRoom(n *uint64) bool {
	for {
		select {
		case <-r.done:
			return false
		case <-time.After(pollEvery):
		}
		*n++
		said, err := r.sendLetter(&letter{Op: opSay, Link: r.key.link, N: *n})
		if err != nil || said.Lost || said.Wrong != "" {
			return false
		}
		if !said.Full {
			return true
		}
	}
}

func (r *remote) isClosed() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// atOnce is a closed done channel: Next does not wait with it.
var atOnce = func() chan struct{} { ch := make(chan struct{}); close(ch); return ch }()

// fillLetter fills a letter with the participant's messages; it waits for the first one.
func (r *remote) fillLetter(l *letter) error {
	for size, wait := 0, r.done; len(l.frames) < batchMessages && size < batchBytes; wait = atOnce {
		m, err := r.seat.Next(wait)
		switch {
		case errors.Is(err, hub.ErrLeft) && len(l.frames) > 0:
			return nil // the queue is empty; if the participant left, the next call says so
		case err != nil:
			return err
		}
		if id := protocol.SessionID(m); id != "" && id != r.session && r.session != "" {
			continue // the route to that session brings it
		}
		size += r.addMessage(l, m)
	}
	return nil
}

// addMessage adds a message to a letter and returns its size. An answer that cannot be encoded
// becomes an error.
func (r *remote) addMessage(l *letter, m protocol.Message) int {
	frame, err := protocol.Encode(m)
	if err != nil {
		r.remotes.mesh.log.Warn("cluster: message that cannot be sent",
			"type", protocol.KindOf(m), "error", err)
		id := protocol.RequestID(m)
		if id == "" {
			return 0
		}
		if frame, err = protocol.Encode(&protocol.Error{
			RequestID: id,
			Code:      protocol.CodeUnavailable,
			Message:   "the answer cannot be sent: " + err.Error(),
		}); err != nil {
			return 0
		}
	}
	if list, ok := m.(*protocol.SessionsChanged); ok {
		r.remotes.claims.addGenerations(r.space, list, l)
	}
	l.frames = append(l.frames, frame)
	return len(frame)
}
