package authority

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSleepIsNoticedOnceR70(t *testing.T) {
	total := 3 * time.Hour // before we began
	w := sleepWatch{func() time.Duration { return total }, total}
	require.Zero(t, w.sinceLast())
	total += time.Millisecond
	require.Zero(t, w.sinceLast(), "the clocks are read one after the other")
	total += time.Hour
	require.Equal(t, time.Hour+time.Millisecond, w.sinceLast())
	require.Zero(t, w.sinceLast())
	total -= time.Minute // an unlucky reading
	require.Zero(t, w.sinceLast())
	total += time.Minute
	require.Zero(t, w.sinceLast())
}

func TestTheKernelsClocks(t *testing.T) {
	w := sleepWatch{totalSleep, totalSleep()}
	for range 1000 {
		require.Zero(t, w.sinceLast(), "nobody slept")
	}
}
