package world

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/stretchr/testify/require"
)

// Postgres starts a separate database server on a Unix socket, and returns the socket's directory.
// The server refuses to run as root; then it runs as the user nobody.
func Postgres(w *World) (dir string) {
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
		for _, above := range []string{Root, w.Dir} {
			require.NoError(w.T, os.Chmod(above, 0o755))
		}
	}
	run := func(name string, args ...string) *Running {
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
