package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// root holds a directory for each test, and bin, in which the binaries and the helpers are. It is short: a socket's path
// has 108 bytes at most (unix(7)).
var root string

// TestMain builds the binaries once. The test binary itself, called by the name of a helper, is that helper: the programs
// that the tests look into need nothing that the machine may lack.
func TestMain(m *testing.M) {
	if help, ok := helpers[filepath.Base(os.Args[0])]; ok {
		if err := help(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	sideBySide()
	os.Exit(prepare(m))
}

// sideBySide lets more tests run at once than there are processors, unless -parallel says how many: they wait rather than
// compute.
func sideBySide() {
	flag.Parse()
	if n := flag.Lookup("test.parallel"); n.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = n.Value.Set(strconv.Itoa(4 * runtime.GOMAXPROCS(0))) // a number is taken
	}
}

func prepare(m *testing.M) int {
	var err error
	if root, err = os.MkdirTemp("/tmp", "e2e"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(root) }()
	if err := build(filepath.Join(root, "bin")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func build(bin string) error {
	if err := os.Mkdir(bin, 0o700); err != nil {
		return err
	}
	// As the Makefile builds them, so that nothing is compiled twice.
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
}
