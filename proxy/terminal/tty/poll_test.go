package tty_test

import (
	"sync/atomic"
	"testing"
	"time"

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

// TestWaitReturnsOnlyWantedEvents ends both sides of a poller. A wait that does not want them must
// not return at once for ever.
func TestWaitReturnsOnlyWantedEvents(t *testing.T) {
	read, write := window(t, 80, 24)
	p, err := tty.NewPoller(int(read.Fd()), int(read.Fd()))
	require.NoError(t, err)
	defer p.Close()
	requireEvent := func(want, expected tty.Events) {
		t.Helper()
		got, err := p.Wait(want, -1)
		require.NoError(t, err)
		require.Equal(t, expected, got)
	}
	go p.Wake()
	requireEvent(tty.Readable, tty.Woken)
	requireEvent(tty.Readable|tty.Writable, tty.Writable)
	require.NoError(t, write.Close())
	go p.Wake()
	requireEvent(0, tty.Woken)
	requireEvent(tty.Readable, tty.Readable)
	got, err := p.Wait(0, time.Millisecond)
	require.NoError(t, err)
	require.Zero(t, got)
}
