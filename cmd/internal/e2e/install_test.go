package e2e_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkout is the directory of the Makefile.
var checkout = filepath.Join("..", "..", "..")

// files lists the files below a directory, by their names in it.
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

// makeFrom runs make in the checkout with the tests' binaries.
func (w *world) makeFrom(goal string, variables ...string) result {
	return w.do("make", append([]string{"-C", mustAbs(w.t, checkout), goal, "BIN=" + filepath.Join(root, "bin")}, variables...)...)
}

// make install puts everything below PREFIX, where it works. make uninstall removes exactly that.
func TestInstallAndUninstall(t *testing.T) {
	w := newWorld(t, "make", "man")
	install := func(goal string) result { return w.makeFrom(goal, "DESTDIR="+w.path("to"), "PREFIX=/opt/tp") }
	r := install("install")
	require.Zero(t, r.status, r.err)
	names := files(t, w.path("to"))
	for _, name := range []string{"bin/proxy", "bin/gateway", "share/man/man1/gateway.1", "share/zsh/site-functions/_proxy", "share/doc/terminalproxy/docs/safety.md", "share/terminalproxy/plugin/.claude-plugin/plugin.json"} {
		require.Contains(t, names, "opt/tp/"+name)
	}
	require.ElementsMatch(t, strings.Fields(w.content("to/opt/tp/share/terminalproxy/FILES")), files(t, w.path("to/opt/tp")))
	require.Contains(t, w.content("to/opt/tp/share/doc/terminalproxy/systemd/terminalproxy-gateway.service"), "ExecStart=/opt/tp/bin/gateway serve")
	require.Zero(t, w.do(w.path("to/opt/tp/bin/proxy"), "true").status)
	require.Contains(t, w.do("man", "-M", w.path("to/opt/tp/share/man"), "gateway").out, "gateway reclaim")

	w.write("to/opt/tp/share/other", "another package's")
	require.Zero(t, install("install").status, "again, over the old one")
	r = install("uninstall")
	require.Zero(t, r.status, r.err)
	require.Equal(t, []string{"opt/tp/share/other"}, files(t, w.path("to")))
	require.NoDirExists(t, w.path("to/opt/tp/share/terminalproxy"))
	require.DirExists(t, w.path("to/opt/tp/bin"), "other packages use it")
	r = install("uninstall")
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "nothing to remove")

	require.NoError(t, os.Mkdir(w.path("empty"), 0o700))
	r = w.do("make", "-C", mustAbs(t, checkout), "install", "BIN="+w.path("empty"), "DESTDIR="+w.path("to"))
	require.NotZero(t, r.status)
	require.Contains(t, r.err, "run make first")
}

// Another directory's name is the beginning of the path, as ada's "my" is the beginning of "my
// stuff".
func TestInstallIntoAPathWithBlanks(t *testing.T) {
	w := newWorld(t, "make")
	require.NoError(t, os.Mkdir(w.path("a"), 0o700))
	w.write("a/file", "the user's")
	for _, name := range []string{"a b", "a b/c  d", "a%b$c;d#e"} {
		prefix := w.path(name)
		r := w.makeFrom("install", "PREFIX="+strings.ReplaceAll(prefix, "$", "$$"))
		require.Zero(t, r.status, r.err)
		require.Zero(t, w.do(filepath.Join(prefix, "bin", "proxy"), "true").status)
		quoted := strings.ReplaceAll(prefix+"/bin/gateway", "%", "%%")
		unit := w.content(name + "/share/doc/terminalproxy/systemd/terminalproxy-gateway.service")
		require.Contains(t, unit, "\nExecStart=\""+quoted+"\" serve")
		require.NotContains(t, unit, "/usr/local")
		if _, err := exec.LookPath("systemd-analyze"); err == nil {
			w.write("gateway.service", unit)
			r = w.do("systemd-analyze", "verify", "--man=no", w.path("gateway.service"))
			require.Zero(t, r.status, r.err)
			require.Empty(t, r.err)
		}
		r = w.makeFrom("uninstall", "PREFIX="+strings.ReplaceAll(prefix, "$", "$$"))
		require.Zero(t, r.status, r.err)
		left, err := os.ReadDir(prefix)
		require.NoError(t, err)
		require.Empty(t, left, "no directory that install made")
		require.Equal(t, "the user's", w.content("a/file"))
	}
}

// make uninstall keeps the user's files, also in our directories and behind links in their place.
func TestUninstallKeepsTheUsersFiles(t *testing.T) {
	w := newWorld(t, "make")
	prefix := "PREFIX=" + w.path("to")
	require.Zero(t, w.makeFrom("install", prefix).status)
	w.write("to/share/doc/terminalproxy/my notes", "the user's")
	require.NoError(t, os.Rename(w.path("to/share/terminalproxy/plugin"), w.path("plugin")))
	require.NoError(t, os.Symlink(w.path("plugin"), w.path("to/share/terminalproxy/plugin")))
	require.NoError(t, os.Remove(w.path("to/bin/proxy")))
	w.write("program", "the user's")
	require.NoError(t, os.Symlink(w.path("program"), w.path("to/bin/proxy")))
	plugin := files(t, w.path("plugin"))
	require.NotEmpty(t, plugin)

	r := w.makeFrom("install", prefix)
	require.NotZero(t, r.status)
	require.Contains(t, r.err, w.path("to/share/terminalproxy/plugin")+" is a symbolic link")

	r = w.makeFrom("uninstall", prefix)
	require.Zero(t, r.status, r.err)
	require.Contains(t, r.out, "left "+w.path("to/share/doc/terminalproxy")+": it is not empty")
	require.Contains(t, r.out, w.path("to/share/terminalproxy/plugin")+" is a symbolic link")
	require.ElementsMatch(t, []string{"share/doc/terminalproxy/my notes", "share/terminalproxy/plugin"}, files(t, w.path("to")))
	require.Equal(t, plugin, files(t, w.path("plugin")))
	require.Equal(t, "the user's", w.content("program"), "a link goes, what it points to stays")

	// One of our directories, and a link in place of the list's directory.
	require.NoError(t, os.RemoveAll(w.path("to")))
	require.Zero(t, w.makeFrom("install", prefix).status)
	require.NoError(t, os.Rename(w.path("to/share/terminalproxy"), w.path("elsewhere")))
	require.NoError(t, os.Symlink(w.path("elsewhere"), w.path("to/share/terminalproxy")))
	before := files(t, w.path("elsewhere"))
	require.Contains(t, w.makeFrom("uninstall", prefix).out, "nothing to remove")
	require.Equal(t, before, files(t, w.path("elsewhere")))
	require.FileExists(t, w.path("to/bin/gateway"))
}

// make uninstall stays below its prefix, whatever the list names, and accepts an older version's
// list.
func TestUninstallStaysBelowItsPrefix(t *testing.T) {
	w := newWorld(t, "make")
	prefix := "PREFIX=" + w.path("to")
	w.write("precious", "the user's")
	require.Zero(t, w.makeFrom("install", prefix).status)
	list := "to/share/terminalproxy/FILES"
	w.write("to/share/doc/terminalproxy/docs/dropped.md", "an older version's")
	w.write(list, w.content(list)+"share/doc/terminalproxy/docs/dropped.md\n")
	require.Zero(t, w.makeFrom("install", prefix).status)
	genuine := w.content(list)
	for _, line := range []string{"../precious", "bin/../../precious", w.path("precious")} {
		w.write(list, line+"\n")
		r := w.makeFrom("uninstall", prefix)
		require.NotZero(t, r.status)
		require.Contains(t, r.err, "nothing above")
		require.FileExists(t, w.path("precious"))
	}
	w.write(list, genuine)
	require.Zero(t, w.makeFrom("uninstall", prefix).status)
	require.Empty(t, files(t, w.path("to")))
}

func TestInstallRefusesAnUnclearPrefix(t *testing.T) {
	w := newWorld(t, "make")
	for _, c := range []struct{ prefix, destdir, message string }{
		{"", "", "PREFIX is empty"},
		{"to", "", "PREFIX=to is relative"},
		{"~/to", "", "PREFIX=~/to is relative"},
		{"/opt", "to", "DESTDIR=to is relative"},
		{w.dir + "/a/../to", "", "PREFIX=" + w.dir + "/a/../to: write the directory without . and .."},
		{"/opt", w.dir + "/a/..", "DESTDIR=" + w.dir + "/a/..: write the directory without . and .."},
		{`/o"t`, "", "PREFIX=/o\"t has a quote"},
		{"/o't", "", "PREFIX=/o't has a quote"},
		{`/o\t`, "", `PREFIX=/o\t has a quote or a backslash`},
		{"", w.path("to"), ""},
	} {
		for _, goal := range []string{"install", "uninstall"} {
			r := w.makeFrom(goal, "PREFIX="+c.prefix, "DESTDIR="+c.destdir)
			if c.message == "" {
				require.Zero(t, r.status, r.err)
				continue
			}
			require.NotZero(t, r.status)
			require.Contains(t, r.err, goal+": "+c.message)
		}
	}
}

// If the goal needs Go, make names the missing version before anything else.
func TestMakeNamesTheGoThatItNeeds(t *testing.T) {
	w := newWorld(t, "make")
	bin := w.path("fake go")
	require.NoError(t, os.Mkdir(bin, 0o700))
	for version, problem := range map[string]string{
		"go version go1.19.8 linux/amd64":       "Go 1.26 or newer is needed, this is go1.19.8 (" + bin + "/go): https://go.dev/dl",
		"go version go1.25.1 linux/amd64":       "Go 1.26 or newer is needed, this is go1.25.1",
		"go version go1.26.0 linux/amd64":       "",
		"go version go1.27rc1 linux/amd64":      "",
		"go version devel go1.30-ab12 Mon x/y":  "",
		"go version go2.0.1 linux/amd64":        "",
		"gccgo (Debian 12.2.0-14) 12.2.0":       "Go 1.26 or newer is needed, this is gccgo",
		"toolchain not available; exit 1; echo": "answers: toolchain not available",
	} {
		script := "#!/bin/sh\necho '" + version + "'\n"
		if answer, fails := strings.CutSuffix(version, "; exit 1; echo"); fails {
			script = "#!/bin/sh\necho '" + answer + "' >&2\nexit 1\n"
		}
		w.writeScript("fake go/go", script)
		runMake := func(goal string) result {
			return w.do("env", "PATH="+bin+":/usr/bin:/bin", "make", "-C", mustAbs(t, checkout), "--dry-run", goal, "BIN="+filepath.Join(root, "bin"), "DESTDIR="+w.path("to"))
		}
		for _, goal := range []string{"all", "demo", "test", "check", "lint", "dist"} {
			r := runMake(goal)
			if problem == "" {
				require.Zero(t, r.status, r.err)
				continue
			}
			require.NotZero(t, r.status, goal)
			require.Contains(t, r.err, problem)
			require.Equal(t, 1, strings.Count(r.err, "\n"), r.err)
		}
		for _, goal := range []string{"install", "uninstall", "clean"} {
			require.Zero(t, runMake(goal).status, goal)
		}
	}
}

// gateway mcp starts programs while its file is gone, as during an upgrade. The reaper that it
// restarts itself for still ends those programs.
func TestAnUpgradeUnderARunningAgent(t *testing.T) {
	w := newWorld(t)
	w.cli = w.path("gateway")
	require.NoError(t, os.Link(filepath.Join(root, "bin", "gateway"), w.cli))
	a := w.agent("claude", eras[0])
	a.mustCall("terminal_list", nil, "there are no terminals")
	require.NoError(t, os.Remove(w.cli))
	_, text := a.runProgram(args{"program": "sh", "args": []string{"-c", deaf}, "wait_for": "text", "value": "ready"}, "matched")
	w.kill(strconv.Itoa(a.cmd.Process.Pid), syscall.SIGKILL)
	w.waitGone(regexp.MustCompile(`ready pid=(\d+)`).FindStringSubmatch(text)[1])
	require.NoError(t, os.Remove(filepath.Join(w.run(), "gateway.sock"))) // the next gateway would have replaced it
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	require.NoError(t, err)
	return abs
}
