package call

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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

func (p *peer) Handle(m protocol.Message) { p.heard <- m }
func (p *peer) Leave()                    { close(p.left) }
func (p *peer) Next(done <-chan struct{}) (protocol.Message, error) {
	select {
	case m := <-p.out:
		return m, nil
	case <-p.cut:
		return nil, errOver
	case <-done:
		return nil, errors.New("left")
	}
}

// start is a caller and its participants, in the order in which they join.
func start(t *testing.T) (*Caller, *peer, chan *peer) {
	t.Helper()
	first, more := newPeer(), make(chan *peer, 4)
	var once sync.Once
	c := New(func() Peer {
		p := newPeer()
		once.Do(func() { p = first })
		if p != first {
			more <- p
		}
		return p
	})
	t.Cleanup(func() { c.Close(); <-first.left })
	return c, first, more
}

func TestAnswersFindTheirCalls(t *testing.T) {
	c, p, _ := start(t)
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
	p.out <- &protocol.Blackout{SessionID: "x"} // to nobody in particular
	p.out <- &protocol.ReadResult{RequestID: "two", Text: "2"}
	p.out <- &protocol.Error{RequestID: "one", Code: protocol.CodeBlackout, Message: "hidden"}
	two, one := <-results["two"], <-results["one"]
	require.NoError(t, two.err)
	require.Equal(t, "2", two.r.Text)
	refused, ok := errors.AsType[*protocol.Error](one.err)
	require.True(t, ok)
	require.Equal(t, protocol.CodeBlackout, refused.Code)
	require.Empty(t, c.waiting)
}

func TestAWaitIsTakenBackAndOtherCallsAreNot(t *testing.T) {
	c, p, _ := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Wait(ctx, &protocol.Wait{SessionID: "x", Until: protocol.Until{Exit: true}})
	require.ErrorIs(t, err, context.Canceled)
	wait := (<-p.heard).(*protocol.Wait)
	require.Equal(t, &protocol.Cancel{RequestID: wait.RequestID, SessionID: "x"}, <-p.heard)
	_, _, err = c.Request(ctx, &protocol.ControlRequest{SessionID: "x", Why: "y"})
	require.ErrorIs(t, err, context.Canceled)
	request := (<-p.heard).(*protocol.ControlRequest)
	require.Equal(t, &protocol.Cancel{RequestID: request.RequestID, SessionID: "x"}, <-p.heard)
	_, err = c.Input(ctx, &protocol.Input{SessionID: "x", Data: "y"})
	require.ErrorIs(t, err, context.Canceled)
	<-p.heard
	require.Empty(t, p.heard)
}

func TestTheEndOfTheParticipantEndsItsCalls(t *testing.T) {
	c, p, _ := start(t)
	ended := make(chan error, 1)
	go func() { // ends with the participant
		_, _, err := c.Request(t.Context(), &protocol.ControlRequest{SessionID: "x"})
		ended <- err
	}()
	<-p.heard
	close(p.cut)
	require.ErrorIs(t, <-ended, errOver)
	<-c.Ended()
	require.ErrorIs(t, c.Err(), errOver)
	_, err := c.Sessions(t.Context())
	require.ErrorIs(t, err, errOver)
}

func TestRequestsAreGrantedOrRefused(t *testing.T) {
	c, p, _ := start(t)
	p.out <- &protocol.ControlGrant{RequestID: "early"} // nobody waits yet
	for id, answer := range map[string]protocol.Message{"g": &protocol.ControlGrant{RequestID: "g"}, "r": &protocol.ControlRevoke{RequestID: "r"}, "d": &protocol.Done{RequestID: "d"}} {
		go func() { <-p.heard; p.out <- answer }() // ends with the request
		grant, revoke, err := c.Request(t.Context(), &protocol.ControlRequest{RequestID: id, SessionID: "x"})
		require.Equal(t, id == "g", grant != nil)
		require.Equal(t, id == "r", revoke != nil)
		require.Equal(t, id == "d", err != nil)
	}
	go func() { m := <-p.heard; p.out <- &protocol.Done{RequestID: protocol.RequestID(m)} }() // ends with the request
	require.NoError(t, c.Release(t.Context(), &protocol.ControlRelease{SessionID: "x"}))
}

func TestASubscriptionIsAParticipantOfItsOwn(t *testing.T) {
	c, p, more := start(t)
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

func TestASubscriptionThatIsRefusedOrEnds(t *testing.T) {
	c, _, more := start(t)
	go func() {
		own := <-more
		<-own.heard
		own.out <- &protocol.Error{RequestID: "subscribe", Code: protocol.CodeNoSession, Message: "none"}
	}() // ends with the refusal
	_, err := c.Subscribe(t.Context(), "x", 0)
	require.ErrorContains(t, err, "none")

	ctx, cancel := context.WithCancel(t.Context())
	owns := make(chan *peer, 1)
	go func() { own := <-more; <-own.heard; own.out <- &protocol.Done{RequestID: "subscribe"}; owns <- own }() // ends with the answer
	stream, err := c.Subscribe(ctx, "x", 0)
	require.NoError(t, err)
	cancel()
	_, ok := <-stream
	require.False(t, ok)
	<-(<-owns).left
}
