package proxy

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// TestABusySessionDoesNotEnd: it ends when nothing has happened for as long as it says, and nobody sits in front of it.
func TestABusySessionDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		h := &headless{idle: time.Minute, stop: stop}
		h.touch()
		defer h.watchIdle().Stop()
		at := func(d time.Duration) error {
			time.Sleep(d)
			synctest.Wait()
			return ctx.Err()
		}
		for range 100 {
			require.NoError(t, at(50*time.Second))
			h.touch()
		}
		h.Attached(1)
		require.NoError(t, at(time.Hour))
		h.touch()
		h.Attached(0)
		require.NoError(t, at(59*time.Second))
		require.False(t, h.idled.Load())
		require.Error(t, at(2*time.Minute))
		require.True(t, h.idled.Load())
	})
}

// TestWhatHappensKeepsASessionFromEnding: what its program prints, and what anybody asks.
func TestWhatHappensKeepsASessionFromEnding(t *testing.T) {
	g := newFakeGateway(t)
	mark := filepath.Join(t.TempDir(), "mark")
	conf, err := g.run(HostConfig{}).session(starting("sh", "-c", `until [ -e "$0" ]; do sleep 0.02; done; echo tick; exec cat`, mark))
	require.NoError(t, err)
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() { // ends with ctx
		_, err := runHeadless(ctx, conf)
		ended <- err
	}()
	defer func() { stop(); require.NoError(t, fake.Receive(t, ended, "the end of the session")) }()
	p := g.peer()
	id := hear[*protocol.SessionOpen](p, nil).SessionID
	used := &conf.headless.used
	used.Store(0)
	require.NoError(t, os.WriteFile(mark, nil, 0o600))
	p.shows("tick")
	require.NotZero(t, used.Swap(0))
	p.say(&protocol.Read{RequestID: "a-1:r", SessionID: id})
	hear[*protocol.ReadResult](p, nil)
	require.NotZero(t, used.Load())
}
