package client

import (
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/protocol/handshake"
)

const (
	// checkEvery is the interval of checks on a local gateway while a call waits. Local sockets
	// have no pings, because the kernel reports their end; but a stopped process keeps its socket.
	// One of several gateways is checked as well, because missing pings would be noticed late.
	checkEvery = time.Second
	// stoppedChecks is the number of consecutive checks that must find a gateway stopped before it
	// is given up.
	stoppedChecks = 2
	// pingAfter and pingAgain are the numbers of silent checks after which the gateway is pinged,
	// the first time and later; it has answerChecks more to answer.
	pingAfter, pingAgain, answerChecks = 3, 20, 3
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
	w := &watch{socket: s, stop: func() {}, limit: pingAfter}
	if s.local || s.several {
		tick := time.NewTicker(checkEvery)
		w.tick, w.stop, w.heard = tick.C, tick.Stop, s.heard.Load()
	}
	return w
}

// checkGateway ends the connection of a gateway that has stopped answering, so that another one can
// take over.
func (w *watch) checkGateway() {
	w.stopped++
	if peer := w.socket.peer; peer == nil || peer.AnswerProblem() == nil {
		w.stopped = 0
	}
	w.quiet++
	if heard := w.socket.heard.Load(); heard != w.heard {
		if w.quiet > w.limit && !w.socket.several {
			w.limit = pingAgain
		}
		w.heard, w.quiet = heard, 0
	}
	switch {
	case w.stopped >= stoppedChecks, w.quiet >= w.limit+answerChecks:
		w.socket.gone()
		w.socket.close()
	case w.quiet == w.limit:
		_ = w.socket.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(checkEvery))
	}
}

// guardLink ends an idle connection when its far end is stopped.
func (s *socket) guardLink() (stop func()) {
	if s.several {
		return s.guardByChecks()
	}
	if s.peer == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() { // ends with stop
		tick := time.NewTicker(pingAfter * checkEvery)
		defer tick.Stop()
		for stopped := 0; stopped < stoppedChecks; {
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

// guardByChecks ends an idle connection to one of several gateways that sends nothing.
func (s *socket) guardByChecks() (stop func()) {
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
