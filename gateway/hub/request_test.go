package hub

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func TestRequestGoesToTheOwnerAndItsAnswerBack(t *testing.T) {
	_, proxy, agent := scene()
	agent.Handle(&protocol.Input{RequestID: "r1", SessionID: "vim-1", Data: "x", AgentID: "somebody-else"})
	in := onlyMessage[*protocol.Input](t, proxy)
	require.Equal(t, "a-1:r1", in.RequestID)
	require.Equal(t, "a-1", in.AgentID, "what the client wrote is ignored")
	proxy.Handle(&protocol.InputResult{ID: "i", RequestID: in.RequestID, SessionID: "vim-1", Status: protocol.StatusWritten})
	require.Equal(t, "r1", onlyMessage[*protocol.InputResult](t, agent).RequestID)

	proxy.Handle(&protocol.InputResult{ID: "i", RequestID: in.RequestID, SessionID: "vim-1", Status: protocol.StatusWritten})
	require.Empty(t, allMessages(agent), "answered once")

	agent.Handle(&protocol.Input{RequestID: "r1", SessionID: "vim-1", Data: "x"})
	require.Equal(t, in.RequestID, onlyMessage[*protocol.Input](t, proxy).RequestID, "a repeated id reaches the proxy as the same")
}

// Keys are typed once, and only owners and people at this machine send them.
func TestOwnersAndPeopleHereSendKeys(t *testing.T) {
	h, proxy, _ := scene()
	m := &protocol.Keys{RequestID: "r1", SessionID: "vim-1", KeyNo: 1, InputKind: protocol.InputText, Data: "x", SignatureB64: []byte("s")}
	page := h.Join(Member{Role: RoleViewer, Local: true})
	for member, allowed := range map[Member]bool{
		{Role: RoleViewer, Local: true}: true, {Role: RoleViewer}: false, {Role: RoleOwner}: true, {Role: RoleAgent, Local: true}: false,
	} {
		p := h.Join(member)
		p.Handle(m)
		if !allowed {
			mustFail(t, p, "r1", protocol.CodeForbidden)
			require.Empty(t, allMessages(proxy))
			continue
		}
		in := onlyMessage[*protocol.Keys](t, proxy)
		require.Equal(t, m.SignatureB64, in.SignatureB64)
		proxy.Handle(&protocol.Done{RequestID: in.RequestID})
		require.Equal(t, "r1", onlyMessage[*protocol.Done](t, p).RequestID)
	}
	page.Handle(m)
	onlyMessage[*protocol.Keys](t, proxy)
	proxy.Leave()
	require.Contains(t, mustFail(t, page, "r1", protocol.CodeUnavailable).Message, "look before you repeat it", "they are not sent twice")
}

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

func TestRepeatedOpenRequestIsOneRequest(t *testing.T) {
	h, proxy, agent := scene()
	again := h.Join(Member{Role: RoleAgent, ID: "a-1"})
	read := &protocol.Read{RequestID: "r1", SessionID: "vim-1"}
	agent.Handle(read)
	again.Handle(read)
	in := onlyMessage[*protocol.Read](t, proxy)
	again.Handle(&protocol.Read{RequestID: "r1", SessionID: "vim-1", Text: true})
	require.Equal(t, "requestId", mustFail(t, again, "r1", protocol.CodeBadMessage).Field)
	agent.Leave()
	proxy.Handle(&protocol.Done{RequestID: in.RequestID})
	onlyMessage[*protocol.Done](t, again)
}

// A wait ends for the proxy when it has no waiter left: it was cancelled, or its agents left. No
// other request is cancelled.
func TestWaitsAreCancelled(t *testing.T) {
	h, proxy, agent := scene()
	again := h.Join(Member{Role: RoleAgent, ID: "a-1"})
	wait := &protocol.Wait{RequestID: "w", SessionID: "vim-1", Until: protocol.Until{Exit: true}}
	agent.Handle(wait)
	again.Handle(wait)
	asked := onlyMessage[*protocol.Wait](t, proxy)
	agent.Handle(&protocol.Cancel{RequestID: "w", SessionID: "vim-1"})
	require.Empty(t, allMessages(proxy), "the other one still waits")
	again.Leave()
	require.Equal(t, &protocol.Cancel{RequestID: asked.RequestID, SessionID: "vim-1", Withdraw: true, Gone: true}, onlyMessage[*protocol.Cancel](t, proxy))
	proxy.Handle(&protocol.WaitResult{ID: "r", RequestID: asked.RequestID, SessionID: "vim-1"})
	require.Empty(t, allMessages(agent))

	stranger := h.Join(Member{Role: RoleAgent, ID: "a-2"})
	agent.Handle(wait)
	onlyMessage[*protocol.Wait](t, proxy)
	stranger.Handle(&protocol.Cancel{RequestID: "w", SessionID: "vim-1"})
	require.NotEqual(t, asked.RequestID, onlyMessage[*protocol.Cancel](t, proxy).RequestID, "another agent's wait is not its own")

	agent.Handle(&protocol.Input{RequestID: "i", SessionID: "vim-1", Data: "x"})
	onlyMessage[*protocol.Input](t, proxy)
	agent.Handle(&protocol.Cancel{RequestID: "i", SessionID: "vim-1"})
	require.Empty(t, allMessages(proxy), "a time limit takes back nothing that may have been typed")
	agent.Handle(&protocol.Cancel{RequestID: "answered", SessionID: "vim-1"})
	onlyMessage[*protocol.Cancel](t, proxy) // it may have been a request for control whose answer was not heard

	agent.Handle(&protocol.ControlRequest{RequestID: "c", SessionID: "vim-1", Level: protocol.LevelDrive, Why: "fix it"})
	request := onlyMessage[*protocol.ControlRequest](t, proxy)
	agent.Handle(&protocol.Cancel{RequestID: "c", SessionID: "vim-1"})
	require.Equal(t, &protocol.Cancel{RequestID: request.RequestID, SessionID: "vim-1"}, onlyMessage[*protocol.Cancel](t, proxy), "its answer is not heard")
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

func TestNoSuchSessionListsThoseThatExist(t *testing.T) {
	h, _, agent := scene()
	agent.Handle(&protocol.Read{RequestID: "r1", SessionID: "nope"})
	require.Contains(t, mustFail(t, agent, "r1", protocol.CodeNoSession).Message, "vim-1")
	empty := New(nil).Join(Member{Role: RoleAgent})
	empty.Handle(&protocol.SessionsSubscribe{RequestID: "r2", SessionID: "nope"})
	require.Contains(t, mustFail(t, empty, "r2", protocol.CodeNoSession).Message, "proxy --agent")
	agent.Handle(&protocol.Input{RequestID: "r3", Data: "x"})
	require.Equal(t, "sessionId", mustFail(t, agent, "r3", protocol.CodeBadMessage).Field)
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

func TestProxyThatDoesNotAnswerTimesOut(t *testing.T) {
	inScene(t, func(t *testing.T, _ *Hub, proxy, agent *Peer) {
		agent.Handle(&protocol.Wait{RequestID: "w", SessionID: "vim-1", Until: protocol.Until{Exit: true}, TimeoutMs: 2000})
		agent.Handle(&protocol.ControlRequest{RequestID: "c", SessionID: "vim-1", Level: protocol.LevelDrive, Why: "please"})
		sent := allMessages(proxy)
		time.Sleep(12*time.Second - time.Millisecond)
		synctest.Wait()
		require.Empty(t, allMessages(agent))
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		mustFail(t, agent, "w", protocol.CodeTimeout)
		time.Sleep(time.Hour)
		require.Empty(t, allMessages(agent), "a person may take as long as it takes")
		proxy.Handle(&protocol.ControlGrant{ID: "g", SessionID: "vim-1", RequestID: protocol.RequestID(sent[1]), AgentID: "a-1", Epoch: 3})
		require.Equal(t, "c", onlyMessage[*protocol.ControlGrant](t, agent).RequestID)
	})
}
