package cmd_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readme is the README with its line breaks folded, so that a sentence is found however it is wrapped.
func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	return strings.Join(strings.Fields(string(text)), " ")
}

// TestR19ThePromise: the README makes the promise of a reclaim word for word.
func TestR19ThePromise(t *testing.T) {
	require.Contains(t, readme(t), "When reclaim returns no further agent byte enters the terminal, and agent bytes the program has not read are discarded; bytes it has read, including text left unsubmitted on its line, stay.")
}

// TestR50TheLimit: the README says what a grant does not protect against.
func TestR50TheLimit(t *testing.T) {
	require.Contains(t, readme(t), "The grant protects against mistakes and against agents that act only through the gateway. A process running as your user is not contained; use another user or a container for that.")
}
