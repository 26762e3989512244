package hub

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/rights"
	"terminalproxy/protocol"
)

// elsewhere are the ways in which a session "x" can exist without existing for a participant of the
// namespace a.
var unseenSessions = map[string]func(h *Hub, ns string){
	"running": func(h *Hub, ns string) { h.Join(Member{Role: RoleProxy, Namespace: ns}).Handle(opening("x", "k")) },
	"driven": func(h *Hub, ns string) {
		proxy := h.Join(Member{Role: RoleProxy, Namespace: ns})
		proxy.Handle(opening("x", "k"))
		proxy.Handle(full("x", 1, "secret"))
		proxy.Handle(&protocol.ControlGrant{ID: "g", SessionID: "x", AgentID: "a-1", AgentName: "claude", Level: protocol.LevelDrive, Epoch: 1})
	},
	"exited": func(h *Hub, ns string) {
		proxy := h.Join(Member{Role: RoleProxy, Namespace: ns})
		proxy.Handle(opening("x", "k"))
		proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "x", ExitCode: 1})
	},
	"lost": func(h *Hub, ns string) {
		proxy := h.Join(Member{Role: RoleProxy, Namespace: ns})
		proxy.Handle(opening("x", "k"))
		proxy.Leave()
	},
}

// R56: a session that a participant may not know of gets exactly the answer of one that does not
// exist, for as much work, whatever the message, the role and the session's state.
func TestNoAnswerRevealsASessionR56(t *testing.T) {
	members := map[string]Member{}
	for _, role := range rights.Roles {
		for _, local := range []bool{false, true} {
			members[fmt.Sprintf("%s local=%t", role, local)] = Member{Role: role, ID: "m", Namespace: "a", Local: local}
		}
		members[string(role)+" of one session"] = Member{
			Role: role, ID: "m", Namespace: "a", Rights: rights.Set{Who: "a guest", Can: rights.OfRole(role, true), Session: "own"},
		}
	}
	for state, there := range unseenSessions {
		for name, member := range members {
			for _, m := range samples(t) {
				if protocol.SessionID(m) != "x" {
					continue
				}
				t.Run(state+"/"+name+"/"+protocol.KindOf(m), func(t *testing.T) {
					ns := "b"
					if member.Rights.Session != "" {
						ns = "a"
					}
					with, work := answers(t, member, m, func(h *Hub) { there(h, ns) })
					without, same := answers(t, member, m, func(*Hub) {})
					require.Equal(t, without, with)
					for range 20 { // the race detector empties pools now and then; a real difference stays
						if math.Abs(same-work) <= 6 {
							break
						}
						_, work = answers(t, member, m, func(h *Hub) { there(h, ns) })
						_, same = answers(t, member, m, func(*Hub) {})
					}
					require.InDelta(t, same, work, 6, "allocations")
				})
			}
		}
	}
}

// answers returns the frames that a participant gets for a message, and the message's cost.
func answers(t *testing.T, member Member, m protocol.Message, before func(*Hub)) (frames []string, work float64) {
	t.Helper()
	h := New(nil)
	defer h.Close()
	h.Join(Member{Role: RoleProxy, Namespace: "a"}).Handle(opening("own", "k"))
	before(h)
	p := h.Join(member)
	work = testing.AllocsPerRun(5, func() { p.Handle(m) })
	for _, m := range allMessages(p) {
		frame, err := protocol.Encode(m)
		require.NoError(t, err)
		frames = append(frames, string(frame))
	}
	return frames, work
}
