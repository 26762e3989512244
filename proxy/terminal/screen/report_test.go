package screen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A flood of queries whose answers are not read.
func TestRepliesAreBounded(t *testing.T) {
	s := New(Config{Cols: 10, Rows: 4})
	for range 50_000 {
		s.Feed([]byte("\x1b[c"))
	}
	require.LessOrEqual(t, len(s.TakeReplies()), maxReplies)
	require.Nil(t, s.TakeReplies())
}
