package screen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgress(t *testing.T) {
	s := New(Config{Cols: 20, Rows: 2})
	for _, c := range []struct {
		said string
		want Progress
		news bool
	}{
		{"\x1b]9;4;1;42\a", Progress{ProgressRuns, 42}, true},
		{"\x1b]9;4;1;42\x1b\\", Progress{ProgressRuns, 42}, false},
		{"\x1b]9;build done\a", Progress{ProgressRuns, 42}, false}, // a notification
		{"\x1b]9;4\a", Progress{ProgressRuns, 42}, false},
		{"\x1b]9;4;5;1\a", Progress{ProgressRuns, 42}, false},
		{"\x1b]9;4;-1;1\a", Progress{ProgressRuns, 42}, false},
		{"\x1b]9;4;2\a", Progress{ProgressFailed, 42}, true},
		{"\x1b]9;4;4;43\a", Progress{ProgressPaused, 43}, true},
		{"\x1b]9;4;1;1000\a", Progress{ProgressRuns, 100}, true},
		{"\x1b]9;4;1;-3\a", Progress{ProgressRuns, 0}, true},
		{"\x1b]9;4;3\a", Progress{ProgressUnknown, 0}, true},
		{"\x1b]9;4;0;7\a", Progress{}, true},
		{"\x1b]9;4;1;9\a", Progress{ProgressRuns, 9}, true},
		{"\x1bc", Progress{}, true},
	} {
		before := s.Rev()
		s.Feed([]byte(c.said))
		require.Equal(t, c.want, s.Progress(), "%q", c.said)
		require.Equal(t, c.news, s.Rev() != before, "%q", c.said)
	}
}
