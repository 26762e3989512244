package session_test

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

func TestTheExitStatusIsTheProgramsOrNamesTheFailureR60(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	w.Write("notes", "no program")
	w.WriteScript("noise", "\x7fELFno")
	tests := []struct {
		line   string
		status int
		screen string
	}{
		{"proxy true", 0, ""},
		{"proxy setsid --wait sh -c 'exit 5'", 5, ""},
		{"proxy nohup sh -c 'exit 6'", 6, ""},
		{"proxy script -qec 'exit 8' /dev/null", 8, ""},
		{"proxy sh -c 'kill -SEGV $$'", 128 + 11, ""},
		{`proxy sh -c 'ulimit -Sn 300; exec proxy sh -c "test $(ulimit -Sn) = 300"'`, 0, ""},
		{"proxy sh -c 'exit 3'", 3, ""},
		{"proxy -- sh -c 'exit 255'", 255, ""},
		{"proxy sh -c 'kill -TERM $$'", 128 + 15, ""},
		{"proxy sh -c 'kill -INT $$'", 128 + 2, ""},
		{"proxy sh -c 'kill -KILL $$'", 128 + 9, ""},
		{"proxy --agent sh -c 'exit 3'", 3, ""},
		{"proxy --agent sh -c 'kill -TERM $$'", 128 + 15, ""},
		{"proxy nosuchprogram", 127, "proxy: nosuchprogram: command not found"},
		{"proxy help", 127, "hint: proxy takes the name of a program to run; did you mean: proxy --help"},
		{"proxy --agent version", 127, "did you mean: proxy --version"},
		{"proxy ./nosuchfile", 127, "proxy: ./nosuchfile: no such file or directory"},
		{"proxy /no/such", 127, "proxy: /no/such: no such file or directory"},
		{"proxy /etc/passwd", 126, "proxy: /etc/passwd: permission denied"},
		{"proxy ./notes", 126, "proxy: ./notes: permission denied"},
		{"proxy ./noise", 126, "proxy: ./noise: not a program this system can run"},
		{"proxy --agent nosuchprogram", 127, "proxy: nosuchprogram: command not found"},
		{"proxy /", 126, "proxy: /: is a directory"},
		{"TERMINALPROXY_DIR=/proc/no proxy true", 0, ""},
		{"TERMINALPROXY_DIR=/proc/no proxy --agent true", 125, "set TERMINALPROXY_DIR to a directory of yours"},
		{"proxy", 2, "proxy: no program given"},
		// What arrives at the descriptor comes from the program.
		{`echo "by=$(proxy --status-fd 3 sh -c 'exit 125' 3>&1 >&2)"`, 0, "by=125\n"},
		{`echo "by=$(proxy --agent --status-fd 3 sh -c 'echo 0; kill -9 $$' 3>&1 >&2)"`, 0, "0\nby=137\n"},
		{`echo "by=$(proxy --status-fd 3 nosuchprogram 3>&1 >&2).$?"`, 0, "proxy: nosuchprogram: command not found"},
		{`echo "by=$(proxy --status-fd 3 /etc/passwd 3>&1 >&2)."`, 0, "by=.\n"},
		{`proxy --status-fd 3 true`, 2, "--status-fd 3: must be a descriptor above 2, open for writing"},
		{`proxy --status-fd 3 true 3</dev/null`, 2, "--status-fd 3: must be"},
		{"proxy --nope true", 2, "proxy: unknown flag: --nope"},
	}
	for _, tt := range tests {
		screen, status := s.RunToEnd(tt.line)
		require.Equal(t, tt.status, status, "%s\n%s", tt.line, screen)
		require.Contains(t, screen, tt.screen, tt.line)
		require.Equal(t, world.PlainModes, s.Format(world.Modes), tt.line)
	}
}

func TestABurstBeforeTheEndArrivesWholeR60(t *testing.T) {
	t.Parallel()
	const size = 200_000
	for _, flags := range [][]string{nil, {"--agent"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			w := world.New(t)
			cmd := w.Command("proxy", append(flags, "sh", "-c", "head -c "+strconv.Itoa(size)+" /dev/zero | tr '\\0' x; exit 7")...)
			cmd.Env = append(cmd.Env, "TERM=dumb") // no title: its text would count
			ptmx, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
			require.NoError(t, err)
			defer ptmx.Close()
			var got bytes.Buffer
			_, err = io.Copy(&got, ptmx)
			require.ErrorIs(t, err, syscall.EIO, "the terminal's end")
			_ = cmd.Wait()
			require.Equal(t, 7, cmd.ProcessState.ExitCode())
			require.Equal(t, size, bytes.Count(got.Bytes(), []byte("x")))
		})
	}
}

func TestAProcessInTheBackgroundDoesNotHoldTheSessionR60(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	s.Run("proxy bash -c 'sleep 1000 & echo back=$!; exit 4'")
	require.Equal(t, 4, s.Status())
	w.WaitGone(s.Match(`back=(\d+)`)) // the kernel hangs up on it

	s.Run("proxy bash -c 'trap \"\" HUP; sleep 1000 & echo deaf=$!; exit 6'")
	require.Equal(t, 6, s.Status())
	s.Wait("proxy: background processes still held the terminal")
	deaf := s.Match(`deaf=(\d+)`)
	w.Kill(deaf, syscall.SIGTERM)
	w.WaitGone(deaf)

	// The program ends only when the other process has left its session (proc(5), stat).
	s.Run(`proxy bash -c 'setsid sleep 1000 > /dev/null 2>&1 < /dev/null & until [ "$(cut -d" " -f6 /proc/$!/stat)" = $! ]; do :; done; echo away=$!; exit 5'`)
	require.Equal(t, 5, s.Status())
	require.NotContains(t, s.Screen(), "still held the terminal")
	away := s.Match(`away=(\d+)`)
	w.Kill(away, syscall.SIGTERM) // it has a session of its own, so it still runs; otherwise this fails
	w.WaitGone(away)
}

func TestSignalsToTheProxyEndAProgramThatIgnoresThemR60(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			w := world.New(t)
			s := w.Terminal(80, 24)
			s.Run("proxy --agent " + stubborn)
			pid := s.Match(`pid=(\d+)`)
			w.Kill(world.AboveLeader(s.Match(`proxy=(\d+)`)), sig)
			require.Equal(t, 128+9, s.Status())
			w.WaitGone(pid)
			require.Equal(t, world.PlainModes, s.Format(world.Modes))
		})
	}
}

func TestSignalsToTheProxyEndAnEditorAtOnceR60(t *testing.T) {
	w := world.New(t, "vim")
	s := w.Terminal(80, 24)
	s.RunToEnd("stty -g > before")
	s.Run("echo $BASHPID > shell; proxy vim -u NONE -n notes.txt")
	s.Wait("notes.txt")
	w.Kill(world.ChildOf(t, strings.TrimSpace(w.Content("shell"))), syscall.SIGTERM)
	require.NotZero(t, s.Status())
	require.Equal(t, world.PlainModes, s.Format(world.Modes))
	s.RunToEnd("stty -g > after")
	require.Equal(t, w.Content("before"), w.Content("after"))
}

// stubborn ignores polite signals.
const stubborn = `sh -c 'trap "" TERM HUP; echo proxy=$PPID pid=$$; while :; do sleep 1000; done'`

func TestClosingTheWindowLeavesNoProcessBehindR60(t *testing.T) {
	t.Parallel()
	for name, program := range map[string]string{
		"polite":   "bash -c 'echo pid=$$ proxy=$PPID; read x'",
		"stubborn": stubborn,
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			s := w.Terminal(80, 24)
			s.Run("proxy --agent " + program)
			pid, proxy := s.Match(`pid=(\d+)`), world.AboveLeader(s.Match(`proxy=(\d+)`))
			s.Close()
			w.WaitGone(pid)
			w.WaitGone(proxy) // newWorld checks that no other process is left, and no socket
		})
	}
}
