package hub

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func TestSubscriptionKeepsItsRhythm(t *testing.T) {
	inScene(t, func(t *testing.T, _ *Hub, proxy, agent *Peer) {
		agent.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1", EveryMs: 100})
		onlyMessage[*protocol.Done](t, agent)
		var seen []protocol.Message
		for i := range 100 { // 1 s at one per 10 ms
			proxy.Handle(full("vim-1", uint64(i+1), "x", ""))
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
			seen = append(seen, allMessages(agent)...)
		}
		require.Len(t, seen, 11, "at 0, 100, ... 1000 ms")
		require.Equal(t, uint64(100), seen[10].(*protocol.Snapshot).Seq, "the last one is not lost")
		agent.Leave()
		proxy.Handle(full("vim-1", 101, "x", ""))
	})
}

func TestSlowParticipantSkipsSnapshotsInOrder(t *testing.T) {
	o := newOutbox(new(counters))
	for i := range 10_000 {
		o.put(full("a", uint64(i), "x"))
		o.put(full("b", uint64(i), "x"))
	}
	o.put(&protocol.ControlGrant{ID: "g", SessionID: "a"})
	o.put(full("a", 10_000, "x"))
	o.put(&protocol.SessionClose{ID: "c", SessionID: "a"})
	p := &Peer{out: o}
	all := allMessages(p)
	require.Equal(t, []string{"terminal.snapshot", "terminal.control.grant", "terminal.snapshot", "terminal.session.close"}, kinds(all))
	require.Equal(t, "b", protocol.SessionID(all[0]))
	require.Equal(t, uint64(10_000), all[2].(*protocol.Snapshot).Seq)
	require.EqualValues(t, 2*9_999+1, o.counters.droppedSnapshots.Load())
}

func TestOverflowCutsTheParticipantAlone(t *testing.T) {
	h, proxy, agent := scene()
	other := h.Join(Member{Role: RoleViewer})
	for _, p := range []*Peer{agent, other} {
		p.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1"})
	}
	allMessages(other)
	for range maxQueue + 1 {
		proxy.Handle(&protocol.Blackout{ID: "b", SessionID: "vim-1", Why: "user"})
		require.Len(t, allMessages(other), 1)
	}
	_, err := agent.Next(now)
	require.ErrorIs(t, err, ErrSlow)
	require.Empty(t, allMessages(agent), "what it did not fetch is not kept")
	require.EqualValues(t, 1, h.Stats().Dropped["participant"])
}

func TestNextReturnsTheRestAndThenTheReason(t *testing.T) {
	h, proxy, agent := scene()
	viewer := h.Join(Member{Role: RoleViewer})
	_, err := viewer.Next(now)
	require.ErrorIs(t, err, ErrLeft)
	viewer.Handle(&protocol.Input{RequestID: "r", SessionID: "vim-1", Data: "x"})
	m, err := viewer.Next(now)
	require.NoError(t, err)
	require.Equal(t, protocol.CodeForbidden, m.(*protocol.Error).Code)
	_, err = viewer.Next(now)
	require.ErrorIs(t, err, ErrForbidden)
	revoked := errors.New("revoked")
	agent.Handle(&protocol.SessionsList{RequestID: "l"})
	agent.EndAtOnce(revoked)
	_, err = agent.Next(now)
	require.ErrorIs(t, err, revoked)
	everyMessage(proxy)
	h.Close()
	_, err = proxy.Next(now)
	require.ErrorIs(t, err, ErrClosed)
	_, err = h.Join(Member{Role: RoleAgent}).Next(now)
	require.ErrorIs(t, err, ErrClosed)
	proxy.Leave()
}
