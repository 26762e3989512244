package cluster

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// waitForList waits until a participant's list has just these sessions.
func waitForList(p *player, ids ...string) {
	p.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		p.Handle(&protocol.SessionsList{RequestID: "list"})
		got := []string{}
		for _, info := range next[*protocol.SessionsListResult](p).Sessions {
			got = append(got, info.SessionID)
		}
		if len(got) == len(ids) {
			require.ElementsMatch(p.t, ids, got)
			return
		}
		require.True(p.t, time.Now().Before(end), "the list has %v, not %v", got, ids)
	}
}

func TestAListHasTheSessionsOfAllGateways(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, b, c *node) {
		pa, pb := a.proxy(), b.proxy()
		pa.Handle(opening("one"))
		pb.Handle(opening("two"))
		agent, other := c.joins("agent", "a-1"), c.joins("other", "a-2")
		agent.Handle(&protocol.SessionsList{RequestID: "1"})
		require.Len(t, next[*protocol.SessionsListResult](agent).Sessions, 2, "the first list is whole")
		waitForList(other)
		other.Handle(&protocol.Read{RequestID: "r", SessionID: "one"})
		require.Equal(t, protocol.CodeNoSession, nextError(other).Code)
		pa.Handle(&protocol.SessionClose{ID: "c", SessionID: "one"})
		agent.Handle(&protocol.SessionsWatch{RequestID: "w"})
		for {
			changed := next[*protocol.SessionsChanged](agent)
			for _, info := range changed.Sessions {
				if info.SessionID == "one" && info.State == protocol.StateExited {
					return
				}
			}
		}
	})
}

func TestRequestsCrossAndComeBack(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, b, _ *node) {
		proxy, agent := a.proxy(), b.joins("agent", "a-1")
		proxy.Handle(opening("one"))
		agent.Handle(&protocol.ControlRequest{RequestID: "r1", SessionID: "one", Level: protocol.LevelDrive, Why: "to help"})
		asked := next[*protocol.ControlRequest](proxy)
		require.Equal(t, "a-1", asked.AgentID)
		proxy.Handle(&protocol.ControlGrant{ID: "g", RequestID: asked.RequestID, SessionID: "one", AgentID: "a-1", Level: protocol.LevelDrive, Epoch: 7})
		granted := next[*protocol.ControlGrant](agent)
		require.Equal(t, "r1", granted.RequestID)
		require.True(t, agent.IsUrgent(), "its end is noticed soon")

		agent.Handle(&protocol.Input{RequestID: "i1", SessionID: "one", Epoch: 7, Data: "ls"})
		typed := next[*protocol.Input](proxy)
		require.Equal(t, uint64(7), typed.Epoch)
		require.Equal(t, "a-1", typed.AgentID)
		proxy.Handle(&protocol.InputResult{ID: "r", RequestID: typed.RequestID, SessionID: "one", Status: protocol.StatusWritten})
		require.Equal(t, "i1", next[*protocol.InputResult](agent).RequestID)

		proxy.Handle(&protocol.ControlRevoke{ID: "v", SessionID: "one", AgentID: "a-1", Epoch: 8, Reason: protocol.ReasonReclaimed})
		require.Equal(t, protocol.ReasonReclaimed, next[*protocol.ControlRevoke](agent).Reason)
		require.False(t, agent.IsUrgent())

		agent.Leave() // it has no lasting identity: the proxy is told that it left
		require.True(t, next[*protocol.ControlRelease](proxy).Gone)
	})
}

func TestStreamsCross(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, b, _ *node) {
		proxy, viewer := a.proxy(), b.joins("viewer", "v-1")
		proxy.Handle(opening("one"))
		proxy.Handle(screen("one", 1, "a"))
		for round, deltas := range []bool{false, true} {
			viewer.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "one", Changes: true, Deltas: deltas})
			next[*protocol.Done](viewer)
			newest, first := next[*protocol.Snapshot](viewer), uint64(1000*(1+round))
			for seq := range uint64(300) {
				proxy.Handle(screen("one", first+seq, fmt.Sprint("b ", seq)))
			}
			for newest.Seq < first+299 { // those between may be left out
				part := next[protocol.SnapshotPart](viewer)
				_, isDelta := part.(*protocol.SnapshotDelta)
				require.Equal(t, deltas, isDelta)
				var ok bool
				newest, ok = part.Complete(newest)
				require.True(t, ok)
			}
			require.Equal(t, []string{"b 299"}, newest.Screen.Lines)
		}
		viewer.Handle(&protocol.View{RequestID: "v", SessionID: "one"})
		next[*protocol.View](proxy)
		proxy.Handle(rows("one", 1, "x"))
		require.Equal(t, []string{"x"}, next[*protocol.Rows](viewer).Lines)
		proxy.Handle(rows("one", 2, "y"))
		expectNothing(viewer) // it has not acknowledged the first
		viewer.Handle(&protocol.Ack{SessionID: "one", Seq: 1})
		next[*protocol.Rows](viewer)
		proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "one"})
		next[*protocol.SessionClose](viewer)
	})
}

func TestAnUnwatchedSessionIsNotSent(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, _, _ *node) {
		proxy := a.proxy()
		proxy.Handle(opening("one"))
		synctest.Wait()
		before := a.cluster.mesh.stats.sent.Load()
		for seq := uint64(1); seq < 100; seq++ {
			proxy.Handle(screen("one", seq, "b"))
			time.Sleep(10 * time.Millisecond)
		}
		require.Equal(t, before, a.cluster.mesh.stats.sent.Load())
	})
}

func rows(id string, seq uint64, line string) *protocol.Rows {
	return &protocol.Rows{
		SessionID: id, Seq: seq, Rev: seq, Cols: 4, Rows: 1, Lines: []string{line}, State: &protocol.ViewState{Keyboard: protocol.Keyboard{Holder: protocol.HolderUser}},
	}
}

func TestAMovingProxyKeepsItsRequests(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, b, c *node) {
		proxy, here, there, at := a.proxy(), a.joins("agent", "a-1"), c.joins("agent", "a-2"), b.joins("agent", "a-3")
		proxy.Handle(opening("one"))
		proxy.Handle(screen("one", 1, "a"))
		all := []*player{here, there, at}
		for _, p := range all {
			p.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "one"})
			next[*protocol.Snapshot](p)
			p.Handle(&protocol.Wait{RequestID: "w", SessionID: "one", Until: protocol.Until{Text: "done"}, TimeoutMs: 60000})
		}
		for range all {
			next[*protocol.Wait](proxy)
		}
		proxy.Leave()
		again := b.proxy()
		again.Handle(opening("one"))
		again.Handle(screen("one", 2, "b"))
		for range all {
			asked := next[*protocol.Wait](again)
			again.Handle(&protocol.WaitResult{ID: "r", RequestID: asked.RequestID, SessionID: "one", Met: true, Frame: &protocol.Frame{Screen: protocol.Screen{Cols: 4, Rows: 1, Lines: []string{"b"}}}})
		}
		for _, p := range all {
			seen := map[string]bool{}
			for len(seen) < 2 {
				switch m := next[protocol.Message](p).(type) {
				case *protocol.Snapshot:
					require.Equal(t, uint64(2), m.Seq)
					seen["screen"] = true
				case *protocol.WaitResult:
					require.Equal(t, "w", m.RequestID)
					seen["answer"] = true
				case *protocol.Done: // of an earlier subscription
				default:
					require.Fail(t, "unexpected", "%T %+v", m, m)
				}
			}
		}
		require.False(t, a.hub.HasSession("", "one"))
		waitForList(there, "one")
	})
}

func TestAKeyOpensASessionAndNoOther(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, b, _ *node) {
		proxy, thief := a.proxy(), b.proxy()
		proxy.Handle(opening("one"))
		m := opening("one")
		m.ResumeKey = "a guess"
		thief.Handle(m)
		refused, ok := next[protocol.Message](thief).(*protocol.Error)
		require.True(t, ok)
		require.Equal(t, protocol.CodeForbidden, refused.Code)
		require.False(t, b.hub.HasSession("", "one"))
	})
}

func TestSessionsMoveWhenTheirGatewayDies(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, b, c *node) {
		proxy, agent := a.proxy(), c.joins("agent", "a-1")
		proxy.Handle(opening("one"))
		agent.Handle(&protocol.ControlRequest{RequestID: "r1", SessionID: "one", Level: protocol.LevelDrive, Why: "to help"})
		asked := next[*protocol.ControlRequest](proxy)
		proxy.Handle(&protocol.ControlGrant{ID: "g", RequestID: asked.RequestID, SessionID: "one", AgentID: "a-1", Level: protocol.LevelDrive, Epoch: 7})
		next[*protocol.ControlGrant](agent)
		time.Sleep(time.Second) // of the test's time: the list says so
		agent.Handle(&protocol.Input{RequestID: "i1", SessionID: "one", Epoch: 7, Data: "ls"})
		next[*protocol.Input](proxy)
		began := time.Now()
		a.vanish()
		again := b.proxy()
		again.Handle(opening("one"))
		typed := next[*protocol.Input](again)
		require.Less(t, time.Since(began), 3*time.Second, "of the test's time")
		require.Equal(t, "a-1:i1", typed.RequestID, "under the same id, so that the proxy knows what it has typed")
		again.Handle(&protocol.InputResult{ID: "r", RequestID: typed.RequestID, SessionID: "one", Status: protocol.StatusRefused, Reason: protocol.CodeNoGrant})
		for heard := map[string]bool{}; len(heard) < 2; {
			switch m := next[protocol.Message](agent).(type) {
			case *protocol.ControlRevoke:
				require.Equal(t, protocol.ReasonLink, m.Reason)
				heard["revoke"] = true
			case *protocol.InputResult:
				heard["receipt"] = true
			}
		}
	})
}
