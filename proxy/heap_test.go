package proxy

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestHeapIsGivenBackOnce: after each time of use, and not while it lasts.
func TestHeapIsGivenBackOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		given := 0
		used := after(heapPause, func() { given++ })
		wait := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		wait(time.Hour)
		require.Zero(t, given, "nothing was used")
		for range 3 {
			used()
			wait(heapPause - time.Second)
		}
		require.Zero(t, given)
		wait(time.Second)
		require.Equal(t, 1, given)
		wait(time.Hour)
		require.Equal(t, 1, given)
		used()
		wait(heapPause)
		require.Equal(t, 2, given)
	})
}
