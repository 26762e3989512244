package child

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgramName(t *testing.T) {
	for first, want := range map[string]string{
		"-bash": "bash", "/usr/bin/vim": "vim", "nginx: worker process": "nginx", "/opt/My App/tool --token x": "tool", "": "", "/": "", "./run": "run",
	} {
		require.Equal(t, want, programName(first), first)
	}
}
