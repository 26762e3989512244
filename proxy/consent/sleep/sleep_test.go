package sleep_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/consent/sleep"
)

func TestSleepIsNoticedOnceR70(t *testing.T) {
	total := 3 * time.Hour // before we began
	w := sleep.Watch{Total: func() time.Duration { return total }}
	require.Zero(t, w.SleepSinceLast())
	total += time.Millisecond
	require.Zero(t, w.SleepSinceLast(), "the clocks are read one after the other")
	total += time.Hour
	require.Equal(t, time.Hour+time.Millisecond, w.SleepSinceLast())
	require.Zero(t, w.SleepSinceLast())
	total -= time.Minute // an unlucky reading
	require.Zero(t, w.SleepSinceLast())
	total += time.Minute
	require.Zero(t, w.SleepSinceLast())
}

func TestTheKernelsClocks(t *testing.T) {
	var w sleep.Watch
	for range 1000 {
		require.Zero(t, w.SleepSinceLast(), "nobody slept")
	}
}

func BenchmarkSince(b *testing.B) {
	var w sleep.Watch
	for b.Loop() {
		w.SleepSinceLast()
	}
}
