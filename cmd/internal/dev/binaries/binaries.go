// Package binaries builds proxy and gateway for tests that drive the built programs, and puts the
// helpers of those tests beside them. A helper is the test's own binary under another name, so that
// a test needs no program that the machine may lack.
package binaries

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Helpers are the functions of a test's binary by the names under which it is called.
type Helpers map[string]func(args []string) error

// Run runs the helper that this process was called as and exits. It returns if argv[0] names no
// helper. TestMain calls it first.
func (h Helpers) Run() {
	help, ok := h[filepath.Base(os.Args[0])]
	if !ok {
		return
	}
	if err := help(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Compile holds the compiler flags of the Makefile. Other flags would compile every package again.
var Compile = []string{"-trimpath", "-gcflags=crypto/tls=-l"}

// Build makes the directory bin, with the binaries and the helpers in it.
func Build(bin string, helpers Helpers) error {
	if err := os.Mkdir(bin, 0o700); err != nil {
		return err
	}
	for program, tags := range map[string]string{"proxy": "nethttpomithttp2", "gateway": ""} {
		args := slices.Concat([]string{"build"}, Compile, []string{
			"-ldflags", "-s -w -funcalign=16", "-tags", tags,
			"-o", bin, "terminalproxy/cmd/" + program,
		})
		compile := exec.CommandContext(context.Background(), "go", args...)
		compile.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := compile.CombinedOutput(); err != nil {
			return fmt.Errorf("build the binaries: %w\n%s", err, out)
		}
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
}
