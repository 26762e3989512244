package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

const secret = "only-this-agent-and-its-host"

// hosted is a scene with a host beside the proxy.
func hosted(t *testing.T) (h *Hub, host, agent *Peer) {
	t.Helper()
	h, _, agent = scene()
	host = h.Join(Member{Role: RoleProxy})
	host.Handle(&protocol.ProxyHost{RequestID: "h", HostKey: secret})
	require.Equal(t, "h", onlyMessage[*protocol.Done](t, host).RequestID)
	return h, host, agent
}

func start(key string) *protocol.ProxyStart {
	return &protocol.ProxyStart{RequestID: "r", Command: "sh", HostKey: key, AgentID: "somebody-else"}
}

func TestAStartGoesToTheAgentsOwnHost(t *testing.T) {
	h, host, agent := hosted(t)
	agent.Handle(start(secret))
	m := onlyMessage[*protocol.ProxyStart](t, host)
	require.Equal(t, "a-1:r", m.RequestID)
	require.Equal(t, "a-1", m.AgentID)
	require.Equal(t, "claude", m.AgentName)
	require.Empty(t, m.HostKey, "a gateway never passes it on")

	host.Handle(&protocol.ProxyStarted{ID: "i", RequestID: m.RequestID, SessionID: "sh-1"})
	require.Empty(t, allMessages(agent), "a session that cannot be read yet is no answer")
	own := h.Join(Member{Role: RoleProxy})
	own.Handle(opening("sh-1", "k"))
	answer := onlyMessage[*protocol.ProxyStarted](t, agent)
	require.Equal(t, "r", answer.RequestID)
	require.Equal(t, "sh-1", answer.SessionID)
	require.Empty(t, h.hosts.starting)
	require.Empty(t, host.unanswered)
}

func TestAStartThatFailsIsAnsweredAtOnce(t *testing.T) {
	_, host, agent := hosted(t)
	agent.Handle(start(secret))
	host.Handle(&protocol.ProxyStarted{ID: "i", RequestID: "a-1:r", Error: "sh: command not found"})
	_ = allMessages(host)
	require.Equal(t, "sh: command not found", onlyMessage[*protocol.ProxyStarted](t, agent).Error)
}

// R33: only the host that shares the agent's secret, in its namespace, is asked.
func TestOnlyTheAgentsOwnHostIsAskedR33(t *testing.T) {
	h, host, agent := hosted(t)
	for name, who := range map[string]struct {
		peer *Peer
		key  string
	}{
		"another key":       {agent, secret + "x"},
		"no key":            {agent, ""},
		"another namespace": {h.Join(Member{Role: RoleAgent, ID: "a-2", Namespace: "n"}), secret},
	} {
		t.Run(name, func(t *testing.T) {
			who.peer.Handle(start(who.key))
			require.Contains(t, mustFail(t, who.peer, "r", protocol.CodeUnavailable).Message, "nothing was started")
			require.Empty(t, allMessages(host))
		})
	}
	host.Leave()
	agent.Handle(start(secret))
	mustFail(t, agent, "r", protocol.CodeUnavailable)
	require.Empty(t, h.hosts.connected)
}

func TestAHostThatGoesAwayOrHangsIsAnswered(t *testing.T) {
	_, host, agent := hosted(t)
	agent.Handle(start(secret))
	host.Leave()
	require.Contains(t, mustFail(t, agent, "r", protocol.CodeUnavailable).Message, "disappeared")

	synctest.Test(t, func(t *testing.T) {
		h, host, agent := hosted(t)
		agent.Handle(start(secret))
		host.Handle(&protocol.ProxyStarted{ID: "i", RequestID: "a-1:r", SessionID: "sh-1"})
		time.Sleep(grace)
		synctest.Wait()
		mustFail(t, agent, "r", protocol.CodeTimeout)
		require.Empty(t, h.hosts.starting)
		h.Close()
	})
}

func TestAnAgentWithTwoConnectionsIsNotGoneWithOne(t *testing.T) {
	h, proxy, agent := scene()
	second := h.Join(Member{Role: RoleAgent, ID: "a-1"})
	agent.Handle(&protocol.ControlRequest{RequestID: "r", SessionID: "vim-1", Level: protocol.LevelDrive, Why: "x"})
	onlyMessage[*protocol.ControlRequest](t, proxy)
	second.Leave()
	require.Empty(t, allMessages(proxy))
	agent.Leave()
	sent := allMessages(proxy)
	require.Len(t, sent, 2, "nobody waits for the answer, and nobody is there")
	require.IsType(t, &protocol.Cancel{}, sent[0])
	require.True(t, sent[1].(*protocol.ControlRelease).Gone)
}
