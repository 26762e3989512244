package link

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// seat is a gateway in this process: it keeps what it is told, and says what it is given.
type seat struct {
	mu    sync.Mutex
	heard []protocol.Message
	say   chan protocol.Message
	once  sync.Once
	left  chan struct{}
}

func newSeat() *seat { return &seat{say: make(chan protocol.Message), left: make(chan struct{})} }

func (s *seat) Handle(m protocol.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, m)
}

func (s *seat) Next(done <-chan struct{}) (protocol.Message, error) {
	select {
	case m := <-s.say:
		return m, nil
	case <-s.left:
		return nil, errors.New("left")
	case <-done:
		return nil, errors.New("done")
	}
}

func (s *seat) Leave() { s.once.Do(func() { close(s.left) }) }

func nobody(context.Context) (net.Conn, error) { return nil, errors.New("nobody") }

// With a seat nothing is dialled, messages go over in order and whole, and the end is the seat's.
func TestASeatTakesMessagesAsTheyAre(t *testing.T) {
	at, up, took := newSeat(), make(chan struct{}), make(chan protocol.Message, 1)
	l, stop := link(t, Config{
		Dial: nobody, Join: func() (Seat, error) { return at, nil },
		Up: func() { close(up) }, Handle: func(m protocol.Message) { took <- m },
	})
	<-up
	done := &protocol.Done{RequestID: "r"}
	at.say <- done
	require.Same(t, done, <-took)
	first, second := snapshot(1, "a", "b", "c"), snapshot(2, "a", "b", "x")
	l.Snapshot(first)
	l.Send(&protocol.Done{RequestID: "1"})
	l.Snapshot(second)
	l.Send(&protocol.SessionClose{ID: "c", SessionID: "vim-1"})
	l.Finish(t.Context())
	stop()
	at.mu.Lock()
	defer at.mu.Unlock()
	require.Equal(t, protocol.Message(hello), at.heard[0])
	require.Same(t, second, at.heard[len(at.heard)-2], "a snapshot is whole, and before the end")
	require.IsType(t, &protocol.SessionClose{}, at.heard[len(at.heard)-1])
}

// A message that may not be sent ends the connection, as it would on a socket; the next one begins anew. Without a seat
// the gateway is dialled, and a failure to serve is trouble.
func TestASeatThatEndsIsTakenAgain(t *testing.T) {
	seats, told := make(chan *seat, 10), make(chan error, 10)
	tries := make(chan struct{}, 100)
	join := func() (Seat, error) {
		select {
		case s := <-seats:
			return s, nil
		default:
			tries <- struct{}{}
			return nil, errors.New("the directory is not mine")
		}
	}
	ups := make(chan struct{}, 10)
	one, two := newSeat(), newSeat()
	seats <- one
	l, stop := link(t, Config{Dial: nobody, Join: join, Up: func() { ups <- struct{}{} }, Trouble: func(err error) { told <- err }})
	<-ups
	seats <- two
	l.Send(&protocol.Done{RequestID: "not an id"})
	<-ups
	<-one.left
	two.Leave()
	<-tries
	require.ErrorContains(t, <-told, "the directory is not mine")
	stop()
}
