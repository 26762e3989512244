package hub

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A stopped action never runs, not even if its time came while the lock was held.
func TestAStoppedActionDoesNotRun(t *testing.T) {
	for range 200 {
		var mu sync.Mutex
		var d delayed
		ran := make(chan string, 3)
		mu.Lock()
		d.start(&mu, 0, func() { ran <- "stopped" })
		require.True(t, d.stop())
		require.False(t, d.stop())
		d.start(&mu, 0, func() { ran <- "first" })
		d.start(&mu, 0, func() { ran <- "second" })
		mu.Unlock()
		require.Equal(t, "first", <-ran)
		mu.Lock()
		require.False(t, d.stop())
		mu.Unlock()
		require.Empty(t, ran)
	}
}
