package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"sync/atomic"
	"syscall"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// sshdGivesTerminals skips a test that logs in over ssh to a terminal, if the server could not
// provide one. sshd gives the terminal to the group tty, which an ordinary user cannot do; it need
// not where /dev/pts is mounted with that group.
func (w *world) sshdGivesTerminals() {
	w.t.Helper()
	group, err := user.LookupGroup("tty")
	require.NoError(w.t, err)
	ptmx, tty, err := pty.Open()
	require.NoError(w.t, err)
	defer ptmx.Close()
	defer tty.Close()
	info, err := tty.Stat()
	require.NoError(w.t, err)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && strconv.Itoa(int(stat.Gid)) != group.Gid {
		needsRoot(w.t, "for sshd to give a terminal to group tty, as /dev/pts is mounted without gid="+group.Gid)
	}
}

var servers atomic.Int64

// sshd runs a separate server on the loopback, and writes its port to the file "port".
func (w *world) sshd() {
	w.t.Helper()
	path, err := exec.LookPath("sshd")
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/sshd"); err != nil {
			w.t.Skip("sshd is not installed")
		}
	}
	if os.Geteuid() == 0 {
		require.NoError(w.t, os.MkdirAll("/run/sshd", 0o755))
	}
	for _, key := range []string{"host", "user"} {
		require.Zero(w.t, w.do("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", w.path(key)).status)
	}
	w.write("sshd_config", "HostKey "+w.path("host")+"\nAuthorizedKeysFile "+w.path("user.pub")+
		"\nPasswordAuthentication yes\nPermitRootLogin yes\nStrictModes no\nUsePAM no\nPidFile none\nListenAddress 127.0.0.1\nSetEnv HOME="+w.path("home")+"\n")
	// Tests that run at the same time start from distant ports: otherwise one could take another
	// test's server for its own.
	for port := 20000 + (os.Getpid()+int(servers.Add(100)))%20000; ; port++ {
		daemon := w.start(path, "-D", "-e", "-f", w.path("sshd_config"), "-p", fmt.Sprint(port))
		up := false
		w.until(func() bool {
			select {
			case <-daemon.ended:
				return true // the port is taken
			default:
			}
			up = w.do("ssh-keyscan", "-T", "2", "-p", fmt.Sprint(port), "127.0.0.1").out != ""
			return up
		}, func() string { return "sshd does not answer" })
		if up {
			w.t.Cleanup(func() { _ = daemon.cmd.Process.Kill(); <-daemon.ended })
			w.write("port", fmt.Sprint(port))
			return
		}
	}
}
