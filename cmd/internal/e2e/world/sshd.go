package world

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

// SshdGivesTerminals skips a test that logs in over ssh to a terminal, if the server could not
// provide one. sshd gives the terminal to the group tty, which an ordinary user cannot do; it need
// not where /dev/pts is mounted with that group.
func (w *World) SshdGivesTerminals() {
	w.T.Helper()
	group, err := user.LookupGroup("tty")
	require.NoError(w.T, err)
	ptmx, tty, err := pty.Open()
	require.NoError(w.T, err)
	defer ptmx.Close()
	defer tty.Close()
	info, err := tty.Stat()
	require.NoError(w.T, err)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && strconv.Itoa(int(stat.Gid)) != group.Gid {
		NeedsRoot(w.T, "for sshd to give a terminal to group tty, as /dev/pts is mounted without gid="+group.Gid)
	}
}

var servers atomic.Int64

// Sshd runs a separate server on the loopback, and writes its port to the file "port".
func (w *World) Sshd() {
	w.T.Helper()
	path, err := exec.LookPath("sshd")
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/sshd"); err != nil {
			w.T.Skip("sshd is not installed")
		}
	}
	if os.Geteuid() == 0 {
		require.NoError(w.T, os.MkdirAll("/run/sshd", 0o755))
	}
	for _, key := range []string{"host", "user"} {
		require.Zero(w.T, w.Do("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", w.Path(key)).Status)
	}
	w.Write("sshd_config", "HostKey "+w.Path("host")+"\nAuthorizedKeysFile "+w.Path("user.pub")+
		"\nPasswordAuthentication yes\nPermitRootLogin yes\nStrictModes no\nUsePAM no\nPidFile none\nListenAddress 127.0.0.1\nSetEnv HOME="+w.Path("home")+"\n")
	// Tests that run at the same time start from distant ports: otherwise one could take another
	// test's server for its own.
	for port := 20000 + (os.Getpid()+int(servers.Add(100)))%20000; ; port++ {
		daemon := w.Start(path, "-D", "-e", "-f", w.Path("sshd_config"), "-p", fmt.Sprint(port))
		up := false
		w.Until(func() bool {
			select {
			case <-daemon.Ended:
				return true // the port is taken
			default:
			}
			up = w.Do("ssh-keyscan", "-T", "2", "-p", fmt.Sprint(port), "127.0.0.1").Out != ""
			return up
		}, func() string { return "sshd does not answer" })
		if up {
			w.T.Cleanup(func() { _ = daemon.Cmd.Process.Kill(); <-daemon.Ended })
			w.Write("port", fmt.Sprint(port))
			return
		}
	}
}
