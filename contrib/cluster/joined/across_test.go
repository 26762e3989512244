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
