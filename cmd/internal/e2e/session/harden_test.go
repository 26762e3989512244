package session_test

import (
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

// Neither the program's environment nor the proxy's command line contains a token.
func TestTheProgramReceivesNoTokenR51(t *testing.T) {
	w := world.New(t)
	server := w.Serve("gateway")
	file := w.Token("p", "proxy")
	token := strings.TrimSpace(w.Content("p"))
	require.Greater(t, len(token), 30)
	s := w.Terminal(100, 24)
	s.Run("PROXY_TOKEN_FILE=" + file + " proxy --agent --gateway " + server.URL + ` sh -c 'env > env; tr "\0" " " < /proc/$PPID/cmdline > line; read x'`)
	w.WaitHeard("line", ".")
	for _, name := range []string{"env", "line"} {
		require.NotContains(t, w.Content(name), token)
		require.NotContains(t, w.Content(name), "PROXY_TOKEN_FILE=")
	}
	s.Typed("\n")
	s.Status()
}

// The program starts with no descriptor but its terminal, default and unblocked signals, and its
// own limits, whatever the proxy was started with.
func TestTheProgramStartsCleanR61(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("this system does not show a process's descriptors under /proc")
	}
	w := world.New(t)
	const look = `sh -c 'ls /proc/self/fd | tr "\n" " "; echo; grep -E "^Sig(Blk|Ign)" /proc/self/status; ulimit -c; ulimit -n'`
	for _, flags := range []string{"", "--agent ", "--agent --keep ", "--agent --status-fd 9 "} {
		w.Write("limits", "")
		line := "exec 5</dev/null 9>extra; " + look + " > bare; ulimit -c unlimited 2>/dev/null; (ulimit -c; ulimit -n) > limits; trap '' INT QUIT TERM TSTP USR1; exec proxy " + flags + look
		st := w.Stage(line)
		st.WaitEnd()
		st.Mu.Lock()
		got := strings.Split(strings.ReplaceAll(st.Raw.String(), "\r", ""), "\n")
		st.Mu.Unlock()
		got[0] = got[0][strings.LastIndexAny(got[0], "\a\x1b]nJ")+1:] // what the proxy wrote before
		require.GreaterOrEqual(t, len(got), 5, got)
		descriptors, _, _ := strings.Cut(w.Content("bare"), "\n")
		if strings.Contains(flags, "status-fd") {
			descriptors = strings.Replace(descriptors, " 9 ", " ", 1)
		}
		require.Equal(t, descriptors, got[0], flags)
		require.Regexp(t, `^SigBlk:\s+0+$`, got[1])
		require.Zero(t, ignored(t, got[2]))
		require.Equal(t, w.Content("limits"), strings.Join(got[3:5], "\n")+"\n")
	}
}

// The program alone has the descriptors that it was given: once it closes one, the other end knows.
func TestNoOtherProcessHoldsGivenDescriptorsR61(t *testing.T) {
	w := world.New(t)
	require.NoError(t, syscall.Mkfifo(w.Path("pipe"), 0o600))
	for _, flags := range []string{"", "--agent", "--agent --keep"} {
		s := w.Terminal(80, 12)
		s.Run("(cat pipe; echo ended) & proxy " + flags + ` sh -c 'cat <&7; echo out >&8; exec 8>&-; read x; false' 7<<<given 8>pipe`)
		s.Wait("ended\n")
		require.Contains(t, s.Screen(), "given\n")
		require.Contains(t, s.Screen(), "out\n")
		s.Press("Enter")
		require.Equal(t, 1, s.Status())
	}
}

// If the user wants a hangup ignored, both the proxy and the program ignore it.
func TestNohupR61(t *testing.T) {
	w := world.New(t, "nohup")
	r := w.Prepare("nohup", filepath.Join(world.Root, "bin", "proxy"), "--cols", "80", "sh", "-c", "grep ^SigIgn /proc/self/status; echo proxy=$PPID; read x")
	input, stdin, err := os.Pipe() // Wait would close a StdinPipe as well
	require.NoError(t, err)
	defer stdin.Close()
	r.Cmd.Stdin = input
	r.Run()
	require.NoError(t, input.Close())
	guarded(w, r.Cmd)
	require.NoError(t, r.Cmd.Process.Signal(syscall.SIGHUP))
	_, err = stdin.Write([]byte("on\n"))
	require.NoError(t, err)
	got := r.Wait()
	require.Zero(t, got.Status, got.Err)
	require.Equal(t, uint64(1)<<(syscall.SIGHUP-1), ignored(t, got.Out))
}

// ignored returns the set of signals that a process ignores, from its status under /proc. The two
// signals that the C library keeps for itself do not count: the tests may have been started with
// them ignored, and no program can tell.
func ignored(t *testing.T, status string) uint64 {
	t.Helper()
	m := regexp.MustCompile(`SigIgn:\s+([0-9a-f]+)`).FindStringSubmatch(status)
	require.NotNil(t, m, status)
	set, err := strconv.ParseUint(m[1], 16, 64)
	require.NoError(t, err)
	return set &^ (1<<31 | 1<<32)
}

// guarded waits until a proxy runs its program.
func guarded(w *world.World, cmd *exec.Cmd) {
	w.T.Helper()
	w.Until(func() bool { _, program := family(strconv.Itoa(cmd.Process.Pid)); return program != "" }, func() string { return "no program" })
}
