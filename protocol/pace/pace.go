// Package pace delays the attempts of a loop.
package pace

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"
)

// Pause waits for d. If ctx ends before, Pause returns its cause at once.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Backoff paces attempts to reach a gateway. Each delay is random, below a limit that doubles from
// First to Longest, so that clients that a gateway dropped together do not come back together. It
// is for one goroutine.
type Backoff struct {
	First, Longest time.Duration

	limit time.Duration // of the next delay; 0 means First
}

// NextDelay returns the delay before the next attempt.
func (b *Backoff) NextDelay() time.Duration {
	limit := cmp.Or(b.limit, b.First)
	b.limit = min(2*limit, b.Longest)
	return rand.N(limit)
}

// Reset makes the next delay shorter than limit, or than First if limit is 0.
func (b *Backoff) Reset(limit time.Duration) { b.limit = limit }

// Pause waits for the next delay, as the function Pause does.
func (b *Backoff) Pause(ctx context.Context) error { return Pause(ctx, b.NextDelay()) }
