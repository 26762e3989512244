package tty_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestR15NoBlockingCalls looks through the source for what makes a PTY's master blocking behind our back.
func TestR15NoBlockingCalls(t *testing.T) {
	blocking := regexp.MustCompile(`\.Fd\(\)|pty\.(Setsize|Getsize|InheritSize|Start)`)
	files := 0
	require.NoError(t, filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotRegexp(t, blocking, string(source), path)
		return nil
	}))
	require.Greater(t, files, 20, "the whole of package proxy was looked at")
}
