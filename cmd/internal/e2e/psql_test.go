package e2e_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// postgres starts a separate database server on a Unix socket, and returns the socket's directory.
// The server refuses to run as root; then it runs as the user nobody.
func (w *world) postgres() (dir string) {
	w.t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		w.t.Skip("the server of PostgreSQL is not installed (Debian: postgresql)")
	}
	bin := filepath.Dir(found[len(found)-1])
	dir = w.path("pg")
	require.NoError(w.t, os.Mkdir(dir, 0o700))
	as := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		const id = 65534
		as.Credential = &syscall.Credential{Uid: id, Gid: id}
		require.NoError(w.t, os.Chown(dir, id, id))
		for _, above := range []string{root, w.dir} {
			require.NoError(w.t, os.Chmod(above, 0o755))
		}
	}
	run := func(name string, args ...string) *running {
		r := w.prepare(filepath.Join(bin, name), args...)
		r.cmd.Dir, r.cmd.SysProcAttr = dir, as
		r.run()
		return r
	}
	data := filepath.Join(dir, "data")
	made := run("initdb", "-D", data, "-U", "test", "-A", "trust", "--no-sync").wait()
	require.Zero(w.t, made.status, "%s%s", made.out, made.err)
	server := run("postgres", "-D", data, "-k", dir, "-F", "-c", "listen_addresses=", "-c", "log_min_messages=fatal")
	w.t.Cleanup(func() {
		require.NoError(w.t, server.cmd.Process.Signal(syscall.SIGINT)) // a fast shutdown
		server.wait()
	})
	w.until(func() bool {
		return w.do("psql", "-X", "-h", dir, "-U", "test", "-c", "select 1", "postgres").status == 0
	},
		func() string { return server.err.String() })
	return dir
}

// R63, R65, R66: psql is a line prompt, and its pager is not.
func TestPsqlR65(t *testing.T) {
	w := newWorld(t, "psql", "less")
	psql := "env LC_ALL=C psql -X -h " + w.postgres() + " -U test postgres"
	s := w.terminal(100, 40)
	id := s.runGranted("type", psql, "postgres=#")
	free := func(text string) {
		require.Zero(t, w.gateway("send", id, "--as", "codex", "--text", text, "--timeout", "20s").status)
		s.wait(text)
		require.NotContains(t, s.screen(), heldKeys)
	}
	asked := func(question string, what ...string) {
		sending := w.start("gateway", append([]string{"send", id, "--as", "codex"}, what...)...)
		s.wait(question)
		s.releaseHeld("C-g")
		require.Zero(t, sending.wait().status)
	}
	free(`#\! touch hit`)
	require.Zero(t, w.gateway("send", id, "--as", "codex", "--text", wideText).status) // would remove the # and accept the line
	require.NotContains(t, s.screen(), heldKeys)
	require.Zero(t, w.gateway("send", id, "--as", "codex", "ctrl-u").status)
	free("select 6*7")
	asked(`runs: "select 6*7"`, "enter")
	s.wait("\npostgres-#")
	free("as answer;")
	asked(`runs: "as answer;"`, "enter")
	s.wait("     42\n")

	free("select generate_series(1, 200);")
	asked(`runs: "select generate_series(1, 200);"`, "enter")
	s.match(`\n +37\n:`) // less
	asked(`wants to send "q"`, "--text", "q")
	s.waitGone("\n:")
	free(`\q`)
	asked(`runs: "\\q" · typed: `, "enter") // with the pager's key
	require.Zero(t, s.status())
	require.NoFileExists(t, w.path("hit"))

	s = w.terminal(100, 40)
	id = s.runGranted("drive", psql, "postgres=#")
	s.typed("select 'user-'")
	s.wait("select 'user-'")
	sending := w.start("gateway", "send", id, "--as", "codex", "--text", "select 'agent';", "--enter", "--timeout", "20s")
	s.wait(waitsLine)
	require.NotContains(t, s.screen(), "agent'")
	s.typed(";\n")
	require.Zero(t, sending.wait().status)
	s.wait("\n agent\n")
	s.waitGone(waitsLine)

	s.typed("select 'half-'")
	s.wait("select 'half-'")
	sending = w.start("gateway", "send", id, "--as", "codex", "--text", "select 'whole';", "--enter", "--timeout", "20s")
	s.wait(waitsLine)
	s.press("Enter") // not its end
	s.wait("\npostgres-#")
	s.wait(waitsLine)
	require.NotContains(t, s.screen(), "whole'")
	s.typed(";\n")
	require.Zero(t, sending.wait().status)
	s.wait("\n whole\n")
	s.wait("\n user-\n")
	s.wait("\n half-\n")
}
