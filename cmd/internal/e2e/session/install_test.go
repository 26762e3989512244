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

// runMake runs make in the checkout with the tests' binaries.
func runMake(w *world.World, goal string, variables ...string) world.Result {
	return w.Do("make", append([]string{
		"--no-print-directory", "-C", world.MustAbs(w.T, world.Checkout), goal, "BIN=" + filepath.Join(world.Root, "bin"),
	}, variables...)...)
}

// make install puts everything below PREFIX, where it works. make uninstall removes exactly that.
func TestInstallAndUninstall(t *testing.T) {
	w := world.New(t, "make", "man")
	run := func(goal string) world.Result {
		return runMake(w, goal, "DESTDIR="+w.Path("to"), "PREFIX=/opt/tp")
	}
	r := run("install")
	require.Zero(t, r.Status, r.Err)
	names := files(t, w.Path("to"))
	for _, name := range []string{
		"bin/proxy", "bin/gateway", "share/man/man1/gateway.1", "share/zsh/site-functions/_proxy",
		"share/doc/terminalproxy/docs/safety.md", "share/terminalproxy/plugin/.claude-plugin/plugin.json",
	} {
		require.Contains(t, names, "opt/tp/"+name)
	}
	require.ElementsMatch(t, strings.Fields(w.Content("to/opt/tp/share/terminalproxy/FILES")), files(t, w.Path("to/opt/tp")))
	require.Contains(t, w.Content("to/opt/tp/share/doc/terminalproxy/systemd/terminalproxy-gateway.service"),
		"ExecStart=/opt/tp/bin/gateway serve")
	require.Zero(t, w.Do(w.Path("to/opt/tp/bin/proxy"), "true").Status)
	require.Contains(t, w.Do("man", "-M", w.Path("to/opt/tp/share/man"), "gateway").Out, "gateway reclaim")

	w.Write("to/opt/tp/share/other", "another package's")
	r = run("uninstall")
	require.Zero(t, r.Status, r.Err)
	require.Equal(t, []string{"opt/tp/share/other"}, files(t, w.Path("to")))
	require.NoDirExists(t, w.Path("to/opt/tp/share/terminalproxy"))
	require.DirExists(t, w.Path("to/opt/tp/bin"), "other packages use it")
	require.Contains(t, run("uninstall").Out, "nothing to remove")

	require.NoError(t, os.Mkdir(w.Path("empty"), 0o700))
	runMake(w, "install", "BIN="+w.Path("empty"), "DESTDIR="+w.Path("to")).MustFail(t, 2, "run make first")
}

// Without DESTDIR, make install says what keeps a shell from finding the programs. make uninstall
// keeps the user's files and directories, also in our directories and behind links in their place.
// The prefix has characters that the shell, make or systemd would take for their own. Another
// directory's name is its beginning, as ada's "my" is the beginning of "my stuff".
func TestUninstallLeavesOnlyTheUsersFiles(t *testing.T) {
	w := world.New(t, "make")
	const to = "a b/c%d$e;f#g  h"
	prefix, elsewhere := w.Path(to), w.Path("elsewhere")
	require.NoError(t, os.Mkdir(w.Path("a"), 0o700))
	for _, name := range []string{"a/file", "precious"} {
		w.Write(name, "the user's")
	}
	run := func(goal string) world.Result {
		return runMake(w, goal, "PREFIX="+strings.ReplaceAll(prefix, "$", "$$"))
	}
	installWith := func(path, want string) {
		t.Helper()
		w.Env = append(w.Env, "PATH="+path)
		r := run("install")
		require.Zero(t, r.Status, r.Err)
		require.Equal(t, "install: proxy and gateway are in "+prefix+"/bin\n"+want, r.Out)
	}
	installWith("/usr/bin:/bin", "install: "+prefix+"/bin is not in your PATH: export PATH=\""+prefix+"/bin:$PATH\" in your shell's start file\n")
	require.Zero(t, w.Do(filepath.Join(prefix, "bin", "proxy"), "true").Status)
	unit := w.Content(to + "/share/doc/terminalproxy/systemd/terminalproxy-gateway.service")
	require.Contains(t, unit, "\nExecStart=\""+strings.ReplaceAll(prefix+"/bin/gateway", "%", "%%")+"\" serve")
	if _, err := exec.LookPath("systemd-analyze"); err == nil {
		w.Write("gateway.service", unit)
		require.Equal(t, world.Result{}, w.Do("systemd-analyze", "verify", "--man=no", w.Path("gateway.service")))
	}

	// Over an older version, whose list is kept. No line of a list leads out of the prefix.
	const list = to + "/share/terminalproxy/FILES"
	w.Write(to+"/share/doc/terminalproxy/docs/dropped.md", "an older version's")
	w.Write(list, w.Content(list)+"share/doc/terminalproxy/docs/dropped.md\n")
	bin := filepath.Join(world.Root, "bin")
	installWith(bin+":/usr/bin:/bin", "install: your PATH finds "+bin+"/gateway before it: remove that one, or put "+prefix+"/bin first\n")
	genuine := w.Content(list)
	for _, line := range []string{"../../precious", "bin/../../../precious", w.Path("precious")} {
		w.Write(list, line+"\n")
		run("uninstall").MustFail(t, 2, "nothing above")
	}
	w.Write(list, genuine)
	require.Zero(t, run("uninstall").Status)
	left, err := os.ReadDir(prefix)
	require.NoError(t, err)
	require.Empty(t, left, "no directory that install made")

	// The user's files, and links in place of a program and of two directories.
	installWith(prefix+"/bin:/usr/bin:/bin", "")
	w.Write(to+"/share/doc/terminalproxy/my notes", "the user's")
	plugin := filepath.Join(prefix, "share/terminalproxy/plugin")
	require.NoError(t, os.Rename(plugin, elsewhere))
	require.NoError(t, os.Symlink(elsewhere, plugin))
	require.NoError(t, os.Remove(filepath.Join(prefix, "bin/proxy")))
	require.NoError(t, os.Symlink(w.Path("precious"), filepath.Join(prefix, "bin/proxy")))
	behind := files(t, elsewhere)
	require.NotEmpty(t, behind)
	run("install").MustFail(t, 2, plugin+" is a symbolic link")
	r := run("uninstall")
	require.Zero(t, r.Status, r.Err)
	require.Contains(t, r.Out, "left "+prefix+"/share/doc/terminalproxy: it is not empty")
	require.Contains(t, r.Out, plugin+" is a symbolic link")
	require.ElementsMatch(t, []string{"share/doc/terminalproxy/my notes", "share/terminalproxy/plugin"}, files(t, prefix))
	require.Equal(t, behind, files(t, elsewhere))

	require.NoError(t, os.Mkdir(w.Path("lists"), 0o700))
	w.Write("lists/FILES", "bin/x\n")
	require.NoError(t, os.RemoveAll(filepath.Join(prefix, "share/terminalproxy")))
	require.NoError(t, os.Symlink(w.Path("lists"), filepath.Join(prefix, "share/terminalproxy")))
	require.Contains(t, run("uninstall").Out, "nothing to remove")
	require.Equal(t, "bin/x\n", w.Content("lists/FILES"))
	for _, name := range []string{"a/file", "precious"} {
		require.Equal(t, "the user's", w.Content(name))
	}
}

func TestInstallRefusesAnUnclearPrefix(t *testing.T) {
	w := world.New(t)
	script := world.MustAbs(t, filepath.Join(world.Checkout, ".ci", "install"))
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
	} {
		for _, goal := range []string{"install", "uninstall"} {
			bin := filepath.Join(world.Root, "bin")
			r := w.Do("env", "BIN="+bin, "RUNS="+bin, "PREFIX="+c.prefix, "DESTDIR="+c.destdir, script, goal)
			r.MustFail(t, 1, goal+": "+c.message)
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
