package proxy

import (
	"crypto/ed25519"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/detached/headless"
)

// page types with a key of its own.
type page struct {
	p       *fakePeer
	key     ed25519.PrivateKey
	id      string
	started int64
	no      uint64
}

// pageOn opens a page on a session that an agent started, whose program shows what it reads.
func pageOn(t *testing.T) *page {
	t.Helper()
	t.Parallel() // it waits more than it computes
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	g := newFakeGateway(t)
	g.run(headless.Config{Owner: func(message, signature []byte) (protocol.Signer, error) {
		if !ed25519.Verify(public, message, signature) {
			return protocol.Signer{}, errors.New("no owner signed it")
		}
		return protocol.Signer{Name: "ada"}, nil
	}})
	g.host.send(starting("sh", "-c", reader))
	p := g.peer()
	open := hear[*protocol.SessionOpen](p, nil)
	p.waitForText("ready")
	if p.holder != protocol.HolderAgent {
		hear(p, func(m *protocol.Snapshot) bool { return m.Keyboard.Holder == protocol.HolderAgent })
	}
	return &page{p: p, key: private, id: open.SessionID, started: open.StartedAt}
}

func (p *page) types(kind protocol.InputKind, data string) {
	p.p.t.Helper()
	m := &protocol.Keys{RequestID: "v-1:k", SessionID: p.id, KeyNo: p.no + 1, After: p.no, At: time.Now().UnixMilli(), InputKind: kind, Data: data}
	p.no++
	m.SignatureB64 = ed25519.Sign(p.key, m.Signed(p.started))
	p.p.send(m)
	require.Equal(p.p.t, "v-1:k", hear[*protocol.Done](p.p, nil).RequestID)
}

// A page's keys pause the agent, and take the keyboard from it.
func TestAPagesKeysAreAPersons(t *testing.T) {
	p := pageOn(t)
	size := p.p.size
	p.types(protocol.InputText, "hello ")
	hear(p.p, func(m *protocol.Snapshot) bool { return m.Keyboard.Holder == protocol.HolderAgent && m.Keyboard.Paused })
	p.types(protocol.InputKeys, "up")
	p.p.waitForText("hello ^[[A")
	p.p.send(&protocol.Input{RequestID: "a-1:i", SessionID: p.id, AgentID: "a-1", Data: "agent"})
	p.p.waitForText("hello ^[[Aagent") // when the pause is over
	p.types(protocol.InputKeys, `ctrl-\`)
	p.p.send(&protocol.Input{RequestID: "a-1:j", SessionID: p.id, AgentID: "a-1", Data: "more"})
	refused := hear(p.p, func(m *protocol.InputResult) bool { return m.RequestID == "a-1:j" })
	require.Equal(t, protocol.ReasonReclaimed, refused.Ended)
	require.Equal(t, size, p.p.size, "nobody's window came with it")
}

// A viewer sees the typing from the moment at which it began to look.
func TestViewersSeeTheAgentsTyping(t *testing.T) {
	p := pageOn(t)
	types := func(request, data string) {
		p.p.send(&protocol.Input{RequestID: request, SessionID: p.id, AgentID: "a-1", Data: data})
		require.Equal(t, protocol.StatusWritten, hear[*protocol.InputResult](p.p, nil).Status)
	}
	types("a-1:i", "before")
	p.p.send(&protocol.View{SessionID: p.id})
	first := hear[*protocol.Rows](p.p, nil)
	require.Nil(t, first.State.Typed)
	types("a-1:j", "ls\r")
	typed := hear(p.p, func(m *protocol.Rows) bool { return m.State.Typed != nil })
	require.Equal(t, &protocol.AgentTyped{AgentName: "claude", Text: `"ls"<Enter>`, Count: 1}, typed.State.Typed)
	types("a-1:k", "ls\r")
	hear(p.p, func(m *protocol.Rows) bool { return m.State.Typed.Count == 2 })
}
