package cluster

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// currentList returns a participant's current list, by session.
func currentList(p *player) map[string]protocol.SessionInfo {
	p.t.Helper()
	p.Handle(&protocol.SessionsList{RequestID: "list"})
	out := make(map[string]protocol.SessionInfo)
	for _, info := range next[*protocol.SessionsListResult](p).Sessions {
		out[info.SessionID] = info
	}
	return out
}

// hush stops the directory's answers, or restores them.
func (n *fakeNATS) hush(quiet bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.quiet = quiet
}

// awaitRunning lists again and again until a session runs, and returns how long that took. Every
// list on the way must have the session.
func awaitRunning(p *player, id string) time.Duration {
	p.t.Helper()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		info, there := currentList(p)[id]
		require.True(p.t, there, "the list lacks %s after %v", id, time.Since(began))
		if info.State == protocol.StateRunning {
			return time.Since(began)
		}
		require.Less(p.t, time.Since(began), time.Minute, "%+v", info)
	}
}

// The list keeps the sessions until their proxies are at another gateway, or have had the time.
func TestAListKeepsTheSessionsOfAGatewayThatEnds(t *testing.T) {
	for name, end := range map[string]func(*node){"it closes": (*node).close, "it is killed": (*node).vanish} {
		t.Run(name, func(t *testing.T) {
			three(t, func(t *testing.T, _ *fakeNATS, a, b, c *node) {
				agent := b.joins("agent", "a-1")
				for _, id := range []string{"back", "lost"} {
					a.proxy().Handle(opening(id))
				}
				ended := a.proxy()
				ended.Handle(opening("ended"))
				ended.Handle(&protocol.SessionClose{ID: "c", SessionID: "ended"})
				waitForList(agent, "back", "lost", "ended")
				end(a)
				for left := false; !left; time.Sleep(time.Millisecond) {
					all := currentList(agent)
					require.Len(t, all, 3)
					require.False(t, all["ended"].Moving, "no proxy of it is expected")
					left = all["back"].State == protocol.StateLost
					require.Equal(t, left, all["back"].Moving)
				}
				c.proxy().Handle(opening("back"))
				awaitRunning(agent, "back")
				time.Sleep(lostFor + 2*beatEvery)
				require.Contains(t, currentList(agent), "back")
				require.NotContains(t, currentList(agent), "lost")
			})
		})
	}
}

// The gateway still believes that the proxies are its own. It may first notice that they left, or
// that they are elsewhere.
func TestAStalledGatewayListsMovedSessions(t *testing.T) {
	for name, play := range map[string]func(a, b *node, stale, agent *player){
		"the cluster first": func(a, _ *node, stale, _ *player) {
			a.bus.cut(false)
			synctest.Wait()
			stale.Leave()
		},
		"the proxy first": func(a, _ *node, stale, _ *player) {
			stale.Leave()
			synctest.Wait()
			a.bus.cut(false)
		},
		"the proxy after a while": func(a, _ *node, stale, _ *player) {
			a.bus.cut(false)
			time.Sleep(2 * beatEvery)
			stale.Leave()
		},
		"the other gateway last": func(a, b *node, stale, agent *player) {
			b.bus.cut(true)
			a.bus.cut(false)
			stale.Leave()
			for end := time.Now().Add(2 * beatEvery); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				require.Contains(a.t, currentList(agent), "one")
			}
			b.bus.cut(false)
		},
		"the directory last": func(a, _ *node, stale, _ *player) {
			a.bus.nats.hush(true)
			a.bus.cut(false)
			stale.Leave()
			time.Sleep(2 * beatEvery)
			a.bus.nats.hush(false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			three(t, func(t *testing.T, _ *fakeNATS, a, b, _ *node) {
				stale, agent := a.proxy(), a.joins("agent", "a-1")
				stale.Handle(opening("one"))
				waitForList(agent, "one")
				a.bus.cut(true)
				time.Sleep(silentFor + beatEvery)
				b.proxy().Handle(opening("one"))
				synctest.Wait()
				play(a, b, stale, agent)
				require.Less(t, awaitRunning(agent, "one"), 2*beatEvery)
			})
		})
	}
}

// The list waits for a new gateway however long a client has watched lists before, but not for
// ever.
func TestAListWaitsForAGatewayThatCame(t *testing.T) {
	three(t, func(t *testing.T, _ *fakeNATS, a, _, _ *node) {
		agent := a.joins("agent", "a-1")
		waitForList(agent)
		time.Sleep(time.Minute)
		require.True(t, a.cluster.directory.IsComplete(""))
		came, err := json.Marshal(beat{Wire: wireVersion, From: "g-mute"})
		require.NoError(t, err)
		a.cluster.mesh.takeHeartbeat(came, nil)
		require.False(t, a.cluster.directory.IsComplete(""))
		time.Sleep(callTime + time.Millisecond)
		require.True(t, a.cluster.directory.IsComplete(""))
	})
}
