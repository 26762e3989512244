package redact

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each name announces a secret, in the form in which the lists write it.
func TestEveryNameIsFound(t *testing.T) {
	for _, name := range slices.Concat(passwords, keys) {
		line := name + "=k3xPq81vTzR0aLmN2"
		covered, n := (*Own)(nil).Text(line, -1)
		require.Equal(t, 1, n, line)
		require.NotContains(t, covered, "k3xPq81v")
	}
}
