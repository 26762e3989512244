package secrets

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// dialSelf returns the server's end of a socket that this process has dialled.
func dialSelf(t *testing.T) *net.UnixConn {
	t.Helper()
	ln, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	defer func() { _ = ln.Close() }()
	conn, err := net.Dial("unix", ln.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	accepted, err := ln.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = accepted.Close() })
	return accepted.(*net.UnixConn)
}

func TestKernelDescribesThePeer(t *testing.T) {
	p, err := openPeer(dialSelf(t))
	require.NoError(t, err)
	defer p.close()
	require.Equal(t, os.Getpid(), p.pid)
	require.True(t, p.isAlive())
	f, err := p.readFacts(ownFiles(), 0)
	require.NoError(t, err)
	require.True(t, f.sameNamespaces)
	require.True(t, f.ownFile)
	require.Equal(t, os.Getpid(), f.asker.pid)
	require.Equal(t, os.Geteuid(), f.asker.effective)
	require.Equal(t, os.Args, f.asker.args)
	dir, err := os.Getwd()
	require.NoError(t, err)
	require.Equal(t, dir, f.asker.dir)
	require.Equal(t, os.Getppid(), f.chain[0].pid)
	for i, c := range f.chain[1:] {
		require.Equal(t, f.chain[i].parent, c.pid)
		require.LessOrEqual(t, c.started, f.chain[i].started, "a parent is older")
	}
	key := []byte("key")
	require.Equal(t, errGone, p.checkSealed(f.asker.started+1, key), "another process with that number")
	require.Equal(t, refusedKey, p.checkSealed(f.asker.started, key), "it has not shown the key")
	name, err := os.ReadFile("/proc/self/comm")
	require.NoError(t, err)
	defer func() { require.NoError(t, nameProcess(string(name))) }()
	require.NoError(t, nameProcess(nameOfKey(key)))
	require.Equal(t, refusedKey, p.checkSealed(f.asker.started, []byte("another key")))
	require.Equal(t, refusedKey, p.checkSealed(f.asker.started, key), "it is not the helper")
}

// A pipe that a third process holds open is not for the program alone.
func TestSharersOfAPipeAreFound(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	pipe, err := os.Readlink(procFile(os.Getpid(), fmt.Sprintf("fd/%d", w.Fd())))
	require.NoError(t, err)
	require.Equal(t, []int{os.Getpid()}, findSharers(pipe, -1, -2))
	require.Empty(t, findSharers(pipe, os.Getpid(), -2))
	cmd := exec.Command("cat")
	cmd.Stdin = r
	require.NoError(t, cmd.Start())
	require.Equal(t, []int{cmd.Process.Pid}, findSharers(pipe, os.Getpid(), -2))
	require.NoError(t, w.Close())
	require.NoError(t, cmd.Wait())
	_, err = readProcess(cmd.Process.Pid)
	require.Error(t, err)
}

// A program is the system's only under the name that root has given it.
func TestSystemProgramsAreTold(t *testing.T) {
	shell, err := filepath.EvalSymlinks("/bin/sh")
	require.NoError(t, err)
	require.True(t, isSystemFile(shell, shell))
	other, err := filepath.EvalSymlinks("/usr/bin/env")
	require.NoError(t, err)
	require.False(t, isSystemFile(other, shell), "another file lies there")
	own := filepath.Join(t.TempDir(), "ssh") // root's file, if root runs this, in a directory of all
	require.NoError(t, os.WriteFile(own, nil, 0o755))
	require.False(t, isSystemFile(own, own))
	require.False(t, isSystemFile("/bin/sh/../none", shell))
	require.False(t, isSystemFile("", shell))
}

// The signals that sudo handles while it asks, and while its command runs, as sudo 1.9.13 shows them.
func TestSudoThatRunsItsCommandIsTold(t *testing.T) {
	for caught, want := range map[string]bool{"0000000000016a07": false, "00000000080b7a07": true, "0000000000000000": false} {
		status := "SigIgn:\t0000000000001000\nSigCgt:\t" + caught + "\nCapInh:\t0000000000000000\n"
		require.Equal(t, want, catchesAny([]byte(status), unix.SIGCONT, unix.SIGTSTP, unix.SIGWINCH), caught)
	}
	require.False(t, catchesAny(nil, unix.SIGCONT))
}

// An MCP server proves the process that started it, and a command none.
func TestWhichClientsProveTheirParent(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"mcp", "wait"} {
		require.NoError(t, os.WriteFile(name, []byte("read line\n"), 0o600))
		cmd := exec.CommandContext(t.Context(), "sh", name)
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		got := findStarters(map[int]Client{cmd.Process.Pid: {ID: "a-1"}})
		require.NoError(t, in.Close())
		_ = cmd.Wait()
		want := map[int]Client{os.Getpid(): {ID: "a-1"}}
		if name == "wait" {
			want = map[int]Client{}
		}
		require.Equal(t, want, got, name)
	}
}
