package world

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/dev/binaries"
)

// Root holds a directory for each test, and bin, with the binaries and the helpers. Its path is
// short: a socket's path has at most 108 bytes (unix(7)).
var Root string

// Main builds the binaries once. Called by the name of a helper, the test binary is that
// helper, so the tests need no program that the machine may lack.
func Main(m *testing.M) {
	Helpers.Run()
	restoreSignals()
	sideBySide()
	os.Exit(prepare(m))
}

// restoreSignals lets the programs of the tests receive the signals that a shell ignores for its
// background jobs, and that nohup ignores. A shell cannot trap a signal that was ignored when it
// started. A signal that this process catches is reset to its default by execve(2).
func restoreSignals() {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// sideBySide lets more tests run at once than there are processors, unless -parallel sets a number:
// they mostly wait, and go test runs as many packages beside each other. Real clients need more
// processor time and more memory.
func sideBySide() {
	flag.Parse()
	each := 6
	if os.Getenv("CLIENTS") != "" {
		each = 2
	}
	if n := flag.Lookup("test.parallel"); n.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = n.Value.Set(strconv.Itoa(each * runtime.GOMAXPROCS(0))) // the flag accepts a number
	}
}

func prepare(m *testing.M) int {
	var err error
	if Root, err = os.MkdirTemp("/tmp", "e2e"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(Root) }()
	if err := binaries.Build(filepath.Join(Root, "bin"), Helpers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := slowTmux(os.Getenv("SLOW_LOOKS")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// slowTmux puts a slow tmux before the real one, which delays each poll of a window by delay
// seconds, as on a busy machine. What stands for a second or two is then gone, so a test has to
// wait for what was shown ([Terminal.SeeShown]). "" restores the real one.
func slowTmux(delay string) error {
	if delay == "" {
		return nil
	}
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\n[ \"$3\" = capture-pane ] && sleep %s\nexec '%s' \"$@\"\n", delay, tmux)
	return os.WriteFile(filepath.Join(Root, "bin", "tmux"), []byte(script), 0o700)
}
