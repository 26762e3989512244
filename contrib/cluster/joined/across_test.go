package joined

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// A list is longer than a message of the wire, and a gateway that comes later has all of it.
func TestALongListAndALateGateway(t *testing.T) {
	w := newTown(t)
	a, b, _ := w.three()
	const many = 1200 // of a KiB each
	a.server.Switchboard().LimitSessions(many)
	var proxy seat
	for i := range many {
		if i%64 == 0 {
			proxy = a.proxy()
		}
		open := opening(fmt.Sprintf("s-%04d", i), int64(i))
		open.Cwd = strings.Repeat("/a-directory", 70)
		proxy.Handle(open)
	}
	late := w.gateway("g-late")
	who := w.who("viewer", auth.RoleViewer, "")
	for _, g := range []*gate{a, b, late} {
		g.joins(who).counts(many)
	}
}

// counts waits until a list that is asked for page by page, and one that is watched, has so many sessions.
func (s seat) counts(want int) {
	s.t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(20 * time.Millisecond) {
		seen := make(map[string]bool)
		for after := ""; ; {
			s.Handle(&protocol.SessionsList{RequestID: "list", Paged: true, After: after})
			page := next[*protocol.SessionsListResult](s)
			if _, err := protocol.Encode(page); err != nil {
				s.t.Fatal(err)
			}
			for _, info := range page.Sessions {
				seen[info.SessionID] = true
			}
			if after = page.Next; after == "" {
				break
			}
		}
		if len(seen) == want {
			break
		}
		if time.Now().After(end) {
			s.t.Fatalf("the list has %d sessions, not %d", len(seen), want)
		}
	}
	s.Handle(&protocol.SessionsWatch{RequestID: "watch"})
	for n := 0; ; {
		m := next[*protocol.SessionsChanged](s)
		if _, err := protocol.Encode(m); err != nil {
			s.t.Fatal(err)
		}
		if n += len(m.Sessions); !m.More {
			if n != want {
				s.t.Errorf("the watched list has %d sessions, not %d", n, want)
			}
			return
		}
	}
}

// What an owner at another gateway refuses, and whom it mutes, the session's proxy hears with the owner's name; its answer comes back.
func TestADenyAndAMuteCross(t *testing.T) {
	w := newTown(t)
	a, b, c := w.three()
	proxy, agent, owner := a.proxy(), b.joins(w.who("agent", auth.RoleAgent, "")), c.joins(w.who("owner", auth.RoleOwner, ""))
	open := opening("one", 1)
	proxy.Handle(open)
	agent.sees("one")
	owner.sees("one")
	for _, decide := range []*protocol.ControlDecide{
		{RequestID: "no", SessionID: "one", Refuse: true, AgentName: "agent", By: "x"},
		{RequestID: "mute", SessionID: "one", Mute: protocol.MuteOn, AgentName: "agent", By: "x"},
	} {
		agent.Handle(&protocol.ControlRequest{RequestID: "ask", SessionID: "one", Level: protocol.LevelDrive, Why: "to help"})
		asked := next[*protocol.ControlRequest](proxy)
		owner.Handle(decide)
		got := next[*protocol.ControlDecide](proxy)
		if got.By != "owner" || got.Refuse != decide.Refuse || got.Mute != decide.Mute || got.AgentName != "agent" {
			t.Errorf("the proxy hears %+v", got)
		}
		proxy.Handle(&protocol.Done{RequestID: got.RequestID})
		next[*protocol.Done](owner)
		proxy.Handle(&protocol.ControlRevoke{ID: "r", RequestID: asked.RequestID, SessionID: "one", AgentID: asked.AgentID, Reason: protocol.ReasonRefused})
		if no := next[*protocol.ControlRevoke](agent); no.RequestID != "ask" || no.Reason != protocol.ReasonRefused {
			t.Errorf("the agent hears %+v", no)
		}
	}
}

// An owner decides, and its gateway dies before the answer: the agent's request stands, and a decision at another gateway counts.
func TestTheGatewayOfAnApprovalDies(t *testing.T) {
	w := newTown(t)
	a, b, c := w.three()
	who := w.who("owner", auth.RoleOwner, "")
	proxy, agent, owner := a.proxy(), b.joins(w.who("agent", auth.RoleAgent, "")), c.joins(who)
	proxy.Handle(opening("one", 1))
	agent.sees("one")
	owner.sees("one")
	agent.Handle(&protocol.ControlRequest{RequestID: "ask", SessionID: "one", Level: protocol.LevelDrive, Why: "to help"})
	asked := next[*protocol.ControlRequest](proxy)
	owner.Handle(&protocol.ControlDecide{RequestID: "yes", SessionID: "one", Grant: true, By: "x"})
	first := next[*protocol.ControlDecide](proxy)
	c.close()
	proxy.Handle(&protocol.Done{RequestID: first.RequestID}) // nobody is there who hears it
	again := b.joins(who)
	again.Handle(&protocol.ControlDecide{RequestID: "yes", SessionID: "one", Grant: true, By: "x"})
	second := next[*protocol.ControlDecide](proxy)
	proxy.Handle(&protocol.Done{RequestID: second.RequestID})
	proxy.Handle(&protocol.ControlGrant{ID: "g", RequestID: asked.RequestID, SessionID: "one", AgentID: asked.AgentID, Level: protocol.LevelDrive, Epoch: 2})
	if got := next[*protocol.ControlGrant](agent); got.Epoch != 2 {
		t.Errorf("granted %+v", got)
	}
	next[*protocol.Done](again)
}
