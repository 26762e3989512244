//go:build linux

package built_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// watchFor is how long a session is watched.
	watchFor = 10 * time.Second
	// settling is what the starts may leave to do.
	settling = 3 * time.Second
)

// BenchmarkNobodyLooks states what a session costs whose page is open, with nobody on it, while nothing happens. The proxy, which is
// the gateway, has no wake-ups; gateway open looks at the clock every 10 s, since a timer does not count while the computer sleeps.
func BenchmarkNobodyLooks(b *testing.B) {
	p := ofUser(b)
	mine := slices.Clone(p.pids)
	_, out := p.talks(binary("gateway"), "open")
	_, err := out.ReadString('\n')
	require.NoError(b, err)
	both := p.pids
	time.Sleep(settling)
	var own, all int
	for b.Loop() {
		before := p.wakes(b)
		p.pids = mine
		woken := p.wakes(b)
		time.Sleep(watchFor)
		own += p.wakes(b) - woken
		p.pids = both
		all += p.wakes(b) - before
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(own)/float64(b.N), "proxy-wakes/10s")
	b.ReportMetric(float64(all-own)/float64(b.N), "open-wakes/10s")
}
