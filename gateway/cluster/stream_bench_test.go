package cluster

import (
	"fmt"
	"testing"
	"time"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// BenchmarkAScreenThatIsWatchedElsewhere measures the cost of one screen to all gateways, without
// the bus, while people at each watch the list.
func BenchmarkAScreenThatIsWatchedElsewhere(b *testing.B) {
	bus := newFakeNATS()
	here, there := bus.node(b, "g-a", nil), bus.node(b, "g-b", nil)
	defer there.close()
	defer here.close()
	for online, n := here.cluster.ConnectionState(); !online || n == 0; online, n = here.cluster.ConnectionState() {
		time.Sleep(time.Millisecond)
	}
	proxy := here.hub.Join(hub.Member{Role: hub.RoleProxy})
	for i := range 64 {
		proxy.Handle(opening(fmt.Sprintf("s-%d", i)))
	}
	viewer := there.hub.Join(hub.Member{Role: hub.RoleViewer, Token: "viewer"})
	viewer.Handle(&protocol.SessionsWatch{RequestID: "list"})
	viewer.Handle(&protocol.SessionsSubscribe{RequestID: "sub", SessionID: "s-0", EveryMs: 0, Changes: true})
	lines := make([]string, 24)
	for i := range lines {
		lines[i] = "the quick brown fox jumps over the lazy dog"
	}
	b.ResetTimer()
	for i := range b.N {
		now := append([]string{}, lines...)
		now[0] = fmt.Sprint(i)
		proxy.Handle(&protocol.Snapshot{ID: "s", SessionID: "s-0", Seq: uint64(i) + 1, Screen: &protocol.Screen{Cols: 80, Rows: 24, Lines: now}}) //nolint:gosec // a count
		for {
			m, err := viewer.Next(nil)
			if err != nil {
				b.Fatal(err)
			}
			if s, ok := m.(*protocol.Snapshot); ok && s.Seq == uint64(i)+1 { //nolint:gosec // a count
				break
			}
		}
	}
}
