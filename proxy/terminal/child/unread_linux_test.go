package child_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What waits for the program counts until the program reads it; a line that is still edited does
// not count.
func TestUnread(t *testing.T) {
	for _, c := range []struct {
		name, script, typed string
		want                int
	}{
		{"raw", "stty raw -echo; echo ready; kill -STOP $$; exec head -c 5", "hello", 5},
		{"lines", "stty -echo; echo ready; kill -STOP $$; read x; echo done", "hello\n", 6},
		{"half a line", "stty -echo; echo ready; kill -STOP $$; read x; echo done", "hello", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t, c.script, nil)
			until(t, p, "ready")
			require.Eventually(t, func() bool { return state(p.Pid()) == 'T' }, 2*time.Minute, time.Millisecond)
			require.Zero(t, p.CountUnread())
			n, err := p.Write([]byte(c.typed))
			require.NoError(t, err)
			require.Equal(t, len(c.typed), n)
			require.Eventually(t, func() bool { return p.CountUnread() == c.want }, 2*time.Minute, time.Millisecond)
			unread, output := p.CountQueued()
			require.Equal(t, c.want, unread)
			require.False(t, output)
		})
	}
}

// One look finds what is queued in both directions.
func TestCountQueued(t *testing.T) {
	p := start(t, "stty raw -echo; echo ready; head -c 1 >/dev/null; printf out; exec sleep 1000", nil)
	until(t, p, "ready\n")
	_, err := p.Write([]byte("k"))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		unread, output := p.CountQueued()
		return unread == 0 && output
	}, 2*time.Minute, time.Millisecond)
	_, err = p.Write([]byte("more"))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		unread, output := p.CountQueued()
		return unread == 4 && output
	}, 2*time.Minute, time.Millisecond)
	until(t, p, "out")
	unread, output := p.CountQueued()
	require.Equal(t, 4, unread)
	require.False(t, output)
}
