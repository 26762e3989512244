package tty_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"terminalproxy/proxy/terminal/tty"
)

// TestNoBlockingCallsR15 searches the source for calls that make a PTY's master blocking.
func TestNoBlockingCallsR15(t *testing.T) {
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

// A write that bypasses Go's scheduler must never block: a screen that takes nothing says so.
func TestAFullScreenSaysSo(t *testing.T) {
	master, slave, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	defer slave.Close()
	terminal, err := tty.Open(slave, slave)
	require.NoError(t, err)
	defer terminal.Close()
	_, screen := terminal.Descriptors()
	flags, err := unix.FcntlInt(uintptr(screen), unix.F_GETFL, 0)
	require.NoError(t, err)
	require.NotZero(t, flags&unix.O_NONBLOCK)
	for err == nil {
		_, err = terminal.Write(make([]byte, 4096))
	}
	require.ErrorIs(t, err, tty.ErrAgain)
}
