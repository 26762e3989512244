package consent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// The account that sudo asks. It exists only in a namespace of mounts of the test's own, in which
// files of the test lie over those of /etc.
const (
	account   = "e2e-asked"
	accountID = 64321
)

// sudoer is the home of a user whom sudo asks for a password.
type sudoer struct {
	*tool
	dir   string
	enter []string // runs a command as that user
}

// newSudoer makes the account and opens a shared terminal of that user.
func newSudoer(t *testing.T, programs ...string) *sudoer {
	t.Helper()
	w := world.New(t, append(programs, "sudo", "unshare", "setpriv", "openssl", "setsid")...)
	world.NeedsRoot(t, "to make an account with a password, in a namespace of mounts")
	if got := w.Do("unshare", "-m", "mount", "--bind", "/etc/passwd", "/etc/passwd"); got.Status != 0 {
		t.Skip("no namespace of mounts can be made here: " + got.Err)
	}
	dir, err := os.MkdirTemp("/tmp", "asked") //nolint:usetesting // another user has to get into it
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &sudoer{tool: &tool{World: w, canary: newCanary()}, dir: dir}
	hash := strings.TrimSpace(w.Do("openssl", "passwd", "-6", s.canary).Out)
	script := ""
	for name, line := range map[string]string{
		"passwd":  fmt.Sprintf("%s:x:%d:%d::%s:/bin/bash\n", account, accountID, accountID, dir),
		"group":   fmt.Sprintf("%s:x:%d:\n", account, accountID),
		"shadow":  account + ":" + hash + ":20000:0:99999:7:::\n",
		"sudoers": "Defaults !lecture\nroot ALL=(ALL:ALL) ALL\n" + account + " ALL=(ALL:ALL) ALL\n",
	} {
		path := filepath.Join("/etc", name)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		if name == "sudoers" {
			data = nil
		}
		info, err := os.Stat(path)
		require.NoError(t, err)
		own := w.Write(name, string(data)+line)
		stat, _ := info.Sys().(*syscall.Stat_t)
		require.NoError(t, os.Chown(own, 0, int(stat.Gid)))
		require.NoError(t, os.Chmod(own, info.Mode()))
		script += "mount --bind " + own + " " + path + "\n"
	}
	for _, name := range []string{"proxy", "gateway"} {
		data, err := os.ReadFile(filepath.Join(world.Root, "bin", name))
		require.NoError(t, err)
		require.NoError(t, world.WriteProgram(filepath.Join(dir, name), data, 0o755))
	}
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "run"), 0o700))
	for _, name := range []string{".", "run"} {
		require.NoError(t, os.Chown(filepath.Join(dir, name), accountID, accountID))
	}
	s.enter = []string{"unshare", "-m", "sh", w.WriteScript("enter", "set -e\n"+script+"cd "+dir+"\nexec setpriv --reuid "+fmt.Sprint(accountID)+
		" --regid "+fmt.Sprint(accountID)+" --clear-groups env -i HOME="+dir+" USER="+account+" SHELL=/bin/bash TERM=screen-256color LANG=C.UTF-8"+
		" PATH="+dir+":/usr/local/bin:/usr/bin:/bin TERMINALPROXY_DIR="+dir+"/run XDG_STATE_HOME="+dir+"/state \"$@\"\n")}
	s.serving = &world.Server{Running: s.as("gateway", "serve", "--listen", "127.0.0.1:0", "--log")}
	t.Cleanup(func() { _ = s.serving.Cmd.Process.Signal(syscall.SIGTERM) })
	w.Until(func() bool { return s.as("gateway", "ls").Wait().Status == 0 }, s.serving.Err.String)
	s.desk = w.Window(120, 30, strings.Join(append(s.enter, "proxy", "--agent", "--record", "rec.cast", "bash", "--norc"), " "))
	s.desk.Wait("$")
	w.Until(func() bool { return s.as("gateway", "ls").Wait().Status == 0 }, func() string { return "no gateway" })
	return s
}

// as runs a command as the user.
func (s *sudoer) as(args ...string) *world.Running {
	s.T.Helper()
	all := append(s.enter[1:], args...)
	return s.Start(s.enter[0], all...)
}

// start runs a command as that user's agent does.
func (s *sudoer) start(line string) *world.Running {
	s.T.Helper()
	return s.as("setsid", "--wait", "bash", "-c", s.as("gateway", "init", "agent").Wait().Out+line+"\nexit $?")
}

// sudo in an agent's own shell asks the user of the shared terminal; a wrong password is asked for
// again, a refusal is the agent's to read, and a look-alike of sudo gets nothing.
func TestSudoAsksTheUser_Root(t *testing.T) {
	s := newSudoer(t)
	run := s.start("sudo -k; sudo id -u")

	s.answer("wants your password for sudo: “sudo id -u”", "a wrong one")
	s.answer("again, the last answer was wrong", s.canary)
	got := run.Wait()
	require.Zero(t, got.Status, got.Err)
	require.Equal(t, "0\n", got.Out)
	require.NotContains(t, got.Err, s.canary)
	searchProcesses(t, s.World, s.canary)

	refused := s.start("sudo -k; sudo id -u")
	s.refuse("wants your password for sudo")
	got = refused.Wait()
	require.Equal(t, 1, got.Status)
	require.Empty(t, got.Out)
	require.Contains(t, got.Err, "the user refused the answer for sudo. Do not try again or another way")

	fake := s.start("mkdir fake; cp $(command -v bash) fake/sudo; fake/sudo -c '\"$SUDO_ASKPASS\" x; exit 1'").Wait()
	require.Contains(t, fake.Err, "the program called sudo is not root's")
	require.Empty(t, fake.Out)
	quiet := s.start("sudo -k; sudo -A -p 'p: ' true > /dev/null; exit 1") // its helper's output is sudo's own pipe
	s.press("wants your password for sudo", "C-\\")
	require.Equal(t, 1, quiet.Wait().Status)

	for _, name := range []string{"rec.cast", "rec.cast.audit.jsonl"} {
		data, err := os.ReadFile(filepath.Join(s.dir, name))
		require.NoError(t, err)
		require.NotContains(t, string(data), s.canary)
	}
	s.desk.Press("C-d")
	s.waitRecorded()
}

// waitRecorded waits until the recording of the terminal is whole.
func (s *sudoer) waitRecorded() {
	s.T.Helper()
	s.Until(func() bool {
		data, _ := os.ReadFile(filepath.Join(s.dir, "rec.cast.audit.jsonl"))
		return strings.Contains(string(data), `"kind":"close"`)
	}, func() string { return "the session does not end" })
}
