package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// A proxy's lost connection costs its askers only time: it is asked again under the same ids, in
// the same order. What must not be asked twice ends.
func TestAReturningProxyIsAskedAgain(t *testing.T) {
	inScene(t, func(t *testing.T, h *Hub, proxy, agent *Peer) {
		agent.Handle(&protocol.Input{RequestID: "i1", SessionID: "vim-1", Data: "x", Epoch: 3})
		agent.Handle(&protocol.Wait{RequestID: "w", SessionID: "vim-1", Until: protocol.Until{Exit: true}, TimeoutMs: 60_000})
		agent.Handle(&protocol.Note{RequestID: "n", SessionID: "vim-1", Text: "hello", From: protocol.FromAgent})
		sent := allMessages(proxy)
		require.Len(t, sent, 3)
		time.Sleep(5 * time.Second)
		proxy.Leave()
		require.Contains(t, mustFail(t, agent, "n", protocol.CodeUnavailable).Message, "it is unknown whether this took effect: look before you repeat it")

		agent.Handle(&protocol.Input{RequestID: "i2", SessionID: "vim-1", Data: "y"})
		agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1"})
		agent.Handle(&protocol.Read{RequestID: "nobody", SessionID: "vim-1"})
		agent.Handle(&protocol.Wait{RequestID: "given up", SessionID: "vim-1", Until: protocol.Until{Exit: true}})
		agent.Handle(&protocol.Cancel{RequestID: "given up", SessionID: "vim-1"})
		agent.Handle(&protocol.Note{RequestID: "n2", SessionID: "vim-1", Text: "hello", From: protocol.FromAgent})
		require.Contains(t, mustFail(t, agent, "n2", protocol.CodeUnavailable).Message, "nothing was done")
		time.Sleep(4 * time.Second)
		proxy = h.Join(Member{Role: RoleProxy})
		proxy.Handle(opening("vim-1", "secret"))
		again := allMessages(proxy)
		require.Equal(t, []string{"terminal.input", "terminal.wait", "terminal.input", "terminal.read", "terminal.read"}, kinds(again))
		require.Equal(t, sent[0], again[0], "by its id the proxy knows what it has typed")
		require.Equal(t, "a-1:w", again[1].(*protocol.Wait).RequestID)
		require.Equal(t, int64(51_000), again[1].(*protocol.Wait).TimeoutMs, "what is left of it")
		require.Empty(t, allMessages(agent), "nobody is told of what is repeated")

		proxy.Handle(&protocol.InputResult{ID: "i", RequestID: "a-1:i1", SessionID: "vim-1", Status: protocol.StatusWritten})
		require.Equal(t, "i1", onlyMessage[*protocol.InputResult](t, agent).RequestID)
		time.Sleep(62 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"error", "error", "error"}, kinds(allMessages(agent)), "there is a limit to it again")
	})
}

// If a proxy stays away, each asker is told that the outcome of its input is unknown.
func TestWithoutItsProxyAnInputsOutcomeIsUnknown(t *testing.T) {
	inScene(t, func(t *testing.T, h *Hub, proxy, agent *Peer) {
		agent.Handle(&protocol.Input{RequestID: "late", SessionID: "vim-1", Data: "x", TimeoutMs: 1000})
		time.Sleep(12 * time.Second)
		synctest.Wait()
		require.Contains(t, mustFail(t, agent, "late", protocol.CodeTimeout).Message, "it is unknown whether this was typed: read the screen")

		agent.Handle(&protocol.Input{RequestID: "before", SessionID: "vim-1", Data: "x"})
		proxy.Leave()
		time.Sleep(4 * time.Second)
		require.Empty(t, allMessages(agent))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Contains(t, mustFail(t, agent, "before", protocol.CodeUnavailable).Message, "did not reconnect; it is unknown whether this was typed: read the screen")

		next := h.Join(Member{Role: RoleProxy})
		next.Handle(opening("vim-1", "secret"))
		agent.Handle(&protocol.Input{RequestID: "last", SessionID: "vim-1", Data: "x"})
		next.Leave()
		next = h.Join(Member{Role: RoleProxy})
		next.Handle(opening("vim-1", "secret"))
		agent.Handle(&protocol.Input{RequestID: "too late", SessionID: "vim-1", Data: "x"})
		next.Handle(&protocol.SessionClose{ID: "c", SessionID: "vim-1"})
		ends := make(map[string]*protocol.Error)
		for _, m := range allMessages(agent) {
			ends[protocol.RequestID(m)], _ = m.(*protocol.Error)
		}
		require.Contains(t, ends["last"].Message, "it is unknown whether this was typed", "it may be what ended the program")
		require.Equal(t, protocol.CodeUnavailable, ends["last"].Code)
		require.Equal(t, protocol.CodeExited, ends["too late"].Code)

		next.Handle(opening("vim-1", "secret"))
		next.Leave()
		agent.Handle(&protocol.Input{RequestID: "after", SessionID: "vim-1", Data: "x"})
		time.Sleep(6 * time.Second)
		synctest.Wait()
		r := onlyMessage[*protocol.InputResult](t, agent)
		require.Equal(t, protocol.StatusRefused, r.Status)
		require.Equal(t, protocol.CodeUnavailable, r.Reason)
		require.Contains(t, r.Message, "nothing was typed")
	})
}

// An agent repeats a wait over a new connection, with the remaining time, before its old connection
// is seen to be gone.
func TestARepeatedWaitIsOneWait(t *testing.T) {
	_, proxy, agent := scene()
	ask := protocol.Wait{RequestID: "w", SessionID: "vim-1", Until: protocol.Until{Text: "x"}, TimeoutMs: 60_000}
	agent.Handle(&ask)
	onlyMessage[*protocol.Wait](t, proxy)
	again := agent.hub.Join(agent.member)
	rest := ask
	rest.TimeoutMs = 30_000
	again.Handle(&rest)
	require.Empty(t, allMessages(proxy))
	other := rest
	other.Until.Text = "y"
	again.Handle(&other)
	mustFail(t, again, "w", protocol.CodeBadMessage)
	agent.Leave()
	proxy.Handle(&protocol.WaitResult{ID: "m", RequestID: "a-1:w", SessionID: "vim-1", Met: true})
	require.True(t, onlyMessage[*protocol.WaitResult](t, again).Met)
}
