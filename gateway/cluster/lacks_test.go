package cluster

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// lacksOf returns what a participant's list says of missing sessions.
func lacksOf(p *player) *protocol.Incomplete {
	p.t.Helper()
	p.Handle(&protocol.SessionsList{RequestID: "list", Paged: true})
	return next[*protocol.SessionsListResult](p).Incomplete
}

// The list says so while the fault lasts, whatever the cause. So do its streams, and refusals.
func TestAListSaysThatOtherGatewaysAreNotReached(t *testing.T) {
	for name, c := range map[string]struct {
		begin, end func(bus *fakeNATS, a, b *node)
		say        string
	}{
		"no server answers": {
			func(_ *fakeNATS, _, b *node) { b.bus.cut(true) }, func(_ *fakeNATS, _, b *node) { b.bus.cut(false) },
			"this gateway cannot reach the others because no NATS server answers: it knows only its own sessions",
		},
		"the other gateway is cut off": {
			func(_ *fakeNATS, a, _ *node) { a.bus.cut(true) }, func(_ *fakeNATS, a, _ *node) { a.bus.cut(false) },
			"a gateway of the cluster does not answer: 2 of its sessions are missing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			three(t, func(t *testing.T, bus *fakeNATS, a, b, _ *node) {
				proxy := a.proxy()
				proxy.Handle(opening("one"))
				proxy.Handle(opening("two"))
				b.proxy().Handle(opening("own"))
				agent, viewer, stranger := b.joins("agent", "a-1"), b.joins("viewer", "v-1"), b.joins("other", "a-2")
				waitForList(agent, "one", "two", "own")
				viewer.Handle(&protocol.SessionsWatch{RequestID: "w"})
				require.Nil(t, next[*protocol.SessionsChanged](viewer).Incomplete)
				since := time.Now().UnixMilli()
				c.begin(bus, a, b)
				for len(currentList(agent)) == 3 { // as lost, for a while
					time.Sleep(10 * time.Millisecond)
				}
				lacks := lacksOf(agent)
				require.NotNil(t, lacks)
				require.Equal(t, c.say, lacks.Why)
				require.InDelta(t, since, lacks.Since, 2000, "a heartbeat may have been just before")
				for next[*protocol.SessionsChanged](viewer).Incomplete == nil {
					continue
				}
				agent.Handle(&protocol.Read{RequestID: "r", SessionID: "one"})
				require.Contains(t, nextError(agent).Message, c.say)
				agent.Handle(&protocol.ProxyStart{RequestID: "p", Command: "sh", HostKey: "a key of a host elsewhere"})
				require.Contains(t, nextError(agent).Message, c.say)
				if strings.Contains(c.say, "missing") {
					require.Nil(t, lacksOf(stranger), "another namespace lacks none")
				}
				c.end(bus, a, b)
				waitForList(agent, "one", "two", "own")
				require.Nil(t, lacksOf(agent))
				for next[*protocol.SessionsChanged](viewer).Incomplete != nil {
					continue
				}
			})
		})
	}
}

func nextError(p *player) *protocol.Error {
	p.t.Helper()
	for {
		m, err := p.Next(nil)
		require.NoError(p.t, err)
		if wrong, ok := m.(*protocol.Error); ok {
			return wrong
		}
	}
}

// The sessions are forgotten in the end, or as soon as a gateway starts at the same address.
func TestASilentGatewaysSessionsAreForgottenInTheEnd(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, b *node){
		"in the end": func(*testing.T, *node) { time.Sleep(silentKept) },
		"a gateway starts": func(t *testing.T, b *node) {
			came, err := json.Marshal(beat{Wire: wireVersion, From: "g-new", Address: "g-a:7117"})
			require.NoError(t, err)
			b.cluster.mesh.takeHeartbeat(came, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			three(t, func(t *testing.T, _ *fakeNATS, a, b, _ *node) {
				agent := b.joins("agent", "a-1")
				a.proxy().Handle(opening("one"))
				waitForList(agent, "one")
				a.vanish()
				waitForList(agent)
				require.Equal(t, "a gateway of the cluster does not answer: 1 of its sessions is missing", lacksOf(agent).Why)
				end(t, b)
				require.Nil(t, lacksOf(agent))
			})
		})
	}
}
