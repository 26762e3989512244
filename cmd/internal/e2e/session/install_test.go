package session_test

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

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

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
func makeFrom(w *world.World, goal string, variables ...string) world.Result {
	return w.Do("make", append([]string{"-C", world.MustAbs(w.T, world.Checkout), goal, "BIN=" + filepath.Join(world.Root, "bin")}, variables...)...)
}

// make install puts everything below PREFIX, where it works. make uninstall removes exactly that.
func TestInstallAndUninstall(t *testing.T) {
	w := world.New(t, "make", "man")
	install := func(goal string) world.Result { return makeFrom(w, goal, "DESTDIR="+w.Path("to"), "PREFIX=/opt/tp") }
	r := install("install")
	require.Zero(t, r.Status, r.Err)
	names := files(t, w.Path("to"))
	for _, name := range []string{"bin/proxy", "bin/gateway", "share/man/man1/gateway.1", "share/zsh/site-functions/_proxy", "share/doc/terminalproxy/docs/safety.md", "share/terminalproxy/plugin/.claude-plugin/plugin.json"} {
		require.Contains(t, names, "opt/tp/"+name)
	}
	require.ElementsMatch(t, strings.Fields(w.Content("to/opt/tp/share/terminalproxy/FILES")), files(t, w.Path("to/opt/tp")))
	require.Contains(t, w.Content("to/opt/tp/share/doc/terminalproxy/systemd/terminalproxy-gateway.service"), "ExecStart=/opt/tp/bin/gateway serve")
	require.Zero(t, w.Do(w.Path("to/opt/tp/bin/proxy"), "true").Status)
	require.Contains(t, w.Do("man", "-M", w.Path("to/opt/tp/share/man"), "gateway").Out, "gateway reclaim")

	w.Write("to/opt/tp/share/other", "another package's")
	require.Zero(t, install("install").Status, "again, over the old one")
	r = install("uninstall")
	require.Zero(t, r.Status, r.Err)
	require.Equal(t, []string{"opt/tp/share/other"}, files(t, w.Path("to")))
	require.NoDirExists(t, w.Path("to/opt/tp/share/terminalproxy"))
	require.DirExists(t, w.Path("to/opt/tp/bin"), "other packages use it")
	r = install("uninstall")
	require.Zero(t, r.Status, r.Err)
	require.Contains(t, r.Out, "nothing to remove")

	require.NoError(t, os.Mkdir(w.Path("empty"), 0o700))
	r = w.Do("make", "-C", world.MustAbs(t, world.Checkout), "install", "BIN="+w.Path("empty"), "DESTDIR="+w.Path("to"))
	require.NotZero(t, r.Status)
	require.Contains(t, r.Err, "run make first")
}

// Another directory's name is the beginning of the path, as ada's "my" is the beginning of "my
// stuff".
func TestInstallIntoAPathWithBlanks(t *testing.T) {
	w := world.New(t, "make")
	require.NoError(t, os.Mkdir(w.Path("a"), 0o700))
	w.Write("a/file", "the user's")
	for _, name := range []string{"a b", "a b/c  d", "a%b$c;d#e"} {
		prefix := w.Path(name)
		r := makeFrom(w, "install", "PREFIX="+strings.ReplaceAll(prefix, "$", "$$"))
		require.Zero(t, r.Status, r.Err)
		require.Zero(t, w.Do(filepath.Join(prefix, "bin", "proxy"), "true").Status)
		quoted := strings.ReplaceAll(prefix+"/bin/gateway", "%", "%%")
		unit := w.Content(name + "/share/doc/terminalproxy/systemd/terminalproxy-gateway.service")
		require.Contains(t, unit, "\nExecStart=\""+quoted+"\" serve")
		require.NotContains(t, unit, "/usr/local")
		if _, err := exec.LookPath("systemd-analyze"); err == nil {
			w.Write("gateway.service", unit)
			r = w.Do("systemd-analyze", "verify", "--man=no", w.Path("gateway.service"))
			require.Zero(t, r.Status, r.Err)
			require.Empty(t, r.Err)
		}
		r = makeFrom(w, "uninstall", "PREFIX="+strings.ReplaceAll(prefix, "$", "$$"))
		require.Zero(t, r.Status, r.Err)
		left, err := os.ReadDir(prefix)
		require.NoError(t, err)
		require.Empty(t, left, "no directory that install made")
		require.Equal(t, "the user's", w.Content("a/file"))
	}
}

// make install says where the programs are, and what keeps a shell from finding them there.
func TestInstallSaysWhere(t *testing.T) {
	w := world.New(t, "make")
	prefix := w.Path("own")
	where := "install: proxy and gateway are in " + prefix + "/bin\n"
	for path, want := range map[string]string{
		"/usr/bin:/bin": where + "install: " + prefix + "/bin is not in your PATH: export PATH=\"" + prefix + "/bin:$PATH\" in your shell's start file\n",
		filepath.Join(world.Root, "bin") + ":/usr/bin:/bin": where + "install: your PATH finds " + filepath.Join(world.Root, "bin", "gateway") + " before it: remove that one, or put " + prefix + "/bin first\n",
		prefix + "/bin:/usr/bin:/bin":                       where,
	} {
		r := w.Do("env", "PATH="+path, "make", "--no-print-directory", "-C", world.MustAbs(t, world.Checkout), "install", "BIN="+filepath.Join(world.Root, "bin"), "PREFIX="+prefix)
		require.Zero(t, r.Status, r.Err)
		require.Equal(t, want, r.Out)
	}
}

// make uninstall keeps the user's files, also in our directories and behind links in their place.
func TestUninstallKeepsTheUsersFiles(t *testing.T) {
	w := world.New(t, "make")
	prefix := "PREFIX=" + w.Path("to")
	require.Zero(t, makeFrom(w, "install", prefix).Status)
	w.Write("to/share/doc/terminalproxy/my notes", "the user's")
	require.NoError(t, os.Rename(w.Path("to/share/terminalproxy/plugin"), w.Path("plugin")))
	require.NoError(t, os.Symlink(w.Path("plugin"), w.Path("to/share/terminalproxy/plugin")))
	require.NoError(t, os.Remove(w.Path("to/bin/proxy")))
	w.Write("program", "the user's")
	require.NoError(t, os.Symlink(w.Path("program"), w.Path("to/bin/proxy")))
	plugin := files(t, w.Path("plugin"))
	require.NotEmpty(t, plugin)

	r := makeFrom(w, "install", prefix)
	require.NotZero(t, r.Status)
	require.Contains(t, r.Err, w.Path("to/share/terminalproxy/plugin")+" is a symbolic link")

	r = makeFrom(w, "uninstall", prefix)
	require.Zero(t, r.Status, r.Err)
	require.Contains(t, r.Out, "left "+w.Path("to/share/doc/terminalproxy")+": it is not empty")
	require.Contains(t, r.Out, w.Path("to/share/terminalproxy/plugin")+" is a symbolic link")
	require.ElementsMatch(t, []string{"share/doc/terminalproxy/my notes", "share/terminalproxy/plugin"}, files(t, w.Path("to")))
	require.Equal(t, plugin, files(t, w.Path("plugin")))
	require.Equal(t, "the user's", w.Content("program"), "a link goes, what it points to stays")

	// One of our directories, and a link in place of the list's directory.
	require.NoError(t, os.RemoveAll(w.Path("to")))
	require.Zero(t, makeFrom(w, "install", prefix).Status)
	require.NoError(t, os.Rename(w.Path("to/share/terminalproxy"), w.Path("elsewhere")))
	require.NoError(t, os.Symlink(w.Path("elsewhere"), w.Path("to/share/terminalproxy")))
	before := files(t, w.Path("elsewhere"))
	require.Contains(t, makeFrom(w, "uninstall", prefix).Out, "nothing to remove")
	require.Equal(t, before, files(t, w.Path("elsewhere")))
	require.FileExists(t, w.Path("to/bin/gateway"))
}

// make uninstall stays below its prefix, whatever the list names, and accepts an older version's
// list.
func TestUninstallStaysBelowItsPrefix(t *testing.T) {
	w := world.New(t, "make")
	prefix := "PREFIX=" + w.Path("to")
	w.Write("precious", "the user's")
	require.Zero(t, makeFrom(w, "install", prefix).Status)
	list := "to/share/terminalproxy/FILES"
	w.Write("to/share/doc/terminalproxy/docs/dropped.md", "an older version's")
	w.Write(list, w.Content(list)+"share/doc/terminalproxy/docs/dropped.md\n")
	require.Zero(t, makeFrom(w, "install", prefix).Status)
	genuine := w.Content(list)
	for _, line := range []string{"../precious", "bin/../../precious", w.Path("precious")} {
		w.Write(list, line+"\n")
		r := makeFrom(w, "uninstall", prefix)
		require.NotZero(t, r.Status)
		require.Contains(t, r.Err, "nothing above")
		require.FileExists(t, w.Path("precious"))
	}
	w.Write(list, genuine)
	require.Zero(t, makeFrom(w, "uninstall", prefix).Status)
	require.Empty(t, files(t, w.Path("to")))
}

func TestInstallRefusesAnUnclearPrefix(t *testing.T) {
	w := world.New(t, "make")
	for _, c := range []struct{ prefix, destdir, message string }{
		{"", "", "PREFIX is empty"},
		{"to", "", "PREFIX=to is relative"},
		{"~/to", "", "PREFIX=~/to is relative"},
		{"/opt", "to", "DESTDIR=to is relative"},
		{w.Dir + "/a/../to", "", "PREFIX=" + w.Dir + "/a/../to: write the directory without . and .."},
		{"/opt", w.Dir + "/a/..", "DESTDIR=" + w.Dir + "/a/..: write the directory without . and .."},
		{`/o"t`, "", "PREFIX=/o\"t has a quote"},
		{"/o't", "", "PREFIX=/o't has a quote"},
		{`/o\t`, "", `PREFIX=/o\t has a quote or a backslash`},
		{"", w.Path("to"), ""},
	} {
		for _, goal := range []string{"install", "uninstall"} {
			r := makeFrom(w, goal, "PREFIX="+c.prefix, "DESTDIR="+c.destdir)
			if c.message == "" {
				require.Zero(t, r.Status, r.Err)
				continue
			}
			require.NotZero(t, r.Status)
			require.Contains(t, r.Err, goal+": "+c.message)
		}
	}
}

// If the goal needs Go, make names the missing version before anything else.
func TestMakeNamesTheGoThatItNeeds(t *testing.T) {
	w := world.New(t, "make")
	bin := w.Path("fake go")
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
		w.WriteScript("fake go/go", script)
		runMake := func(goal string) world.Result {
			return w.Do("env", "PATH="+bin+":/usr/bin:/bin", "make", "-C", world.MustAbs(t, world.Checkout), "--dry-run", goal, "BIN="+filepath.Join(world.Root, "bin"), "DESTDIR="+w.Path("to"))
		}
		for _, goal := range []string{"all", "demo", "test", "check", "lint", "dist"} {
			r := runMake(goal)
			if problem == "" {
				require.Zero(t, r.Status, r.Err)
				continue
			}
			require.NotZero(t, r.Status, goal)
			require.Contains(t, r.Err, problem)
			require.Equal(t, 1, strings.Count(r.Err, "\n"), r.Err)
		}
		for _, goal := range []string{"install", "uninstall", "clean"} {
			require.Zero(t, runMake(goal).Status, goal)
		}
	}
}

// gateway mcp starts programs while its file is gone, as during an upgrade. The reaper that it
// restarts itself for still ends those programs.
func TestAnUpgradeUnderARunningAgent(t *testing.T) {
	w := world.New(t)
	w.CLI = w.Path("gateway")
	require.NoError(t, os.Link(filepath.Join(world.Root, "bin", "gateway"), w.CLI))
	a := w.Agent("claude", world.Eras[0])
	a.MustCall("terminal_list", nil, "there are no terminals")
	require.NoError(t, os.Remove(w.CLI))
	_, text := a.RunProgram(world.Args{"program": "sh", "args": []string{"-c", world.Deaf}, "wait_for": "text", "value": "ready"}, "matched")
	w.Kill(strconv.Itoa(a.Cmd.Process.Pid), syscall.SIGKILL)
	w.WaitGone(regexp.MustCompile(`ready pid=(\d+)`).FindStringSubmatch(text)[1])
	require.NoError(t, os.Remove(filepath.Join(w.Run(), "gateway.sock"))) // the next gateway would have replaced it
}
