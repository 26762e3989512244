package link

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// The promise of DecideAtEnd holds whenever the waiting goroutine gets to run.
func TestWorth(t *testing.T) {
	for name, c := range map[string]struct {
		always, prints bool
		after          time.Duration
		heard          bool
	}{
		"silent and short":  {after: time.Millisecond},
		"silent and longer": {after: 5 * time.Millisecond, heard: true},
		"printed":           {prints: true, heard: true},
		"hosted":            {always: true, heard: true},
	} {
		for _, late := range []bool{false, true} { // the goroutine runs only after the end
			synctest.Test(t, func(t *testing.T) {
				begun, heard := make(chan struct{}), make(chan bool, 1)
				w := Worth{Always: c.always, Begun: begun}
				ctx, cancel := context.WithCancel(t.Context())
				wait := func() { heard <- w.WaitWorth(ctx) }
				if c.prints {
					close(begun)
				}
				if !late {
					go wait()
				}
				time.Sleep(c.after)
				synctest.Wait()
				want := c.heard && (!late || c.always || c.prints)
				require.Equal(t, want, w.DecideAtEnd(), name)
				require.Equal(t, want, w.IsWorthNow(), name)
				if late {
					go wait()
				}
				time.Sleep(time.Second)
				cancel()
				require.Equal(t, want, <-heard, name)
			})
		}
	}
}
