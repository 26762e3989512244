package rights

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// R52: no message comes to the wire without somebody saying who may send it.
func TestEveryMessageHasARowR52(t *testing.T) {
	require.ElementsMatch(t, protocol.Kinds(), slices.Collect(maps.Keys(needs)), "a message without a row in rights.go, or a row without a message")
}
