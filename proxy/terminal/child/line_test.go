//go:build linux

package child_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/child"
)

func TestLine(t *testing.T) {
	for settings, want := range map[string]child.Line{
		"sane":                           {Canonical: true, Echo: true},
		"sane -echo":                     {Canonical: true},
		"sane -icanon -echo echonl":      {EchoNewline: true},
		"raw -echo -echonl":              {},
		"sane -icanon":                   {Echo: true},
		"sane -echo echonl -icrnl icrnl": {Canonical: true, EchoNewline: true},
	} {
		c := start(t, "stty "+settings+"; printf ready; read x", nil)
		until(t, c, "ready")
		got, err := c.Line()
		require.NoError(t, err)
		require.Equal(t, want, got, settings)
	}
}

func TestChain(t *testing.T) {
	alone := start(t, "printf ready; read x", nil)
	until(t, alone, "ready")
	require.Equal(t, []string{"sh"}, alone.ForegroundChain())
	relays := start(t, "sh -c 'head -c 1; exit'; exit", nil)
	require.Eventually(t, func() bool { return slices.Equal(relays.ForegroundChain(), []string{"sh", "sh", "head"}) }, 2*time.Minute, time.Millisecond)
}

func TestInFront(t *testing.T) {
	dir := t.TempDir()
	c := start(t, "cd "+dir+"; printf ready; read x", nil)
	until(t, c, "ready")
	program, directory := c.InFront()
	require.Equal(t, "sh", program)
	require.Equal(t, dir, directory)
}
