package client

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

var errOver = errors.New("over")

// peer is a participant whose switchboard the test plays.
type peer struct {
	heard chan protocol.Message
	out   chan protocol.Message
	cut   chan struct{}
	left  chan struct{}
}

func newPeer() *peer {
	return &peer{heard: make(chan protocol.Message, 8), out: make(chan protocol.Message, 8), cut: make(chan struct{}), left: make(chan struct{})}
}

func (p *peer) IsGathering() bool         { return false }
func (p *peer) Handle(m protocol.Message) { p.heard <- m }
func (p *peer) Leave()                    { close(p.left) }
func (p *peer) Next(<-chan struct{}) (protocol.Message, error) {
	select {
	case m := <-p.out:
		return m, nil
	case <-p.cut:
		return nil, errOver
	case <-p.left:
		return nil, errors.New("left")
	}
}

// inProcess makes a client and its participants, in the order in which they join.
func inProcess(t *testing.T) (*Client, *peer, chan *peer) {
	t.Helper()
	first, more := newPeer(), make(chan *peer, 4)
	var once sync.Once
	c := NewInProcess(func() Peer {
		p := newPeer()
		once.Do(func() { p = first })
		if p != first {
			more <- p
		}
		return p
	})
	t.Cleanup(func() { require.NoError(t, c.Close()); <-first.left })
	return c, first, more
}

// Two callers have made the same request. When one leaves, the other's request stays.
func TestALeavingCallerKeepsARepeatedRequest(t *testing.T) {
	c, p, _ := inProcess(t)
	m := &protocol.Input{RequestID: "same", SessionID: "x", Data: "once"}
	type result struct {
		r   *protocol.InputResult
		err error
	}
	call := func(ctx context.Context) chan result {
		answer := make(chan result, 1)
		go func() { // ends with the answer, or with ctx
			r, err := c.Input(ctx, m)
			answer <- result{r, err}
		}()
		require.Equal(t, m, <-p.heard)
		return answer
	}
	ctx, leave := context.WithCancel(t.Context())
	first, second := call(ctx), call(t.Context())
	leave()
	require.ErrorIs(t, (<-first).err, context.Canceled)
	p.out <- &protocol.InputResult{RequestID: "same", SessionID: "x", Status: protocol.StatusWritten}
	require.Equal(t, protocol.StatusWritten, (<-second).r.Status)
	require.Empty(t, p.heard, "the gateway is told that nobody waits for the answer")

	ctx, leave = context.WithCancel(t.Context())
	last := call(ctx)
	leave()
	<-last
	require.Equal(t, &protocol.Cancel{RequestID: "same", SessionID: "x", Withdraw: true}, <-p.heard)
}

func TestAnswersFindTheirCalls(t *testing.T) {
	c, p, _ := inProcess(t)
	type result struct {
		r   *protocol.ReadResult
		err error
	}
	results := make(map[string]chan result)
	for _, id := range []string{"one", "two"} {
		results[id] = make(chan result, 1)
		go func() { // ends with the answer
			r, err := c.Read(t.Context(), &protocol.Read{RequestID: id, SessionID: "x"})
			results[id] <- result{r, err}
		}()
	}
	<-p.heard
	<-p.heard
	p.out <- &protocol.Blackout{SessionID: "x"} // addressed to no request
	p.out <- &protocol.ReadResult{RequestID: "two", Text: "2"}
	p.out <- &protocol.Error{RequestID: "one", Code: protocol.CodeBlackout, Message: "hidden"}
	two, one := <-results["two"], <-results["one"]
	require.NoError(t, two.err)
	require.Equal(t, "2", two.r.Text)
	refused, ok := errors.AsType[*protocol.Error](one.err)
	require.True(t, ok)
	require.Equal(t, protocol.CodeBlackout, refused.Code)
	require.Empty(t, c.conn.waiting)
}

// A call that its caller gives up is withdrawn, if it waits for a person or in a queue. A call whose
// time is over is not; only its answer is no longer heard.
func TestGivenUpCallIsWithdrawn(t *testing.T) {
	c, p, _ := inProcess(t)
	for name, call := range map[string]struct {
		do             func(context.Context) error
		withdrawn      bool
		cancelledAtEnd bool
	}{
		"wait": {func(ctx context.Context) error {
			_, err := c.Wait(ctx, &protocol.Wait{SessionID: "x", Until: protocol.Until{Exit: true}})
			return err
		}, true, true},
		"request": {func(ctx context.Context) error {
			_, _, err := c.Request(ctx, &protocol.ControlRequest{SessionID: "x", Level: protocol.LevelType, Why: "y"})
			return err
		}, true, true},
		"input": {func(ctx context.Context) error {
			_, err := c.Input(ctx, &protocol.Input{SessionID: "x", Data: "y"})
			return err
		}, true, false},
		"message": {func(ctx context.Context) error {
			_, err := c.SendNote(ctx, &protocol.Note{SessionID: "x", Text: "y"})
			return err
		}, true, false},
		"read": {func(ctx context.Context) error {
			_, err := c.Read(ctx, &protocol.Read{SessionID: "x"})
			return err
		}, false, false},
	} {
		for _, gaveUp := range []bool{true, false} {
			reason := context.DeadlineExceeded
			if gaveUp {
				reason = context.Canceled
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			heard := make(chan protocol.Message, 1)
			go func() { heard <- <-p.heard; cancel(reason) }() // ends when the request is heard
			require.ErrorIs(t, call.do(ctx), reason)
			id, withdrawn := protocol.RequestID(<-heard), gaveUp && call.withdrawn
			if withdrawn || !gaveUp && call.cancelledAtEnd {
				require.Equal(t, &protocol.Cancel{RequestID: id, SessionID: "x", Withdraw: withdrawn}, <-p.heard, name)
			}
			require.Empty(t, p.heard, name)
		}
	}
}

func TestTheEndOfTheParticipantEndsItsCalls(t *testing.T) {
	c, p, more := inProcess(t)
	ended := make(chan error, 1)
	go func() { // ends with the participant
		_, _, err := c.Request(t.Context(), &protocol.ControlRequest{SessionID: "x", Level: protocol.LevelType, Why: "y"})
		ended <- err
	}()
	<-p.heard
	close(p.cut)
	require.ErrorIs(t, <-ended, errOver)
	<-c.Ended()
	require.ErrorIs(t, c.Err(), errOver)
	_, err := c.Sessions(t.Context())
	require.ErrorIs(t, err, errOver)
	_, err = c.Subscribe(t.Context(), "x", 0)
	require.ErrorIs(t, err, errOver)
	require.Empty(t, more, "nobody joins again")
}

func TestRequestsAreGrantedOrRefused(t *testing.T) {
	c, p, _ := inProcess(t)
	p.out <- &protocol.ControlGrant{RequestID: "early"} // no request waits yet
	for id, answer := range map[string]protocol.Message{"g": &protocol.ControlGrant{RequestID: "g"}, "r": &protocol.ControlRevoke{RequestID: "r"}, "d": &protocol.Done{RequestID: "d"}} {
		go func() { <-p.heard; p.out <- answer }() // ends with the request
		grant, revoke, err := c.Request(t.Context(), &protocol.ControlRequest{RequestID: id, SessionID: "x", Level: protocol.LevelType, Why: "y"})
		require.Equal(t, id == "g", grant != nil)
		require.Equal(t, id == "r", revoke != nil)
		require.Equal(t, id == "d", err != nil)
	}
	go func() { m := <-p.heard; p.out <- &protocol.Done{RequestID: protocol.RequestID(m)} }() // ends with the request
	require.NoError(t, c.Release(t.Context(), &protocol.ControlRelease{SessionID: "x"}))
}

func TestASubscriptionIsAParticipantOfItsOwn(t *testing.T) {
	c, p, more := inProcess(t)
	listening := make(chan (<-chan protocol.Message), 1)
	go func() { // ends with the answer
		stream, err := c.Subscribe(t.Context(), "x", time.Second)
		require.NoError(t, err)
		listening <- stream
	}()
	own := <-more
	ask := (<-own.heard).(*protocol.SessionsSubscribe)
	require.Equal(t, int64(1000), ask.EveryMs)
	own.out <- &protocol.Done{RequestID: ask.RequestID}
	stream := <-listening
	own.out <- &protocol.ControlGrant{SessionID: "another"}
	own.out <- &protocol.Snapshot{SessionID: "x", Seq: 3}
	own.out <- &protocol.SessionClose{SessionID: "x"}
	require.Equal(t, uint64(3), (<-stream).(*protocol.Snapshot).Seq)
	require.IsType(t, &protocol.SessionClose{}, <-stream)
	_, ok := <-stream
	require.False(t, ok)
	<-own.left
	require.Empty(t, p.heard)
}

// Both ends of a stream of changes: the client completes the switchboard's differences, and the
// reader gets what it lacks.
func TestAStreamOfChanges(t *testing.T) {
	c, _, more := inProcess(t)
	first := &protocol.Snapshot{ID: "1", SessionID: "x", Seq: 1, Screen: &protocol.Screen{Cols: 9, Rows: 2, Lines: []string{"unchanged", strings.Repeat("a", 50)}}}
	second := *first
	second.Seq, second.Screen = 2, &protocol.Screen{Cols: 9, Rows: 2, Lines: []string{"b", first.Screen.Lines[1]}}
	for _, lean := range []bool{true, false} {
		go func() { // ends with the answers
			own := <-more
			ask := (<-own.heard).(*protocol.SessionsSubscribe)
			own.out <- &protocol.Done{RequestID: ask.RequestID}
			own.out <- first
			own.out <- second.Difference(first, true)
			own.out <- &protocol.SessionClose{SessionID: "x"}
		}()
		stream, err := c.Stream(t.Context(), &protocol.SessionsSubscribe{SessionID: "x", Changes: lean})
		require.NoError(t, err)
		require.Equal(t, first.Screen.Lines, (<-stream).(*protocol.Snapshot).Screen.Lines)
		got := (<-stream).(*protocol.Snapshot)
		if lean {
			require.Empty(t, got.Screen.Lines)
			require.Equal(t, []protocol.Row{{Row: 0, Text: "b"}}, got.Changed)
		} else {
			require.Equal(t, second.Screen.Lines, got.Screen.Lines)
		}
		require.IsType(t, &protocol.SessionClose{}, <-stream)
	}
}
