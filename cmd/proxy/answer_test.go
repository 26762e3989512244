package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// An answer that could not be written is a failure.
func TestAnUnwrittenAnswerFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	for _, arg := range []string{"--help", "--version"} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		for mode, status := range map[int]int{os.O_WRONLY: 0, os.O_RDONLY: statusFailure} {
			out, err := os.OpenFile(path, mode, 0)
			require.NoError(t, err)
			var errs bytes.Buffer
			require.Equal(t, status, run(t.Context(), []string{arg}, os.Stdin, out, &errs, nil, nil), arg)
			require.NoError(t, out.Close())
			if status != 0 {
				require.Contains(t, errs.String(), "proxy: write the answer: ")
			}
		}
	}
}
