package hub

import (
	"fmt"
	"testing"
	"time"

	"terminalproxy/protocol"
)

// BenchmarkAnswerAmongManySessions measures the cost of a proxy's answer to the hub's own request
// with many sessions, beside the same with one.
func BenchmarkAnswerAmongManySessions(b *testing.B) {
	answering := func(sessions int) (answer func() time.Duration) {
		h := New(nil)
		h.LimitSessions(sessions)
		var proxy *Peer
		for i := range sessions {
			proxy = h.Join(Member{Role: RoleProxy})
			proxy.Handle(opening(fmt.Sprint("vim-", i), "secret"))
		}
		done := &protocol.Done{RequestID: ownIDs + "1000000"}
		return func() time.Duration {
			began := time.Now()
			proxy.Handle(done)
			return time.Since(began)
		}
	}
	one, many := answering(1), answering(10_000)
	var alone, among time.Duration
	for b.Loop() {
		alone += one()
		among += many()
	}
	b.ReportMetric(float64(among)/float64(alone), "times-one")
}
