package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/rights"
	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

func TestAloneAGatewayGoesOnAndComesBack(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, b, _ *node) {
		pa, pb := a.proxy(), b.proxy()
		pa.Handle(opening("one"))
		pb.Handle(opening("two"))
		agent := a.joins("agent", "a-1")
		waitForList(agent, "one", "two")
		agent.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "two"})
		next[*protocol.Done](agent)

		a.bus.cut(true)
		time.Sleep(10 * time.Second) // of the test's time
		online, gateways := a.cluster.ConnectionState()
		require.False(t, online)
		require.Zero(t, gateways)
		refused, ok := next[protocol.Message](agent).(*protocol.Error)
		require.True(t, ok)
		require.Equal(t, "s", refused.RequestID)
		agent.Handle(&protocol.Read{RequestID: "r", SessionID: "one"})
		next[*protocol.Read](pa)
		pa.Handle(opening("three")) // without the directory
		waitForList(agent, "one", "three")

		a.bus.cut(false)
		waitForList(b.joins("viewer", "v-1"), "one", "two", "three")
		waitForList(agent, "one", "two", "three")
		// The list comes from the gateways themselves, and the directory's entry after it.
		require.Eventually(t, func() bool {
			there, _, err := b.cluster.claims.readEntry(sessionKey{"", "three"})
			return err == nil && there.Owner == "g-a"
		}, time.Minute, 50*time.Millisecond)
	})
}

// If two gateways both believe to have a session, the one to which its proxy is connected keeps it.
func TestAfterAPartitionTheGatewayWithTheProxyHasTheSession(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, b, c *node) {
		stale, agent := a.proxy(), a.joins("agent", "a-1")
		stale.Handle(opening("one"))
		a.bus.cut(true)
		time.Sleep(5 * time.Second) // of the test's time: a is silent
		fresh, elsewhere := b.proxy(), c.joins("agent", "a-2")
		fresh.Handle(opening("one"))
		elsewhere.Handle(&protocol.Input{RequestID: "i", SessionID: "one", Epoch: 1, Data: "x"})
		require.Equal(t, "a-2:i", next[*protocol.Input](fresh).RequestID)
		agent.Handle(&protocol.Input{RequestID: "i", SessionID: "one", Epoch: 1, Data: "y"})
		require.Equal(t, "a-1:i", next[*protocol.Input](stale).RequestID, "to a proxy that is gone, if it went")

		a.bus.cut(false)
		typed := next[*protocol.Input](fresh)
		require.Equal(t, "a-1:i", typed.RequestID, "the same id, which the proxy knows")
		require.False(t, a.hub.HasSession("", "one"))
		_, err := stale.Next(nil)
		require.ErrorIs(t, err, hub.ErrMoved)
		fresh.Handle(&protocol.InputResult{ID: "r", RequestID: typed.RequestID, SessionID: "one", Status: protocol.StatusRefused, Reason: protocol.CodeNoGrant})
		require.Equal(t, "i", next[*protocol.InputResult](agent).RequestID)
	})
}

func TestADecisionIsNeverAskedTwice(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, b, c *node) {
		proxy, owner := a.proxy(), c.joins("owner", "o-1")
		proxy.Handle(opening("one"))
		owner.Handle(&protocol.ControlDecide{RequestID: "d", SessionID: "one", Grant: true, By: "ada"})
		next[*protocol.ControlDecide](proxy)
		a.vanish()
		again := b.proxy()
		again.Handle(opening("one"))
		time.Sleep(5 * time.Second) // of the test's time: the loss is noticed
		refused, ok := next[protocol.Message](owner).(*protocol.Error)
		require.True(t, ok)
		require.Contains(t, refused.Message, "it is unknown whether this took effect")
		expectNothing(again)
	})
}

// The owner that is asked again has lost its proxy, which may have typed the input the first time.
func TestARepeatedInputIsNotReportedAsUntyped(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, b, _ *node) {
		proxy, agent := a.proxy(), b.joins("agent", "a-1")
		proxy.Handle(opening("one"))
		waitForList(agent, "one")
		agent.Handle(&protocol.Input{RequestID: "i", SessionID: "one", Epoch: 1, Data: "x"})
		next[*protocol.Input](proxy)
		b.bus.cut(true)
		time.Sleep(silentFor + beatEvery)
		proxy.Leave()
		b.bus.cut(false)
		no, ok := next[protocol.Message](agent).(*protocol.Error)
		require.True(t, ok)
		require.Equal(t, "i", no.RequestID)
		require.Contains(t, no.Message, "it is unknown whether this was typed")
	})
}

// loud is a log that can be read.
type loud struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *loud) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *loud) said() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// postLetter lets a bus that is not a gateway's send something to gateway a, and returns the
// answer.
func postLetter(t *testing.T, n *fakeNATS, data []byte) reply {
	t.Helper()
	answer, err := n.dial().request(t.Context(), prefix+"g-a"+requests, append([]byte{whole}, data...))
	require.NoError(t, err)
	var r reply
	require.NoError(t, json.Unmarshal(answer, &r))
	return r
}

func TestBadLettersAreRefusedNamedAndLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := &loud{}
		bus := newFakeNATS()
		a, b := bus.node(t, "g-a", slog.New(slog.NewTextHandler(said, nil))), bus.node(t, "g-b", nil)
		defer b.close()
		defer a.close()
		time.Sleep(2 * time.Second)
		proxy := a.proxy()
		proxy.Handle(opening("one"))
		read, err := protocol.Encode(&protocol.Read{RequestID: "r", SessionID: "one"})
		require.NoError(t, err)
		other, err := protocol.Encode(&protocol.Read{RequestID: "r", SessionID: "two"})
		require.NoError(t, err)
		agent := member{Token: "agent", Role: hub.RoleAgent, ID: "a-1", Can: rights.OfRole(hub.RoleAgent, false)}
		links := 0
		say := func(change func(*letter, *member), frames ...[]byte) []byte {
			m := agent
			links++
			l := &letter{From: "g-b", Op: opSay, Link: fmt.Sprint("g-b.9", links), N: 1, Member: &m, Session: "one", frames: frames}
			change(l, &m)
			data, err := l.seal()
			require.NoError(t, err)
			return data
		}
		for name, c := range map[string]struct {
			data []byte
			say  string
		}{
			"no letter":           {[]byte("hello"), "not a letter"},
			"another version":     {[]byte(`{"wire":2,"from":"g-b","op":"say"}`), "speaks 1, the other one 2"},
			"no message":          {say(func(*letter, *member) {}, []byte(`{"type":"nonsense"}`)), "not a letter"},
			"too large a message": {say(func(*letter, *member) {}, bytes.Repeat([]byte("x"), protocol.MaxAgentMessage+1)), "over the limit"},
			"a proxy":             {say(func(_ *letter, m *member) { m.Role = hub.RoleProxy }, read), "forged member"},
			"another role":        {say(func(_ *letter, m *member) { m.Role, m.ID = hub.RoleOwner, "o-1" }, read), "another role or namespace"},
			"another namespace":   {say(func(_ *letter, m *member) { m.Namespace = "other" }, read), "another role or namespace"},
			"another's id":        {say(func(_ *letter, m *member) { m.ID = "o-1" }, read), "its id does not fit that role"},
			"no token":            {say(func(_ *letter, m *member) { m.Token = "" }, read), "it has no token"},
			"an unknown token":    {say(func(_ *letter, m *member) { m.Token = "guess" }, read), "not known"},
			"no rights":           {say(func(_ *letter, m *member) { m.Can = rights.Publish }, read), "it has no rights"},
			"another session":     {say(func(*letter, *member) {}, other), "one session"},
		} {
			before := a.cluster.mesh.stats.refused.Load()
			got := postLetter(t, bus, c.data)
			require.Contains(t, got.Wrong, c.say, name)
			require.Equal(t, before+1, a.cluster.mesh.stats.refused.Load(), name)
		}
		require.Contains(t, said.said(), "gateway=g-b")
		require.Contains(t, said.said(), "another role or namespace")
		require.True(t, postLetter(t, bus, say(func(l *letter, _ *member) { l.From = "g-none" }, read)).Lost, "a gateway that nobody hears")
		expectNothing(proxy)
		good := say(func(*letter, *member) {}, read)
		require.Empty(t, postLetter(t, bus, good).Wrong, "nothing wrong with it")
		next[*protocol.Read](proxy)
		postLetter(t, bus, good)
		expectNothing(proxy) // it was the same message again
	})
}

func TestRightsDoNotExceedTheRoles(t *testing.T) {
	three(t, func(t *testing.T, bus *fakeNATS, a, _, _ *node) {
		proxy := a.proxy()
		proxy.Handle(opening("one"))
		typed, err := protocol.Encode(&protocol.Input{RequestID: "r", SessionID: "one", Epoch: 1, Data: "x"})
		require.NoError(t, err)
		l := &letter{From: "g-b", Op: opSay, Link: "g-b.99", N: 1, Session: "one", frames: [][]byte{typed}}
		l.Member = &member{Token: "viewer", Role: hub.RoleViewer, ID: "v-1", Can: ^rights.Can(0)}
		data, err := l.seal()
		require.NoError(t, err)
		require.Empty(t, postLetter(t, bus, data).Wrong)
		expectNothing(proxy)
	})
}

func TestLargeLettersGoInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := newFakeNATS()
		a, b := bus.node(t, "g-a", nil), bus.node(t, "g-b", nil)
		defer b.close()
		defer a.close()
		a.bus.size, b.bus.size = 300, 300
		time.Sleep(2 * time.Second)
		proxy, agent := a.proxy(), b.joins("agent", "a-1")
		proxy.Handle(opening("one"))
		agent.Handle(&protocol.Read{RequestID: "r", SessionID: "one", Text: true})
		asked := next[*protocol.Read](proxy)
		long := strings.Repeat("0123456789", 500)
		proxy.Handle(&protocol.ReadResult{
			ID: "x", RequestID: asked.RequestID, SessionID: "one", Text: long, Frame: &protocol.Frame{Screen: protocol.Screen{Cols: 4, Rows: 1, Lines: []string{"b"}}},
		})
		require.Equal(t, long, next[*protocol.ReadResult](agent).Text)
	})
}

// A participant that does not read is not sent more than it can take, and what it reads late is the
// newest.
func TestASlowReaderIsNotFlooded(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, b, _ *node) {
		proxy, viewer := a.proxy(), b.joins("viewer", "v-1")
		proxy.Handle(opening("one"))
		viewer.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "one"})
		next[*protocol.Done](viewer)
		for seq := uint64(1); seq <= 2000; seq++ {
			proxy.Handle(screen("one", seq, "b"))
			synctest.Wait()
		}
		n, newest := 0, uint64(0)
		for newest < 2000 {
			newest = next[*protocol.Snapshot](viewer).Seq
			n++
		}
		require.Less(t, n, 300)
	})
}

func TestInvalidPartsAreRefused(t *testing.T) {
	var p parts
	for name, data := range map[string][]byte{"nothing": nil, "another kind": []byte("X12345678"), "too short": []byte("P123")} {
		_, _, err := p.addPart(data)
		require.ErrorIs(t, err, errWire, name)
	}
	for range maxParts/(1<<20) + 1 {
		if _, _, err := p.addPart(append([]byte("P12345678"), make([]byte, 1<<20)...)); err != nil {
			require.ErrorIs(t, err, errParts)
			require.Empty(t, p.open)
			return
		}
	}
	require.Fail(t, "a letter without an end is kept")
}

func FuzzUnseal(f *testing.F) {
	f.Add([]byte(`{"wire":1,"from":"g","op":"say"}` + "\n" + `{"type":"terminal.read","requestId":"r","sessionId":"s"}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = unseal(data, protocol.MaxAgentMessage)
		var p parts
		_, _, _ = p.addPart(data)
	})
}

// The gateways that have the sessions refill a lost directory, and no other gateway takes a name
// over meanwhile.
func TestADirectoryThatWasLostIsFilledAgain(t *testing.T) {
	three(t, func(t *testing.T, bus *fakeNATS, a, b, _ *node) {
		first, second := a.proxy(), a.proxy()
		first.Handle(opening("one"))
		second.Handle(opening("two"))
		synctest.Wait()
		bus.forget()
		thief := opening("two")
		thief.ResumeKey = "another"
		taken := b.proxy()
		taken.Handle(thief)
		time.Sleep(2 * checkEvery)
		synctest.Wait()
		for _, id := range []string{"one", "two"} {
			there, _, err := a.cluster.claims.readEntry(sessionKey{"", id})
			require.NoError(t, err)
			require.Equal(t, "g-a", there.Owner, id)
		}
		require.True(t, a.hub.IsRunning("", "two"))
		require.False(t, b.hub.HasSession("", "two"))
		_, err := taken.Next(atOnce)
		for err == nil {
			_, err = taken.Next(atOnce)
		}
		require.ErrorIs(t, err, hub.ErrMoved)
	})
}
