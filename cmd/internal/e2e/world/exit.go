package world

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ChildOf returns the only child of a process.
func ChildOf(t *testing.T, pid string) string {
	t.Helper()
	data, err := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("this kernel does not list a process's children")
	}
	require.NoError(t, err)
	children := strings.Fields(string(data))
	require.Len(t, children, 1)
	return children[0]
}
