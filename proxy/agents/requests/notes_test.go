package requests

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// All agents count together: a refused agent may come again under another name.
func TestMessagesAreLimitedForAllAgentsTogetherR46(t *testing.T) {
	p := rateLimiter{burst: messageBurst, every: messageEvery}
	now := time.Unix(1e9, 0)
	taken := 0
	for range 600 { // a minute, ten times a second
		if wait, ok := p.allowNow(now); ok {
			taken++
		} else {
			require.Greater(t, wait, time.Duration(0))
			require.LessOrEqual(t, wait, messageEvery)
		}
		now = now.Add(100 * time.Millisecond)
	}
	require.Equal(t, messageBurst+3, taken)
	now = now.Add(time.Hour)
	for i := range messageBurst + 1 {
		_, ok := p.allowNow(now)
		require.Equal(t, i < messageBurst, ok, fmt.Sprint(i))
	}
}
