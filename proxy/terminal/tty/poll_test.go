package tty_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/tty"
)

// TestEveryWakeIsHeard wakes a poller at every moment of its turn: what was done before a Wake is
// seen by a Wait that returns after it. If a wake is lost, this test hangs.
func TestEveryWakeIsHeard(t *testing.T) {
	p, err := tty.NewPoller(-1, -1)
	require.NoError(t, err)
	defer p.Close()
	const wakes = 20_000
	var sent atomic.Int64
	go func() {
		for range wakes {
			sent.Add(1)
			p.Wake()
		}
	}()
	for sent.Load() < wakes {
		got, err := p.Wait(0, -1)
		require.NoError(t, err)
		require.Equal(t, tty.Woken, got, "a wake was lost")
	}
	for range 2 { // at most the last one is left; a Wake after it is heard
		p.Wake()
		got, err := p.Wait(0, -1)
		require.NoError(t, err)
		require.Equal(t, tty.Woken, got)
	}
}
