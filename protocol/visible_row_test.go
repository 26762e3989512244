package protocol

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A row that ends within a sequence, as a broken or hostile proxy may send it, loses that.
func TestVisibleRowOfAnUnfinishedSequence(t *testing.T) {
	for _, end := range []string{"\x1b", "\x1b[", "\x1b[1;3", "\x1b]8;;x", "\x1b]"} {
		require.Equal(t, "é", VisibleRow("é"+end), "%q", end)
	}
}
