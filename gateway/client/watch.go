package client

import (
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/protocol/handshake"
)

const (
	// lookEvery is the rhythm of checks on a local gateway while a call waits. Local sockets have
	// no pings, since the kernel reports their end; but a stopped process keeps its socket. One of
	// several gateways is checked, too: its own pings would be missed late.
	lookEvery = time.Second
	// stoppedLooks is the number of consecutive checks that must find a gateway stopped before it
	// is given up.
	stoppedLooks = 2
	// askAfter and askAgain are the silent checks after which the gateway is pinged, the first time
	// and later; it has answerLooks more to answer.
	askAfter, askAgain, answerLooks = 3, 20, 3
)

// peerState is a connection whose far end is known.
type peerState interface {
	// AnswerProblem returns why the far end cannot answer, or nil.
	AnswerProblem() error
	// Gathering reports whether the gateway had just taken over from another one when it was
	// dialled.
	Gathering() bool
}

// peerOf returns the far end of a connection, nil if unknown.
func peerOf(ws *websocket.Conn) peerState {
	bound, ok := ws.NetConn().(*handshake.Conn)
	if !ok {
		return nil
	}
	peer, _ := bound.NetConn().(peerState)
	return peer
}

// watch checks the gateway while one call waits for its answer. It belongs to the call's goroutine.
// It counts checks and not time: this process itself may have been stopped, too.
type watch struct {
	socket  *socket
	tick    <-chan time.Time // nil if the gateway pings
	stop    func()
	stopped int    // consecutive checks that found the gateway stopped
	quiet   int    // consecutive checks without a message
	limit   int    // quiet checks before a ping
	heard   uint64 // the socket's count at the last check
}

func (s *socket) startWatch() *watch {
	w := &watch{socket: s, stop: func() {}, limit: askAfter}
	if s.local || s.several {
		tick := time.NewTicker(lookEvery)
		w.tick, w.stop, w.heard = tick.C, tick.Stop, s.heard.Load()
	}
	return w
}

// checkGateway ends the connection of a gateway that has stopped answering; another one may take
// over then.
func (w *watch) checkGateway() {
	w.stopped++
	if peer := w.socket.peer; peer == nil || peer.AnswerProblem() == nil {
		w.stopped = 0
	}
	w.quiet++
	if heard := w.socket.heard.Load(); heard != w.heard {
		if w.quiet > w.limit && !w.socket.several {
			w.limit = askAgain
		}
		w.heard, w.quiet = heard, 0
	}
	switch {
	case w.stopped >= stoppedLooks, w.quiet >= w.limit+answerLooks:
		w.socket.gone()
		w.socket.close()
	case w.quiet == w.limit:
		_ = w.socket.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(lookEvery))
	}
}

// guardLink ends an idle connection when its far end is stopped.
func (s *socket) guardLink() (stop func()) {
	if s.several {
		return s.guardByLooks()
	}
	if s.peer == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() { // ends with stop
		tick := time.NewTicker(askAfter * lookEvery)
		defer tick.Stop()
		for stopped := 0; stopped < stoppedLooks; {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			stopped++
			if s.peer.AnswerProblem() == nil {
				stopped = 0
			}
		}
		s.close()
	}()
	return func() { close(done) }
}

// guardByLooks ends an idle connection to one of several gateways that sends nothing.
func (s *socket) guardByLooks() (stop func()) {
	done := make(chan struct{})
	go func() { // ends with stop
		w := s.startWatch()
		defer w.stop()
		for {
			select {
			case <-done:
				return
			case <-w.tick:
				w.checkGateway()
			}
		}
	}()
	return func() { close(done) }
}
