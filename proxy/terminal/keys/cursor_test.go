package keys_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/keys"
)

func TestCursorReport(t *testing.T) {
	for in, want := range map[string]int{"\x1b[1;1R": 0, "\x1b[24;80R": 23} {
		row, ok := keys.CursorReport([]byte(in))
		require.True(t, ok, "%q", in)
		require.Equal(t, want, row, "%q", in)
	}
	for _, in := range []string{"", "R", "\x1b[R", "\x1b[1R", "\x1b[0;1R", "\x1b[1;1", "\x1b[?1;1R", "x\x1b[1;1R", "\x1b[ 1;1R", "\x1b[1;1;1R"} {
		_, ok := keys.CursorReport([]byte(in))
		require.False(t, ok, "%q", in)
	}
}

func TestModeReport(t *testing.T) {
	mode, state, ok := keys.ModeReport([]byte("\x1b[?2027;3$y"))
	require.True(t, ok)
	require.Equal(t, [2]int{2027, 3}, [2]int{mode, state})
	for _, in := range []string{"", "y", "\x1b[?2027$y", "\x1b[?2027;3$", "\x1b[2027;3$y", "\x1b[?2027;3$x", "\x1b[?2027;3$yy\x1b", "\x1b[?2027;3y"} {
		_, _, ok := keys.ModeReport([]byte(in))
		require.False(t, ok, "%q", in)
	}
}

func TestCursorReports(t *testing.T) {
	for in, want := range map[string]int{
		"": 0, "\x1b[1;1R": 1, "\x1b[?62;22c\x1b[1;1R\x1b[7;80R\x1bP>|R\x1b\\": 2, "\x1b[1;1\x1b[2;2R": 1, "RR": 0,
	} {
		require.Equal(t, want, keys.CursorReports([]byte(in)), "%q", in)
	}
}
