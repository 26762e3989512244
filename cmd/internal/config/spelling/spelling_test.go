package spelling_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/config/spelling"
)

func TestTheNearestName(t *testing.T) {
	known := []string{"yield", "reclaim-key", "agent", "allow-escapes", "allow-remote-grant", "cols", "log", "log-level"}
	for name, want := range map[string]string{
		"yied": "yield", "Yield": "yield", "reclaim_key": "reclaim-key", "agents": "agent", "col": "cols", "lg": "log", "logs": "log",
		"allow-remote": "allow-remote-grant", "zzz": "", "": "", "x": "", "loglevel": "log-level",
	} {
		require.Equal(t, want, spelling.NearestName(name, known), name)
	}
}
