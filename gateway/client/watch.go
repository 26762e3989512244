package client

import (
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/protocol/handshake"
)

const (
	// lookEvery is the rhythm in which a local gateway is looked at while an answer is waited for. Nobody pings on a local
	// socket, whose end the kernel tells; but a process that is stopped keeps its socket. So is one of several gateways: its own pings
	// would be missed late.
	lookEvery = time.Second
	// stoppedLooks is in how many looks one after the other it is stopped before it is given up.
	stoppedLooks = 2
	// askAfter and askAgain are the looks without a word after which it is asked for a sign of life, the first time and
	// later; answerLooks is how many more it has for that.
	askAfter, askAgain, answerLooks = 3, 20, 3
)

// answering is a connection that knows its far end.
type answering interface {
	// Answers is why it cannot answer, nil when nothing speaks against it.
	Answers() error
	// Gathering: it had just taken over from another gateway when it was dialled.
	Gathering() bool
}

// peerOf is the far end of a connection, nil where nothing is known of it.
func peerOf(ws *websocket.Conn) answering {
	bound, ok := ws.NetConn().(*handshake.Conn)
	if !ok {
		return nil
	}
	peer, _ := bound.NetConn().(answering)
	return peer
}

// watch looks at the gateway while one call waits for its answer. It belongs to the call's goroutine. It counts looks and
// not time: this process itself may have been stopped, too.
type watch struct {
	socket  *socket
	tick    <-chan time.Time // nil where the gateway pings
	stop    func()
	stopped int    // looks
	quiet   int    // looks without a word
	limit   int    // of them until it is asked
	heard   uint64 // of socket, at the last look
}

func (s *socket) watch() *watch {
	w := &watch{socket: s, stop: func() {}, limit: askAfter}
	if s.local || s.several {
		tick := time.NewTicker(lookEvery)
		w.tick, w.stop, w.heard = tick.C, tick.Stop, s.heard.Load()
	}
	return w
}

// look ends the connection of a gateway that does not answer any more; another one may take over then.
func (w *watch) look() {
	w.stopped++
	if peer := w.socket.peer; peer == nil || peer.Answers() == nil {
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

// guard ends a connection on which nobody asks anything when its far end is stopped.
func (s *socket) guard() (stop func()) {
	if s.several {
		return s.listen()
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
			if s.peer.Answers() == nil {
				stopped = 0
			}
		}
		s.close()
	}()
	return func() { close(done) }
}

// listen ends a connection to one of several gateways that gives no sign of life, though nobody asks anything.
func (s *socket) listen() (stop func()) {
	done := make(chan struct{})
	go func() { // ends with stop
		w := s.watch()
		defer w.stop()
		for {
			select {
			case <-done:
				return
			case <-w.tick:
				w.look()
			}
		}
	}()
	return func() { close(done) }
}
