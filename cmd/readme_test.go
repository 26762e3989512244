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

// TestR27WhatIsBestEffort is for R30 too: the README promises no more of the secret guard and of covered tokens than there is.
func TestR27WhatIsBestEffort(t *testing.T) {
	require.Contains(t, readme(t), "Password prompts of remote programs and of programs that read raw keys (ssh sessions, sudo with asterisks, forms) are recognised by their looks, best effort")
	require.Contains(t, readme(t), "Covering secrets is defence in depth and no guarantee")
}
