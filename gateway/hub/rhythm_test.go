package hub

import (
	"sync"
	"testing"
	"time"

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

// What comes too early is sent once, when the interval is over.
func TestARhythmSendsTheNewestOnce(t *testing.T) {
	var mu sync.Mutex
	mu.Lock()
	sent := make(chan struct{}, 3)
	r := rhythm{mu: &mu, every: time.Millisecond, send: func() { sent <- struct{}{} }}
	require.True(t, r.isDue(), "nothing was sent yet")
	r.last = time.Now().Add(time.Hour - time.Millisecond)
	for range 3 {
		require.False(t, r.isDue())
	}
	require.True(t, r.next.stop())
	r.last = time.Now()
	r.sendLater()
	require.False(t, r.isDue(), "a message waits")
	mu.Unlock()
	<-sent
	mu.Lock()
	defer mu.Unlock()
	require.Empty(t, sent)
	require.True(t, r.isDue())
}
