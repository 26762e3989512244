//go:build linux

package built_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// root holds a directory for each benchmark, and bin with the binaries and the helpers. It is short: a socket's path has
// 108 bytes at most (unix(7)).
var root string

// helpers are what this binary is when it is called by another name: the program that is looked at, and the other end of
// a bare transport.
var helpers = map[string]func(args []string) error{"marker": marker, "echo": echo, "echo-stdio": echoStdio, "ticker": ticker, "fan": fan}

func TestMain(m *testing.M) {
	if help, ok := helpers[filepath.Base(os.Args[0])]; ok {
		if err := help(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	status := m.Run()
	if root != "" {
		_ = os.RemoveAll(root)
	}
	os.Exit(status)
}

// build makes the binaries at the first call.
var build = sync.OnceValue(func() error {
	var err error
	if root, err = os.MkdirTemp("/tmp", "bench"); err != nil {
		return err
	}
	bin := filepath.Join(root, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		return err
	}
	// As the Makefile builds them.
	compile := exec.CommandContext(context.Background(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, "terminalproxy/cmd/proxy", "terminalproxy/cmd/gateway")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := compile.CombinedOutput(); err != nil {
		return fmt.Errorf("build the binaries: %w\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for name := range helpers {
		if err := os.Symlink(self, filepath.Join(bin, name)); err != nil {
			return err
		}
	}
	return nil
})
