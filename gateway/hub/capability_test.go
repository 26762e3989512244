package hub

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// closedSet reads the kinds of all messages from the source of package protocol: from its table, so that a new message is in
// the matrix before anybody thinks of it.
func closedSet(t *testing.T) []string {
	t.Helper()
	source, err := os.ReadFile("../../protocol/set.go")
	require.NoError(t, err)
	var kinds []string
	for _, row := range regexp.MustCompile(`(?m)^\t\{"([a-z.]+)", new\(`).FindAllSubmatch(source, -1) {
		kinds = append(kinds, string(row[1]))
	}
	require.NotEmpty(t, kinds)
	return kinds
}

// sample is a message of every kind that somebody may send.
func samples() []protocol.Message {
	return []protocol.Message{
		full("x", 1, "x"),
		&protocol.ControlGrant{ID: "i", SessionID: "x"},
		&protocol.ControlRevoke{ID: "i", SessionID: "x"},
		opening("y", "k"),
		&protocol.SessionClose{ID: "i", SessionID: "x"},
		&protocol.Output{ID: "i", SessionID: "x"},
		&protocol.Resize{ID: "i", SessionID: "x", Cols: 1, Rows: 1},
		&protocol.Blackout{ID: "i", SessionID: "x", Why: "user"},
		&protocol.InputResult{ID: "i", RequestID: "r", SessionID: "x", Status: protocol.StatusWritten},
		&protocol.WaitResult{ID: "i", RequestID: "r", SessionID: "x"},
		&protocol.ReadResult{ID: "i", RequestID: "r", SessionID: "x", Frame: &protocol.Frame{}},
		&protocol.ProxyStarted{ID: "i", RequestID: "r"},
		&protocol.Note{RequestID: "r", SessionID: "x", From: "agent", Text: "x"},
		&protocol.Input{RequestID: "r", SessionID: "x", Data: "x"},
		&protocol.ProxyStart{RequestID: "r", Command: "x"},
		&protocol.ControlRequest{RequestID: "r", SessionID: "x", Level: protocol.LevelType, Why: "x"},
		&protocol.ControlRelease{RequestID: "r", SessionID: "x"},
		&protocol.AgentPresence{SessionID: "x", AgentID: "a"},
		&protocol.ControlDecide{RequestID: "r", SessionID: "x", Grant: true, By: "x"},
		&protocol.Wait{RequestID: "r", SessionID: "x", Until: protocol.Until{Exit: true}},
		&protocol.Read{RequestID: "r", SessionID: "x"},
		&protocol.ProxyHost{RequestID: "r", HostKey: secret},
		&protocol.Attach{RequestID: "r", SessionID: "x", Cols: 80, Rows: 24},
		&protocol.Detach{SessionID: "x"},
		&protocol.ViewerInput{SessionID: "x", DataB64: []byte("x")},
		&protocol.View{RequestID: "r", SessionID: "x"},
		&protocol.Unview{SessionID: "x"},
		&protocol.Ack{SessionID: "x", Seq: 1},
		&protocol.Rows{SessionID: "x", Seq: 1, Cols: 4, Rows: 2, State: &protocol.ViewState{}},
		&protocol.Watch{SessionID: "x"},
		&protocol.Unwatch{SessionID: "x"},
		&protocol.Cancel{RequestID: "r", SessionID: "x"},
		&protocol.Close{RequestID: "r", SessionID: "x"},
		&protocol.SessionsList{RequestID: "r"},
		&protocol.SessionsListResult{RequestID: "r"},
		&protocol.SessionsWatch{RequestID: "r"},
		&protocol.SessionsChanged{},
		&protocol.SessionsSubscribe{RequestID: "r", SessionID: "x"},
		&protocol.Done{RequestID: "r"},
		&protocol.Error{RequestID: "r", Code: protocol.CodeBusy, Message: "x"},
	}
}

// R52: every message has a row that says who may send it, and whoever else sends it gets "forbidden" and nothing else
// happens.
func TestR52RoleAndMessageMatrix(t *testing.T) {
	all := closedSet(t)
	rows := make([]string, 0, len(senders))
	for kind := range senders {
		rows = append(rows, kind)
	}
	require.ElementsMatch(t, all, rows, "a message without a row in capability.go")
	messages := samples()
	require.Len(t, messages, len(all), "a message without a sample")
	for _, m := range messages {
		kind := protocol.KindOf(m)
		for _, role := range []Role{RoleProxy, RoleAgent, RoleViewer, RoleOwner} {
			t.Run(string(role)+"/"+kind, func(t *testing.T) {
				h := New(nil)
				defer h.Close()
				owner := h.Join(Member{Role: RoleProxy})
				owner.Handle(opening("x", "k"))
				p := h.Join(Member{Role: role})
				p.Handle(m)
				forbidden := slices.ContainsFunc(got(p), func(m protocol.Message) bool {
					e, ok := m.(*protocol.Error)
					return ok && e.Code == protocol.CodeForbidden
				})
				require.Equal(t, !slices.Contains(senders[kind], role), forbidden)
				if forbidden {
					require.Empty(t, got(owner), "the proxy hears nothing of it")
				}
			})
		}
	}
}

// The rows that matter most, written out: the table cannot be widened without changing this.
func TestR52OnlyOwnersDecide(t *testing.T) {
	require.Equal(t, []Role{RoleOwner}, senders["terminal.control.decide"])
	require.Equal(t, []Role{RoleProxy}, senders["terminal.control.grant"])
	require.Equal(t, []Role{RoleAgent}, senders["terminal.input"])
	viewer := []string{}
	for kind, roles := range senders {
		if slices.Contains(roles, RoleViewer) {
			viewer = append(viewer, kind)
		}
	}
	require.ElementsMatch(t, []string{
		"terminal.read", "terminal.view", "terminal.unview", "terminal.ack", "sessions.list", "sessions.watch", "sessions.subscribe",
	}, viewer)
}

// A process of the user's own may take away, and pass on what an owner signed; an agent may neither, wherever it runs.
func TestR52LocalViewersTakeAwayOnly(t *testing.T) {
	decide := func(change func(*protocol.ControlDecide)) *protocol.ControlDecide {
		m := &protocol.ControlDecide{RequestID: "d", SessionID: "vim-1", By: "x"}
		change(m)
		return m
	}
	for name, c := range map[string]struct {
		m     *protocol.ControlDecide
		local bool
	}{
		"take back":     {decide(func(*protocol.ControlDecide) {}), true},
		"hide":          {decide(func(m *protocol.ControlDecide) { m.Hide = protocol.HideOn }), true},
		"show":          {decide(func(m *protocol.ControlDecide) { m.Hide = protocol.HideOff }), false},
		"grant":         {decide(func(m *protocol.ControlDecide) { m.Grant = true }), false},
		"signed grant":  {decide(func(m *protocol.ControlDecide) { m.Grant, m.SignatureB64 = true, []byte("s") }), true},
		"signed show":   {decide(func(m *protocol.ControlDecide) { m.Hide, m.SignatureB64 = protocol.HideOff, []byte("s") }), true},
		"hide, granted": {decide(func(m *protocol.ControlDecide) { m.Hide, m.Grant = protocol.HideOn, true }), true},
	} {
		for member, allowed := range map[Member]bool{
			{Role: RoleViewer, Local: true}: c.local, {Role: RoleViewer}: false, {Role: RoleOwner}: true,
			{Role: RoleAgent, Local: true}: false, {Role: RoleAgent}: false, {Role: RoleProxy, Local: true}: false,
		} {
			t.Run(fmt.Sprintf("%s/%s local=%t", name, member.Role, member.Local), func(t *testing.T) {
				h, proxy, _ := scene()
				defer h.Close()
				p := h.Join(member)
				p.Handle(c.m)
				if allowed {
					require.Empty(t, got(p))
					one[*protocol.ControlDecide](t, proxy)
					return
				}
				require.Equal(t, protocol.CodeForbidden, one[*protocol.Error](t, p).Code)
				require.Empty(t, got(proxy))
			})
		}
	}
}

func TestOwnersDecisionCarriesTheNameThatTheGatewayKnows(t *testing.T) {
	h, proxy, _ := scene()
	owner := h.Join(Member{Role: RoleOwner, Name: "phone", Named: true})
	owner.Handle(&protocol.ControlDecide{RequestID: "d", SessionID: "vim-1", Grant: true, By: "somebody"})
	require.Equal(t, "phone", one[*protocol.ControlDecide](t, proxy).By)
}

// R56: another namespace's session is answered like one that does not exist, whatever the message.
func TestR56NamespacesDoNotSeeEachOther(t *testing.T) {
	h := New(nil)
	defer h.Close()
	proxy := h.Join(Member{Role: RoleProxy, Namespace: "b"})
	proxy.Handle(opening("x", "k"))
	for _, m := range samples() {
		for _, role := range senders[protocol.KindOf(m)] {
			if protocol.SessionID(m) != "x" {
				continue
			}
			t.Run(string(role)+"/"+protocol.KindOf(m), func(t *testing.T) {
				p := h.Join(Member{Role: role, Namespace: "a"})
				defer p.Leave()
				p.Handle(m)
				e := one[*protocol.Error](t, p)
				require.Equal(t, protocol.CodeNoSession, e.Code)
				if role != RoleProxy {
					require.NotContains(t, e.Message, "there are:")
				}
				require.Empty(t, got(proxy))
			})
		}
	}
	agent := h.Join(Member{Role: RoleAgent, Namespace: "a"})
	agent.Handle(&protocol.SessionsList{RequestID: "l"})
	require.Empty(t, one[*protocol.SessionsListResult](t, agent).Sessions)
	// The same id in two namespaces is two sessions.
	twin := h.Join(Member{Role: RoleProxy, Namespace: "a"})
	twin.Handle(opening("x", "other"))
	require.Empty(t, got(twin))
}
