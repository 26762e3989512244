package screen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestR62NeverAnswered: what would type a program's own words back at it.
func TestR62NeverAnswered(t *testing.T) {
	for name, in := range map[string]string{
		"title":      "\x1b]2;x\x07\x1b[21t",
		"icon":       "\x1b]1;x\x07\x1b[20t",
		"clipboard":  "\x1b]52;c;?\x07",
		"DECRQCRA":   "x\x1b[1;1;1;1;1;1*y",
		"answerback": "\x05",
	} {
		require.Empty(t, fed(10, 4, in).TakeReplies(), name)
	}
}

// TestRepliesAreBounded: a flood of queries that nobody takes the answers of.
func TestRepliesAreBounded(t *testing.T) {
	s := New(Config{Cols: 10, Rows: 4})
	for range 50_000 {
		s.Feed([]byte("\x1b[c"))
	}
	require.LessOrEqual(t, len(s.TakeReplies()), maxReplies)
	require.Nil(t, s.TakeReplies())
}
