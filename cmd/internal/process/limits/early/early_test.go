package early

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEarlyIsInitializedBeforeNUID holds the two conditions: Go initializes ready packages in the
// order of their paths, and time is what nuid waits for.
func TestEarlyIsInitializedBeforeNUID(t *testing.T) {
	list := func(args ...string) []string {
		out, err := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...).Output()
		require.NoError(t, err)
		return strings.Fields(string(out))
	}
	require.Less(t, list(".")[0], "time")
	require.NotContains(t, list("-deps", "."), "time")
	require.Contains(t, list("-deps", "github.com/nats-io/nuid"), "time")
}
