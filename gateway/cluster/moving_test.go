package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// listed is a participant's list as it is now, by session.
func listed(p *player) map[string]protocol.SessionInfo {
	p.t.Helper()
	p.Handle(&protocol.SessionsList{RequestID: "list"})
	out := make(map[string]protocol.SessionInfo)
	for _, info := range next[*protocol.SessionsListResult](p).Sessions {
		out[info.SessionID] = info
	}
	return out
}

// awaitRunning lists again and again until a session runs, and gives how long that took. No list on the way may lack the session.
func awaitRunning(p *player, id string) time.Duration {
	p.t.Helper()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		info, there := listed(p)[id]
		require.True(p.t, there, "the list lacks %s after %v", id, time.Since(began))
		if info.State == protocol.StateRunning {
			return time.Since(began)
		}
		require.Less(p.t, time.Since(began), time.Minute, "%+v", info)
	}
}

// TestAListKeepsTheSessionsOfAGatewayThatEnds until their proxies are at another one, or have had the time.
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
				sees(agent, "back", "lost", "ended")
				end(a)
				for left := false; !left; time.Sleep(time.Millisecond) {
					all := listed(agent)
					require.Len(t, all, 3)
					require.False(t, all["ended"].Moving, "no proxy of it is expected")
					left = all["back"].State == protocol.StateLost
					require.Equal(t, left, all["back"].Moving)
				}
				c.proxy().Handle(opening("back"))
				awaitRunning(agent, "back")
				time.Sleep(lostFor + 2*beatEvery)
				require.Contains(t, listed(agent), "back")
				require.NotContains(t, listed(agent), "lost")
			})
		})
	}
}
