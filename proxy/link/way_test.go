package link

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// seat is a gateway in this process: it keeps the messages that it receives, and sends those that
// the test gives it.
type seat struct {
	mu    sync.Mutex
	heard []protocol.Message
	quick bool
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

func (s *seat) TryHandle(m *protocol.Snapshot) bool {
	if !s.quick {
		return false
	}
	s.Handle(m)
	return true
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

// With a seat nothing is dialled, messages arrive in order and whole, and the end is the seat's.
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
	l.PutSnapshot(first)
	l.Send(&protocol.Done{RequestID: "1"})
	l.PutSnapshot(second)
	l.Send(&protocol.SessionClose{ID: "c", SessionID: "vim-1"})
	l.FinishSending(t.Context())
	stop()
	at.mu.Lock()
	defer at.mu.Unlock()
	require.Equal(t, protocol.Message(hello), at.heard[0])
	require.Same(t, second, at.heard[len(at.heard)-2], "a snapshot is whole, and before the end")
	require.IsType(t, &protocol.SessionClose{}, at.heard[len(at.heard)-1])
}

// A message that may not be sent ends the connection, as on a socket; the next one begins anew.
// Without a seat the gateway is dialled, and a failure to serve is reported as trouble.
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

// If the gateway of this process can take it, it has the snapshot when PutSnapshot returns. If it
// cannot, or other messages wait, the snapshot comes in order, as usual, and never twice.
func TestASnapshotIsTakenAtOnce(t *testing.T) {
	at, up := newSeat(), make(chan struct{})
	at.quick = true
	l, stop := link(t, Config{Dial: nobody, Join: func() (Seat, error) { return at, nil }, Up: func() { close(up) }, Handle: func(protocol.Message) {}})
	<-up
	told := func() (all []protocol.Message) {
		at.mu.Lock()
		defer at.mu.Unlock()
		return append(all, at.heard...)
	}
	for len(told()) == 0 { // the hello
		time.Sleep(time.Millisecond)
	}
	const messages = 500
	var last *protocol.Snapshot
	for i := range messages {
		last = snapshot(uint64(i+1), "a")
		if i%3 == 0 {
			l.Send(&protocol.Done{RequestID: "r"})
		}
		l.PutSnapshot(last)
	}
	for all := told(); all[len(all)-1] != protocol.Message(last); all = told() {
		time.Sleep(time.Millisecond)
	}
	for busy := true; busy; { // the writer has sent everything, and may not have noted that
		l.mu.Lock()
		busy = l.busy
		l.mu.Unlock()
	}
	l.PutSnapshot(snapshot(messages+1, "b"))
	all := told()
	require.EqualValues(t, messages+1, all[len(all)-1].(*protocol.Snapshot).Seq, "it is there already")
	l.FinishSending(t.Context())
	stop()
	seq, done := uint64(0), 0
	for _, m := range told() {
		switch m := m.(type) {
		case *protocol.Done:
			done++
		case *protocol.Snapshot:
			require.Greater(t, m.Seq, seq)
			seq = m.Seq
		}
	}
	require.Equal(t, (messages+2)/3, done)
}
