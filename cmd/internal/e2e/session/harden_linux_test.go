package session_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func init() { world.Helpers["probe"] = probe }

// probe tries every way in which one process of a user can reach into another, and prints the ways
// that are open.
func probe(args []string) error {
	pid, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	dir := "/proc/" + args[0]
	if _, err := os.ReadFile(dir + "/environ"); err == nil {
		fmt.Println("environ")
	}
	if f, err := os.OpenFile(dir+"/mem", os.O_RDWR, 0); err == nil {
		_ = f.Close()
		fmt.Println("mem")
	}
	if _, err := os.Readlink(dir + "/fd/0"); err == nil {
		fmt.Println("fd")
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	if _, err := unix.PidfdGetfd(fd, 0, 0); err == nil {
		fmt.Println("pidfd_getfd")
	}
	return nil
}

// newNobody makes commands of this world run as a user without rights if the tests have any, since
// root may look everywhere.
func newNobody(w *world.World) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return &syscall.SysProcAttr{}, nil
	}
	const id = 65534
	for _, dir := range []string{world.Root, filepath.Join(world.Root, "bin")} {
		if err := os.Chmod(dir, 0o755); err != nil {
			return nil, err
		}
	}
	// The test binary lies where only its owner has access.
	self, err := os.ReadFile(filepath.Join(world.Root, "bin", "probe"))
	if err != nil {
		return nil, err
	}
	if err = world.WriteProgram(filepath.Join(w.Dir, "probe"), self, 0o755); err != nil {
		return nil, err
	}
	err = filepath.WalkDir(w.Dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, id, id))
	})
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}, err
}

// A process of the same user reads neither the memory nor the environment of a proxy, its watchdog
// or a gateway, and takes no descriptor of theirs.
func TestNoProcessReachesIntoAProxyR51(t *testing.T) {
	w := world.New(t)
	nobody, err := newNobody(w)
	require.NoError(t, err)
	probed := func(pid int) string {
		program := "probe"
		if os.Getuid() == 0 {
			program = w.Path(program)
		}
		cmd := w.Command(program, strconv.Itoa(pid))
		cmd.SysProcAttr = nobody
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}

	cat := w.Command("cat")
	cat.SysProcAttr = nobody
	stdin, err := cat.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cat.Start())
	require.Contains(t, probed(cat.Process.Pid), "environ", "the probe finds what is open")
	require.NoError(t, stdin.Close())
	require.NoError(t, cat.Wait())

	proxy := w.Command("proxy", "--agent", "cat")
	as := *nobody
	as.Setsid, as.Setctty = true, true
	ptmx, err := pty.StartWithAttrs(proxy, &pty.Winsize{Cols: 80, Rows: 24}, &as)
	require.NoError(t, err)
	defer ptmx.Close()
	pid := strconv.Itoa(proxy.Process.Pid)
	guard, err := strconv.Atoi(watchdogOf(w, pid))
	require.NoError(t, err)
	require.Empty(t, probed(proxy.Process.Pid), "the proxy")
	var open string // until the process has closed itself
	w.Until(func() bool { open = probed(guard); return open == "" }, func() string { return "the watchdog: " + open })
	_, err = ptmx.WriteString("\x04")
	require.NoError(t, err)
	_ = proxy.Wait()

	server := w.Command("gateway", "serve", "--listen", "127.0.0.1:0")
	server.SysProcAttr = nobody
	said, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	_, err = said.Read(make([]byte, 1)) // it serves
	require.NoError(t, err)
	require.Empty(t, probed(server.Process.Pid), "the gateway")
	require.NoError(t, server.Process.Signal(syscall.SIGTERM))
	_ = server.Wait()
}
