package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// probe tries every way in that a process of the same user has into another, and prints those that are open.
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

// nobody makes commands of this world run as a user without rights, if the tests have any: root may look everywhere.
func (w *world) nobody() (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return &syscall.SysProcAttr{}, nil
	}
	const id = 65534
	for _, dir := range []string{root, filepath.Join(root, "bin")} {
		if err := os.Chmod(dir, 0o755); err != nil {
			return nil, err
		}
	}
	// The test binary lies where only its owner may go.
	self, err := os.ReadFile(filepath.Join(root, "bin", "probe"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(w.dir, "probe"), self, 0o755); err != nil {
		return nil, err
	}
	err = filepath.WalkDir(w.dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, id, id))
	})
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}, err
}

// TestR51NoWayIn: a process of the same user reads neither the memory nor the environment of a proxy, its guardian or a
// gateway, and takes no descriptor.
func TestR51NoWayIn(t *testing.T) {
	w := newWorld(t)
	nobody, err := w.nobody()
	require.NoError(t, err)
	probed := func(pid int) string {
		cmd := w.command("probe", strconv.Itoa(pid))
		if own := w.path("probe"); os.Getuid() == 0 {
			cmd.Path = own
		}
		cmd.SysProcAttr = nobody
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}

	open := w.command("cat")
	open.SysProcAttr = nobody
	stdin, err := open.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, open.Start())
	require.Contains(t, probed(open.Process.Pid), "environ", "the probe finds what is open")
	require.NoError(t, stdin.Close())
	require.NoError(t, open.Wait())

	proxy := w.command("proxy", "--agent", "cat")
	as := *nobody
	as.Setsid, as.Setctty = true, true
	ptmx, err := pty.StartWithAttrs(proxy, &pty.Winsize{Cols: 80, Rows: 24}, &as)
	require.NoError(t, err)
	defer ptmx.Close()
	pid := strconv.Itoa(proxy.Process.Pid)
	guard, err := strconv.Atoi(w.guardianOf(pid))
	require.NoError(t, err)
	require.Empty(t, probed(proxy.Process.Pid), "the proxy")
	require.Empty(t, probed(guard), "the guardian")
	_, err = ptmx.WriteString("\x04")
	require.NoError(t, err)
	_ = proxy.Wait()

	server := w.command("gateway", "serve", "--listen", "127.0.0.1:0")
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

// TestR51TheProgramIsToldNoSecret: neither its environment nor the proxy's command line has a token.
func TestR51TheProgramIsToldNoSecret(t *testing.T) {
	w := newWorld(t)
	server := w.serve()
	file := w.token("p", "proxy")
	token := strings.TrimSpace(w.content("p"))
	require.Greater(t, len(token), 30)
	s := w.terminal(100, 24)
	s.run("PROXY_TOKEN_FILE=" + file + " proxy --agent --gateway " + server.url + ` sh -c 'env > env; tr "\0" " " < /proc/$PPID/cmdline > line; read x'`)
	w.until(func() bool { return w.content("line") != "" }, func() string { return "no command line" })
	for _, name := range []string{"env", "line"} {
		require.NotContains(t, w.content(name), token)
		require.NotContains(t, w.content(name), "PROXY_TOKEN_FILE=")
	}
	s.typed("\n")
	s.status()
}

// TestR61TheProgramStartsClean: no descriptor but its terminal, the signals at their defaults and none blocked, and its own
// limits, whatever the proxy was started with.
func TestR61TheProgramStartsClean(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("this system does not show a process's descriptors under /proc")
	}
	w := newWorld(t)
	const look = `sh -c 'ls /proc/self/fd | tr "\n" " "; echo; grep -E "^Sig(Blk|Ign)" /proc/self/status; ulimit -c; ulimit -n'`
	for _, flags := range []string{"", "--agent "} {
		w.write("limits", "")
		line := "exec 5</dev/null 9>extra; ulimit -c unlimited 2>/dev/null; (ulimit -c; ulimit -n) > limits; trap '' INT QUIT TERM TSTP USR1; exec proxy " + flags + look
		st := w.stage(line)
		<-st.ended
		st.mu.Lock()
		got := strings.Split(strings.ReplaceAll(st.raw.String(), "\r", ""), "\n")
		st.mu.Unlock()
		got[0] = got[0][strings.LastIndexAny(got[0], "\a\x1b]nJ")+1:] // what the proxy wrote before
		require.GreaterOrEqual(t, len(got), 5, got)
		require.Equal(t, "0 1 2 3 ", got[0], "3 is ls reading the directory")
		require.Regexp(t, `^SigBlk:\s+0+$`, got[1])
		require.Regexp(t, `^SigIgn:\s+0+$`, got[2])
		require.Equal(t, w.content("limits"), strings.Join(got[3:5], "\n")+"\n")
	}
}

// TestR61Nohup: a hangup that the user wants ignored is, by the proxy and by the program.
func TestR61Nohup(t *testing.T) {
	w := newWorld(t, "nohup")
	cmd := w.command("nohup", filepath.Join(root, "bin", "proxy"), "sh", "-c", "grep ^SigIgn /proc/self/status; echo proxy=$PPID; read x")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	var out bytes.Buffer
	r := &running{w: w, cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout = &out
	require.NoError(t, cmd.Start())
	go func() { // ends with the program's input
		defer close(r.ended)
		_ = cmd.Wait()
	}()
	w.guarded(cmd)
	require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	_, err = stdin.Write([]byte("on\n"))
	require.NoError(t, err)
	require.NoError(t, stdin.Close())
	require.Zero(t, r.wait().status)
	require.Regexp(t, `SigIgn:\s+0*1\b`, out.String())
}

// guarded waits until a proxy runs its program.
func (w *world) guarded(cmd *exec.Cmd) {
	w.t.Helper()
	w.until(func() bool { _, program := family(strconv.Itoa(cmd.Process.Pid)); return program != "" }, func() string { return "no program" })
}
