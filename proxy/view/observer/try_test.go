package observer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// When its time is over, the user's terminal stops waiting. The chunk reaches the model all the
// same, and the caller is told when the model has caught up.
func TestTryWaitsNoLongerThanItSays(t *testing.T) {
	const limit = 50 * time.Millisecond
	never := func(time.Time) { t.Error("it was called off") }
	runStage(t, func(t *testing.T, s *stage) {
		held, late := make(chan struct{}), 0
		s.Post(func(time.Time) { <-held })
		began := time.Now()
		ran, over := s.TryCall(limit, never, func() { late++ })
		require.Equal(t, limit, time.Since(began))
		require.False(t, ran || over)
		ran, over = s.TryAround(limit, never, []byte("one"), never, func() { late++ })
		require.Equal(t, 2*limit, time.Since(began))
		require.False(t, ran || over)
		require.Zero(t, late)
		close(held)
		synctest.Wait()
		require.Equal(t, 2, late)
		var rows [3]string
		ran, over = s.TryAround(limit, func(time.Time) { rows[0] = s.model.RowText(0) }, []byte(" two"), func(time.Time) { rows[1] = s.model.RowText(0) }, nil)
		require.True(t, ran)
		require.False(t, over)
		ran, _ = s.TryCall(limit, func(time.Time) { rows[2] = "three" }, nil)
		require.True(t, ran)
		require.Equal(t, [3]string{"one", "one two", "three"}, rows)
		s.Stop()
		ran, over = s.TryCall(limit, never, nil)
		require.True(t, over && !ran)
	})
}
