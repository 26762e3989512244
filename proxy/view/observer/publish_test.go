package observer

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkPublish measures the observer's cost of a changed line until it is published, at once
// and when it has settled.
func BenchmarkPublish(b *testing.B) {
	s := newStage(b, 120, 40)
	s.print(lines(0, 400))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.FeedNow(fmt.Appendf(nil, "\x1b[20;1HMK%d:0123456789abcdefK\x1b[K", i))
		now := time.Now()
		s.runDue(now.Add(time.Second))
		s.runDue(now.Add(2 * time.Second))
		s.frames, s.fed = s.frames[:0], ""
	}
}
