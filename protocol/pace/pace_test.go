package pace_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol/pace"
)

func TestThePauseEndsWithItsContext(t *testing.T) {
	over := errors.New("over")
	ctx, cancel := context.WithCancelCause(t.Context())
	require.NoError(t, pace.Pause(ctx, 0))
	cancel(over)
	require.ErrorIs(t, pace.Pause(ctx, time.Hour), over)
	require.ErrorIs(t, (&pace.Backoff{First: time.Hour, Longest: time.Hour}).Pause(ctx), over)
}

// longest returns the longest of many first delays after a number of earlier ones.
func longest(reset time.Duration, earlier int) (most time.Duration) {
	for range 2000 {
		b := pace.Backoff{First: time.Second, Longest: 5 * time.Second}
		b.Reset(reset)
		for range earlier {
			b.NextDelay()
		}
		most = max(most, b.NextDelay())
	}
	return most
}

func TestDelaysGrowUpToTheLongest(t *testing.T) {
	for _, c := range []struct {
		reset, limit time.Duration
		earlier      int
	}{
		{0, time.Second, 0},
		{0, 2 * time.Second, 1},
		{0, 4 * time.Second, 2},
		{0, 5 * time.Second, 3},
		{0, 5 * time.Second, 40},
		{3 * time.Second, 3 * time.Second, 0},
		{3 * time.Second, 5 * time.Second, 1},
		{8 * time.Second, 8 * time.Second, 0},
		{8 * time.Second, 5 * time.Second, 1},
	} {
		most := longest(c.reset, c.earlier)
		require.Less(t, most, c.limit, c)
		require.Greater(t, most, c.limit*9/10, c) // 2000 delays below it: once in 10^91 runs
	}
}
