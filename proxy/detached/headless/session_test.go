package headless

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// It ends when nothing has happened for its idle limit, and no one is attached.
func TestABusySessionDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		s := &Session{idle: time.Minute, stop: stop}
		s.NoteActivity()
		defer s.watchIdle().Stop()
		at := func(d time.Duration) error {
			time.Sleep(d)
			synctest.Wait()
			return ctx.Err()
		}
		for range 100 {
			require.NoError(t, at(50*time.Second))
			s.NoteActivity()
		}
		s.SetAttached(1)
		require.NoError(t, at(time.Hour))
		s.NoteActivity()
		s.SetAttached(0)
		require.NoError(t, at(59*time.Second))
		require.False(t, s.idled.Load())
		require.Error(t, at(2*time.Minute))
		require.True(t, s.idled.Load())
	})
}
