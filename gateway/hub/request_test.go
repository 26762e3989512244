package hub

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func TestLongRequestIDsStayUniqueAndLegal(t *testing.T) {
	long := strings.Repeat("x", protocol.MaxID)
	a, b := wireID("a-1", long), wireID("a-1", long[1:]+"y")
	require.True(t, protocol.ValidID(a) && protocol.ValidID(b))
	require.NotEqual(t, a, b)
	require.Equal(t, a, wireID("a-1", long))
	_, proxy, agent := scene()
	agent.Handle(&protocol.Read{RequestID: long, SessionID: "vim-1"})
	proxy.Handle(&protocol.Done{RequestID: onlyMessage[*protocol.Read](t, proxy).RequestID})
	require.Equal(t, long, onlyMessage[*protocol.Done](t, agent).RequestID)
}

// The cancelled call, or the end of its connection, reaches the proxy for every request that waits
// there for the user or in a queue, whichever gateway is in between.
func TestACancelledCallIsWithdrawn(t *testing.T) {
	ask := &protocol.ControlRequest{RequestID: "r", SessionID: "vim-1", AgentName: "a-1", Level: protocol.LevelDrive, Why: "fix it"}
	for name, c := range map[string]struct {
		m             protocol.Message
		called, ended bool // the proxy is told
	}{
		"a question": {ask, true, true},
		"a wait":     {&protocol.Wait{RequestID: "r", SessionID: "vim-1", Until: protocol.Until{Exit: true}}, true, true},
		"an input":   {&protocol.Input{RequestID: "r", SessionID: "vim-1", Data: "x"}, true, true},
		"a message":  {&protocol.Note{RequestID: "r", SessionID: "vim-1", From: protocol.FromAgent, Text: "hi"}, true, false},
		"a read":     {&protocol.Read{RequestID: "r", SessionID: "vim-1"}, false, false},
		"a release":  {&protocol.ControlRelease{RequestID: "r", SessionID: "vim-1"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, ended := range []bool{false, true} {
				h, proxy, _ := scene()
				agent := h.Join(Member{Role: RoleAgent, ID: "a-9", Lasting: true})
				agent.Handle(c.m)
				id := protocol.RequestID(allMessages(proxy)[0])
				want := c.called
				if ended {
					want = c.ended
					agent.Leave()
				} else {
					agent.Handle(&protocol.Cancel{RequestID: "r", SessionID: "vim-1", Withdraw: true})
				}
				var cancels []protocol.Message
				for _, m := range allMessages(proxy) {
					if _, ok := m.(*protocol.Cancel); ok {
						cancels = append(cancels, m)
					}
				}
				if want {
					require.Equal(t, []protocol.Message{&protocol.Cancel{RequestID: id, SessionID: "vim-1", Withdraw: true, Gone: ended}}, cancels)
				} else {
					require.Empty(t, cancels)
				}
				h.Close()
			}
		})
	}

	// It was answered meanwhile, and not heard: the proxy knows to which call it granted control.
	h, proxy, agent := scene()
	agent.Handle(ask)
	request := onlyMessage[*protocol.ControlRequest](t, proxy)
	proxy.Handle(&protocol.ControlGrant{ID: "g", SessionID: "vim-1", RequestID: request.RequestID, AgentID: "a-1", Epoch: 3})
	agent.Handle(&protocol.Cancel{RequestID: "r", SessionID: "vim-1", Withdraw: true})
	require.True(t, onlyMessage[*protocol.Cancel](t, proxy).Withdraw)
	h.Close()
}

func TestManyRequestsAtOnceAreBounded(t *testing.T) {
	_, proxy, agent := scene()
	for i := range maxOpen {
		agent.Handle(&protocol.Read{RequestID: fmt.Sprint(i), SessionID: "vim-1"})
	}
	require.Len(t, allMessages(proxy), maxOpen)
	require.Empty(t, allMessages(agent))
	agent.Handle(&protocol.Read{RequestID: "more", SessionID: "vim-1"})
	mustFail(t, agent, "more", protocol.CodeBusy)
}
