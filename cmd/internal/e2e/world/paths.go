package world

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Checkout is the directory of the Makefile.
var Checkout = filepath.Join("..", "..", "..", "..")

func MustAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	require.NoError(t, err)
	return abs
}
