package agents_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// postgres starts a separate database server on a Unix socket, and returns the socket's directory.
// The server refuses to run as root; then it runs as the user nobody.
func postgres(w *world.World) (dir string) {
	w.T.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		w.T.Skip("the server of PostgreSQL is not installed (Debian: postgresql)")
	}
	bin := filepath.Dir(found[len(found)-1])
	dir = w.Path("pg")
	require.NoError(w.T, os.Mkdir(dir, 0o700))
	as := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		const id = 65534
		as.Credential = &syscall.Credential{Uid: id, Gid: id}
		require.NoError(w.T, os.Chown(dir, id, id))
		for _, above := range []string{world.Root, w.Dir} {
			require.NoError(w.T, os.Chmod(above, 0o755))
		}
	}
	run := func(name string, args ...string) *world.Running {
		r := w.Prepare(filepath.Join(bin, name), args...)
		r.Cmd.Dir, r.Cmd.SysProcAttr = dir, as
		r.Run()
		return r
	}
	data := filepath.Join(dir, "data")
	made := run("initdb", "-D", data, "-U", "test", "-A", "trust", "--no-sync").Wait()
	require.Zero(w.T, made.Status, "%s%s", made.Out, made.Err)
	server := run("postgres", "-D", data, "-k", dir, "-F", "-c", "listen_addresses=", "-c", "log_min_messages=fatal")
	w.T.Cleanup(func() {
		require.NoError(w.T, server.Cmd.Process.Signal(syscall.SIGINT)) // a fast shutdown
		server.Wait()
	})
	w.Until(func() bool {
		return w.Do("psql", "-X", "-h", dir, "-U", "test", "-c", "select 1", "postgres").Status == 0
	},
		func() string { return server.Err.String() })
	return dir
}

// R65: psql is a line prompt, and its pager is not.
func TestPsqlR65(t *testing.T) {
	w := world.New(t, "psql", "less")
	s := w.Terminal(100, 40)
	id := s.RunGranted("type", "env LC_ALL=C psql -X -h "+postgres(w)+" -U test postgres", "postgres=#")
	free := func(what ...string) {
		require.Zero(t, w.Gateway(append([]string{"send", id, "--as", "codex", "--timeout", "5m"}, what...)...).Status)
		require.NotContains(t, s.Screen(), world.HeldKeys)
	}
	asked := func(question string, what ...string) {
		sending := w.Start("gateway", append([]string{"send", id, "--as", "codex"}, what...)...)
		s.Wait(question)
		s.ReleaseHeld("C-g")
		require.Zero(t, sending.Wait().Status)
	}
	free("--text", `#\! touch hit`)
	free("--text", wideText) // would remove the # and accept the line
	free("ctrl-u")
	free("--text", "select 6*7")
	asked(`runs: "select 6*7"`, "enter")
	s.Wait("\npostgres-#")
	free("--text", "from generate_series(1, 200);")
	asked(`runs: "from generate_series(1, 200);"`, "enter")
	s.Match(`\n +42\n:`) // less
	asked(`wants to send "q"`, "--text", "q")
	s.WaitGone("\n:")
	free("--text", `\q`)
	asked(`runs: "\\q" · typed: `, "enter") // with the pager's key
	require.Zero(t, s.Status())
	require.NoFileExists(t, w.Path("hit"))
}
