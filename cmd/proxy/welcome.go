package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"terminalproxy/gateway/userdirs"
)

// welcomes is how many shared sessions begin with a line that says so.
const welcomes = 3

// startsFile holds a byte for each of the user's first shared sessions, in the state directory.
const startsFile = "starts"

// newStartCounter returns countStart with its error in the log.
func newStartCounter(log *slog.Logger) func() bool {
	return func() bool {
		first, err := countStart()
		if err != nil {
			log.Info("the first sessions are not counted", "error", err)
		}
		return first
	}
}

// countStart reports whether this session is one of the user's first, and counts it. If it cannot
// count, it reports false: a line at every start would tell users what they know.
func countStart() (first bool, err error) {
	dir, err := userdirs.State()
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	// a pipe or a link in its place must not hold up the session or reach another file
	const flags = os.O_CREATE | os.O_APPEND | os.O_WRONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	file, err := os.OpenFile(filepath.Join(dir, startsFile), flags, 0o600)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("%s is not a regular file", file.Name())
	case info.Size() >= welcomes:
		return false, nil
	}
	_, err = file.WriteString(".")
	return err == nil, err
}
