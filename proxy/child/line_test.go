//go:build linux

package child_test

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/child"
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
		_, err := readUntil(t, c, says("ready"))
		require.NoError(t, err)
		got, err := c.Line()
		require.NoError(t, err)
		require.Equal(t, want, got, settings)
	}
}

func TestRelays(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	alone := start(t, "printf ready; read x", nil)
	_, err := readUntil(t, alone, says("ready"))
	require.NoError(t, err)
	require.False(t, alone.Relays())
	relays := start(t, "trap : INT; python3 -c 'input(\"ready\")'; exit", nil)
	_, err = readUntil(t, relays, says("ready"))
	require.NoError(t, err)
	require.Eventually(t, relays.Relays, 10*time.Second, time.Millisecond)
}
