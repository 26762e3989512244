package cluster

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

func TestAHostOfAnotherGatewayStartsAProgram(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, b, _ *node) {
		host, agent := a.proxy(), b.joins("agent", "a-1")
		host.Handle(&protocol.ProxyHost{RequestID: "h", HostKey: "a-secret-of-the-hosts-own-that-is-long-enough"})
		next[*protocol.Done](host)
		agent.Handle(&protocol.ProxyStart{RequestID: "s", HostKey: "another-secret-of-nobody-that-is-long-enough", Command: "sh"})
		refused, ok := next[protocol.Message](agent).(*protocol.Error)
		require.True(t, ok)
		require.Contains(t, refused.Message, "no host of yours")
		agent.Handle(&protocol.ProxyStart{RequestID: "s", HostKey: "a-secret-of-the-hosts-own-that-is-long-enough", Command: "sh"})
		asked := next[*protocol.ProxyStart](host)
		require.Equal(t, "a-1", asked.AgentID)
		host.Handle(opening("one"))
		host.Handle(&protocol.ProxyStarted{ID: "x", RequestID: asked.RequestID, SessionID: "one"})
		require.Equal(t, "one", next[*protocol.ProxyStarted](agent).SessionID)
		agent.Handle(&protocol.Close{RequestID: "c", SessionID: "one"})
		require.Equal(t, "a-1", next[*protocol.Close](host).AgentID)
	})
}

func TestAConversationCrossesAndGoesOnAfterAMove(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, b, c *node) {
		proxy, owner := a.proxy(), c.joins("owner", "o-1")
		open := opening("one")
		open.Chat = true
		proxy.Handle(open)
		owner.Handle(&protocol.ChatSubscribe{RequestID: "f", SessionID: "one"})
		next[*protocol.Done](owner)
		follows := next[*protocol.ChatSubscribe](proxy)
		proxy.Handle(&protocol.Done{RequestID: follows.RequestID})
		proxy.Handle(records("one", 1, 2))
		require.Len(t, next[*protocol.ChatRecords](owner).Records, 2)
		proxy.Leave()
		again := b.proxy()
		again.Handle(open)
		follows = next[*protocol.ChatSubscribe](again)
		require.NotEmpty(t, follows.RequestID)
		again.Handle(&protocol.Done{RequestID: follows.RequestID})
		again.Handle(records("one", 1, 2, 3)) // it is not sent what it has
		require.Equal(t, uint64(3), next[*protocol.ChatRecords](owner).Records[0].Number)
	})
}

func records(id string, numbers ...uint64) *protocol.ChatRecords {
	m := &protocol.ChatRecords{SessionID: id}
	for _, n := range numbers {
		m.Records = append(m.Records, protocol.ChatRecord{Number: n, State: "idle"})
	}
	return m
}

func TestLiveOutputCrossesAndIsRepaintedForTheSlow(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, b, _ *node) {
		proxy, owner := a.proxy(), b.joins("owner", "o-1")
		proxy.Handle(opening("one"))
		owner.Handle(&protocol.Watch{SessionID: "one"})
		next[*protocol.Watch](proxy)
		repaint := &protocol.Output{ID: "o", SessionID: "one", Repaint: true, Cols: 4, Rows: 1}
		proxy.Handle(repaint)
		require.True(t, next[*protocol.Output](owner).Repaint)
		for seq := uint64(0); seq < 5000; seq++ {
			proxy.Handle(&protocol.Output{ID: "o", SessionID: "one", Seq: seq, DataB64: []byte("x")})
			if seq%50 == 0 {
				synctest.Wait()
			}
		}
		synctest.Wait()
		for { // it gets the available records, and how many are missing
			if _, err := owner.Next(atOnce); err != nil {
				break
			}
		}
		next[*protocol.Watch](proxy)
		repaint.Seq = 5000
		proxy.Handle(repaint)
		require.Equal(t, uint64(5000), next[*protocol.Output](owner).Seq)
		owner.Handle(&protocol.Unwatch{SessionID: "one"})
		next[*protocol.Unwatch](proxy)
	})
}

// An agent that makes only plain HTTP requests is away between them, wherever the session is.
func TestPresenceCrosses(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, b, _ *node) {
		proxy, agent := a.proxy(), b.joins("agent", "a-1")
		open := opening("one")
		proxy.Handle(open)
		agent.Handle(&protocol.ControlRequest{RequestID: "r", SessionID: "one", Level: protocol.LevelDrive, Why: "to help"})
		next[*protocol.ControlRequest](proxy)
		agent.MarkIdle()
		require.False(t, next[*protocol.AgentPresence](proxy).Connected)
		agent.MarkBusy()
		require.True(t, next[*protocol.AgentPresence](proxy).Connected)
	})
}

func TestWithoutATokenThereIsThisGatewayAlone(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, b, _ *node) {
		proxy, mine := a.proxy(), b.proxy()
		proxy.Handle(opening("one"))
		mine.Handle(opening("two"))
		waitForList(b.joins("agent", "a-1"), "one", "two")
		local := b.enters(hub.Member{Role: hub.RoleAgent, ID: "a-2", Local: true})
		waitForList(local, "two")
		local.Handle(&protocol.Read{RequestID: "r", SessionID: "one"})
		refused, ok := next[protocol.Message](local).(*protocol.Error)
		require.True(t, ok)
		require.Equal(t, protocol.CodeNoSession, refused.Code)
	})
}
