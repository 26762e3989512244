package requests

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/view/snapshot"
)

// waitingObserver answers a wait only when the test says so.
type waitingObserver struct {
	stagedObserver
	open map[string]func(snapshot.Result)
}

func (o waitingObserver) OpenWait(_ time.Time, _ bool, w snapshot.Wait, refused func(error)) {
	if o.open[w.ID] != nil {
		refused(fmt.Errorf("again: %w", snapshot.ErrWaitOpen))
		return
	}
	o.open[w.ID] = w.Done
}

func (o waitingObserver) CancelWait(id string) bool {
	_, open := o.open[id]
	delete(o.open, id)
	return open
}

func (o waitingObserver) EndControlWaits(wordFor func(id string) string) {
	for id := range o.s.waits.deciding {
		if word := wordFor(id); word != "" {
			o.open[id](snapshot.Result{ID: id, End: snapshot.Met, Matched: word})
		}
	}
}

func (o waitingObserver) CompleteWait(_ time.Time, _ *protocol.Wait, out *protocol.WaitResult) {
	out.Seq = o.model.Rev()
}

// newWaitingStage returns a stage with a waitingObserver, and its open waits.
func newWaitingStage() (s *stage, open map[string]func(snapshot.Result)) {
	open = make(map[string]func(snapshot.Result))
	return newStage(func(c *Config) { c.Observer = waitingObserver{c.Observer.(stagedObserver), open} }), open
}

// A client that lost its connection repeats its wait under the same id, with the remaining time.
// While the wait is open that changes nothing. If it was answered to the lost connection, the same
// answer comes again.
func TestARepeatedWaitHasItsAnswer(t *testing.T) {
	s, open := newWaitingStage()
	ask := protocol.Wait{RequestID: "a-1:1", SessionID: "sh-1", AgentID: "a-1", Until: protocol.Until{Text: "done"}, Stop: []protocol.Until{{Text: "error"}}, TimeoutMs: 10_000}
	require.Empty(t, s.handle(&ask))
	again := ask
	again.TimeoutMs = 4000
	require.Empty(t, s.handle(&again), "it is open")

	s.inbox.addNote("a-1", "hello")
	s.sent = nil
	open["a-1:1"](snapshot.Result{ID: "a-1:1", End: snapshot.Met, Matched: "done"})
	lost := s.sent[0].(*protocol.WaitResult)
	require.True(t, lost.Met)
	require.NotEmpty(t, lost.Notes)
	delete(open, "a-1:1")
	again.TimeoutMs = 3000
	answer := s.handle(&again)
	require.Len(t, answer, 1)
	got := *answer[0].(*protocol.WaitResult)
	got.ID = lost.ID
	require.Equal(t, *lost, got)

	other := again
	other.Stop = nil
	require.Empty(t, s.handle(&other), "another wait under the same id is a wait")
}

// What is remembered is bounded in number and time.
func TestWaitsThatAreOverAreForgotten(t *testing.T) {
	now := time.Now()
	ask := func(i int) *protocol.Wait { return &protocol.Wait{RequestID: fmt.Sprint(i), TimeoutMs: 1} }
	var w recentWaits
	for i := range waitsKept + 1 {
		w.add(endedWait{request: ask(i), at: now})
	}
	w.add(endedWait{request: ask(7), at: now.Add(time.Second)})
	require.Len(t, w, waitsKept)
	require.Nil(t, w.findRepeat(now, ask(0)))
	require.NotNil(t, w.findRepeat(now.Add(waitKept), ask(1)))
	require.NotNil(t, w.findRepeat(now.Add(waitKept+time.Second), ask(7)))
	require.Nil(t, w.findRepeat(now.Add(waitKept+time.Second), ask(1)))
	require.Len(t, w, 1)
}
