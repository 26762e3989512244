package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// make looks at the Go in PATH first: an older one says only that it cannot read go.mod.
func TestMakeNamesTheGoThatItNeeds(t *testing.T) {
	for answer, want := range map[string]string{
		"":                                       `Go 1\.26 or newer is needed, and there is no go in PATH: https://go.dev/dl\n`,
		"echo go version go1.19.8 linux/amd64":   `Go 1\.26 or newer is needed, this is go1\.19\.8 \(.*/go\): https://go.dev/dl\n`,
		"echo go version go1.9 linux/amd64":      `Go 1\.26 or newer is needed, this is go1\.9 \(.*\n`,
		"echo go: no such toolchain >&2; exit 1": `Go 1\.26 or newer is needed, and .*/go answers: go: no such toolchain ?: https://go.dev/dl\n`,
		"echo go version go1.25.1 linux/amd64":   `Go 1\.26 or newer is needed, this is go1\.25\.1 \(.*\n`,
		"echo gccgo 12.2.0":                      `Go 1\.26 or newer is needed, this is gccgo .*\n`,
		"echo go version go1.26.0 linux/amd64":   ``,
		"echo go version go1.27rc1 linux/amd64":  ``,
		"echo go version devel go1.30-ab12 x/y":  ``,
		"echo go version go2.0 linux/amd64":      ``,
	} {
		bin := t.TempDir()
		linkPrograms(t, bin)
		if answer != "" {
			require.NoError(t, os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\n"+answer+"\n"), 0o700)) //nolint:gosec // a program
		}
		require.Regexp(t, "^"+want+"$", checkGo(t, bin, bin), answer)
	}
}

// An installed Go that is not in PATH is named.
func TestMakeFindsTheGoThatIsNotInPath(t *testing.T) {
	root, bin := t.TempDir(), t.TempDir()
	linkPrograms(t, bin)
	require.NoError(t, os.Mkdir(filepath.Join(root, "bin"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "bin", "go"), []byte("#!/bin/sh\n"), 0o700)) //nolint:gosec // a program
	require.Equal(t, "Go 1.26 or newer is needed, and "+root+"/bin is not in PATH: export PATH=$PATH:"+root+"/bin\n", checkGo(t, bin, root))
}

// linkPrograms makes a directory for PATH with what check-go runs.
func linkPrograms(t *testing.T, bin string) {
	t.Helper()
	for _, name := range []string{"sh", "sed", "tr", "head", "dirname"} {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(bin, name)))
	}
}

// checkGo returns what check-go prints.
func checkGo(t *testing.T, path, goroot string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "../.ci/check-go")
	cmd.Env = []string{"PATH=" + path, "GOROOT=" + goroot}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
