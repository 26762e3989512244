package main

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Three sessions are the first ones. Later ones, also many at once, are not counted.
func TestFirstStartsAreCounted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "state")
	t.Setenv("XDG_STATE_HOME", dir)
	var first atomic.Int32
	for range welcomes {
		yes, err := countStart()
		require.NoError(t, err)
		require.True(t, yes)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if yes, err := countStart(); yes || err != nil {
				first.Add(1)
			}
		})
	}
	all.Wait()
	require.Zero(t, first.Load())
	info, err := os.Stat(filepath.Join(dir, "terminalproxy", startsFile))
	require.NoError(t, err)
	require.EqualValues(t, welcomes, info.Size())
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// Where the count cannot be kept there is no line, and nothing waits.
func TestStartsThatCannotBeCounted(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"a pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link":      func(path string) error { return os.Symlink(filepath.Join(t.TempDir(), "other"), path) },
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			t.Setenv("XDG_STATE_HOME", state)
			require.NoError(t, os.Mkdir(filepath.Join(state, "terminalproxy"), 0o700))
			require.NoError(t, spoil(filepath.Join(state, "terminalproxy", startsFile)))
			first, err := countStart()
			require.False(t, first)
			require.Error(t, err)
		})
	}
	t.Run("no directory", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		t.Setenv("XDG_STATE_HOME", file)
		first, err := countStart()
		require.False(t, first)
		require.Error(t, err)
	})
}
