package screen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRepliesAreBounded: a flood of queries that nobody takes the answers of.
func TestRepliesAreBounded(t *testing.T) {
	s := New(Config{Cols: 10, Rows: 4})
	for range 50_000 {
		s.Feed([]byte("\x1b[c"))
	}
	require.LessOrEqual(t, len(s.TakeReplies()), maxReplies)
	require.Nil(t, s.TakeReplies())
}
