package child_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/child"
)

// A variable whose name only begins alike stays.
func TestAVariableTakesTheOthersPlace(t *testing.T) {
	env := []string{"A=1", "AB=2", "A=3", "C=4"}
	require.Equal(t, []string{"AB=2", "C=x=y", "A=5"}, child.WithVariables(env, "C=x=y", "A=5"))
	require.Equal(t, []string{"AB=2"}, child.WithoutVariable([]string{"A=1", "AB=2"}, "A"))
	require.Equal(t, []string{"A=1"}, child.WithVariables(nil, "A=1"))
}
