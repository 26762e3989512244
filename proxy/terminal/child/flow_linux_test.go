package child_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOutputStopped(t *testing.T) {
	for _, tt := range []struct {
		settings string
		steps    []string // keys, and after each whether the output is stopped
	}{
		{"ixon -ixany", []string{"a", "no", "\x13", "yes", "b", "yes", "\x11", "no", "x\x13y", "yes", "\x11\x13", "yes", "\x13\x11", "no"}},
		{"ixon ixany", []string{"\x13", "yes", "b", "no", "\x13\x13", "yes", "\x11", "no"}},
		{"-ixon", []string{"\x13", "no"}},
		{"ixon stop ^X", []string{"\x13", "no"}},
		{"raw", []string{"\x13", "no"}},
	} {
		c := start(t, "stty "+tt.settings+"; echo ready; exec sleep 1000", nil)
		until(t, c, "ready")
		for i := 0; i < len(tt.steps); i += 2 {
			write(t, c, []byte(tt.steps[i]))
			require.Equal(t, tt.steps[i+1] == "yes", c.IsOutputStopped(), "%s: %q", tt.settings, tt.steps[i])
		}
	}
}

// Its output continues.
func TestAProgramThatSwitchesFlowControlOff(t *testing.T) {
	c := start(t, "stty ixon; echo ready; read x; stty -ixon; echo done; read x", nil)
	until(t, c, "ready")
	write(t, c, []byte("\x13"))
	require.True(t, c.IsOutputStopped())
	write(t, c, []byte("\n"))
	until(t, c, "done")
	require.False(t, c.IsOutputStopped())
}
