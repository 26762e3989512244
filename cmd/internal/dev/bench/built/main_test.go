//go:build linux

package built_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"terminalproxy/cmd/internal/dev/binaries"
)

// root holds a directory for each benchmark, and bin with the binaries and the helpers. It is short: a socket's path has
// 108 bytes at most (unix(7)).
var root string

// helpers are what this binary is when it is called by another name: a program that is looked at, the other end of a bare transport,
// or a bare wrapper.
var helpers = binaries.Helpers{
	"marker": marker, "echo": echo, "echo-stdio": echoStdio, "ticker": ticker, "fan": fan,
	"flood": flood, "echo-keys": echoKeys, "copy": copyHelper,
}

func TestMain(m *testing.M) {
	helpers.Run()
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
	return binaries.Build(filepath.Join(root, "bin"), helpers)
})
