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
		{"proxy -- sh -c 'exit 255'", 255, ""},
		{"stty intr ^X -ixon; proxy stty -a", 0, "intr = ^X"},
		{"proxy sh -c 'kill -INT $$'", 128 + 2, ""},
		{"proxy sh -c 'kill -KILL $$'", 128 + 9, ""},
		{"proxy --agent sh -c 'exit 3'", 3, ""},
		{"proxy nosuchprogram", 127, "proxy: nosuchprogram: command not found"},
		{"proxy help", 127, "hint: proxy takes the name of a program to run; did you mean: proxy --help"},
		{"proxy --agent version", 127, "did you mean: proxy --version"},
		{"proxy ./nosuchfile", 127, "proxy: ./nosuchfile: no such file or directory"},
		{"proxy /etc/passwd", 126, "proxy: /etc/passwd: permission denied"},
		{"proxy ./noise", 126, "proxy: ./noise: not a program this system can run"},
		{"proxy --agent nosuchprogram", 127, "proxy: nosuchprogram: command not found"},
		{"proxy /", 126, "proxy: /: is a directory"},
		{"TERMINALPROXY_DIR=/proc/no proxy true", 0, ""},
		{"TERMINALPROXY_DIR=/proc/no proxy --agent true", 125, "set TERMINALPROXY_DIR to a directory of yours"},
		// What arrives at the descriptor comes from the program.
		{`echo "by=$(proxy --status-fd 3 sh -c 'exit 125' 3>&1 >&2)"`, 0, "by=125\n"},
		{`echo "by=$(proxy --agent --status-fd 3 sh -c 'echo 0; kill -9 $$' 3>&1 >&2)"`, 0, "0\nby=137\n"},
		{`echo "by=$(proxy --status-fd 3 nosuchprogram 3>&1 >&2).$?"`, 0, "proxy: nosuchprogram: command not found"},
		{`echo "by=$(proxy --status-fd 3 /etc/passwd 3>&1 >&2)."`, 0, "by=.\n"},
		{`proxy --status-fd 3 true 3</dev/null`, 2, "--status-fd 3: must be"},
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

// A program that ignores every polite signal ends with its proxy: by a signal to the proxy, or as
// its window closes.
func TestSignalsToTheProxyEndAProgramThatIgnoresThemR60(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "its window closes": 0} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			s := w.Terminal(80, 24)
			s.Run(`proxy --agent sh -c 'trap "" TERM HUP; echo proxy=$PPID pid=$$; while :; do sleep 1000; done'`)
			pid, proxy := s.Match(`pid=(\d+)`), world.AboveLeader(s.Match(`proxy=(\d+)`))
			if sig == 0 {
				s.Close()
				w.WaitGone(proxy)
			} else {
				w.Kill(proxy, sig)
				require.Equal(t, 128+9, s.Status())
				require.Equal(t, world.PlainModes, s.Format(world.Modes))
			}
			w.WaitGone(pid)
		})
	}
}
