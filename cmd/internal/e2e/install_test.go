package e2e_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkout is the directory of the Makefile.
var checkout = filepath.Join("..", "..", "..")

// files are the files below a directory, by their names in it.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, name)
		}
		return err
	}))
	return names
}

// TestInstallAndUninstall: make install puts everything below PREFIX, where it works, and make uninstall takes all of it away and no more.
func TestInstallAndUninstall(t *testing.T) {
	w := newWorld(t, "make", "man")
	install := func(goal string) result {
		return w.do("make", "-C", mustAbs(t, checkout), goal, "BIN="+filepath.Join(root, "bin"), "DESTDIR="+w.path("to"), "PREFIX=/opt/tp")
	}
	r := install("install")
	require.Zero(t, r.status, r.err)
	names := files(t, w.path("to"))
	for _, name := range []string{"bin/proxy", "bin/gateway", "share/man/man1/gateway.1", "share/zsh/site-functions/_proxy", "share/doc/terminalproxy/docs/safety.md", "share/terminalproxy/plugin/.claude-plugin/plugin.json"} {
		require.Contains(t, names, "opt/tp/"+name)
	}
	require.Contains(t, w.content("to/opt/tp/share/doc/terminalproxy/systemd/terminalproxy-gateway.service"), "ExecStart=/opt/tp/bin/gateway serve")
	require.Zero(t, w.do(w.path("to/opt/tp/bin/proxy"), "true").status)
	require.Contains(t, w.do("man", "-M", w.path("to/opt/tp/share/man"), "gateway").out, "gateway reclaim")

	w.write("to/opt/tp/share/other", "another package's")
	require.Zero(t, install("install").status, "again, over the old one")
	r = install("uninstall")
	require.Zero(t, r.status, r.err)
	require.Equal(t, []string{"opt/tp/share/other"}, files(t, w.path("to")))

	require.NoError(t, os.Mkdir(w.path("empty"), 0o700))
	r = w.do("make", "-C", mustAbs(t, checkout), "install", "BIN="+w.path("empty"), "DESTDIR="+w.path("to"))
	require.NotZero(t, r.status)
	require.Contains(t, r.err, "run make first")
}

// TestAnUpgradeUnderARunningAgent: gateway mcp starts programs when its file is gone, as during an upgrade, and also then the reaper ends
// them that it starts itself again for.
func TestAnUpgradeUnderARunningAgent(t *testing.T) {
	w := newWorld(t)
	w.cli = w.path("gateway")
	require.NoError(t, os.Link(filepath.Join(root, "bin", "gateway"), w.cli))
	a := w.agent("claude", eras[0])
	a.good("terminal_list", nil, "there are no terminals")
	require.NoError(t, os.Remove(w.cli))
	_, text := a.runs(args{"program": "sh", "args": []string{"-c", deaf}, "wait_for": "text", "value": "ready"}, "matched")
	w.kill(strconv.Itoa(a.cmd.Process.Pid), syscall.SIGKILL)
	w.gone(regexp.MustCompile(`ready pid=(\d+)`).FindStringSubmatch(text)[1])
	require.NoError(t, os.Remove(filepath.Join(w.run(), "gateway.sock"))) // the next one to come would have replaced it
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	require.NoError(t, err)
	return abs
}
