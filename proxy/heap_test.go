package proxy

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Memory is returned after each period of use, and not while it lasts.
func TestHeapIsGivenBackOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var given atomic.Int64
		used := callAfter(heapPause, func() { given.Add(1) })
		wait := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		wait(time.Hour)
		require.Zero(t, given.Load(), "nothing was used")
		for range 3 {
			used()
			wait(heapPause - time.Second)
		}
		require.Zero(t, given.Load())
		wait(time.Second)
		require.EqualValues(t, 1, given.Load())
		wait(time.Hour)
		require.EqualValues(t, 1, given.Load())
		used()
		wait(heapPause)
		require.EqualValues(t, 2, given.Load())
	})
}
