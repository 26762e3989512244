package stdio_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/proxy/chat/stdio"
)

const hosting = "STDIO_TEST_AGENT"

// TestMain plays a host of the agent that the environment names, until it is killed.
func TestMain(m *testing.M) {
	script := os.Getenv(hosting)
	if script == "" {
		goleak.VerifyTestMain(m)
		return
	}
	guarded := make(chan struct{}) // the test kills the host as soon as it has the line
	_, err := stdio.Start(stdio.Config{
		Program: "sh", Args: []string{"-c", script}, Env: stdio.Environment(), TooLong: func(int) {},
		Line: func(b []byte) { <-guarded; fmt.Println(string(b)) }, Ended: func(string) { os.Exit(0) },
	})
	if err != nil {
		panic(err)
	}
	close(guarded)
	select {}
}

// Even an agent that ignores the end of its input, and signals, ends, with the processes that it
// started.
func TestAnAgentEndsWithItsKilledHost(t *testing.T) {
	for name, script := range map[string]string{
		"reads its input": `echo $$; cat >/dev/null`,
		"deaf":            `sleep 1000 & echo $$ $!; wait`,
		"ignores signals": `trap "" HUP INT TERM; sh -c 'echo $PPID $$; while :; do sleep 1000; done'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := exec.CommandContext(t.Context(), os.Args[0])
			host.Env = append(os.Environ(), hosting+"="+script)
			out, err := host.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, host.Start())
			line, err := bufio.NewReader(out).ReadString('\n')
			require.NoError(t, err)
			require.NoError(t, host.Process.Kill())
			require.Error(t, host.Wait())
			for _, pid := range strings.Fields(line) {
				n, err := strconv.Atoi(pid)
				require.NoError(t, err)
				require.Eventually(t, func() bool { return isGone(n) }, 30*time.Second, 50*time.Millisecond, "process %d goes on", n)
			}
		})
	}
}

// An adapter ends, or is killed, and the agent behind it no longer reads its input. A process with
// a session of its own has asked to outlive the agent.
func TestAnAgentsChildrenEndWithIt(t *testing.T) {
	for name, c := range map[string]struct {
		script, why string
		lives       bool
	}{
		"it is killed":         {script: `sleep 1000 & echo $!; read -r _; kill -KILL $$`, why: "was killed: killed"},
		"the rest is stubborn": {script: `sh -c 'trap "" HUP INT TERM; echo $$; while :; do sleep 1000; done' & read -r _; kill -KILL $$`, why: "was killed: killed"},
		"it ends":              {script: `sleep 1000 & echo $!; read -r _; exit 3`, why: "ended with exit status 3"},
		"a daemon":             {script: `setsid sh -c 'echo $$; exec sleep 1000 >/dev/null 2>&1' & read -r _`, lives: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("setsid"); err != nil && c.lives {
				t.Skip("setsid is not installed")
			}
			started, ended := make(chan string, 1), make(chan string, 1)
			program, err := stdio.Start(stdio.Config{
				Program: "sh", Args: []string{"-c", c.script}, Env: stdio.Environment(), TooLong: func(int) {},
				Line: func(b []byte) { started <- string(b) }, Ended: func(how string) { ended <- how },
			})
			require.NoError(t, err)
			left, err := strconv.Atoi(<-started)
			require.NoError(t, err)
			require.NoError(t, program.Send("end"))
			require.Equal(t, c.why, <-ended)
			program.Close()
			if c.lives {
				require.False(t, isGone(left))
				require.NoError(t, syscall.Kill(left, syscall.SIGKILL))
				return
			}
			require.Eventually(t, func() bool { return isGone(left) }, 30*time.Second, 10*time.Millisecond)
		})
	}
}

// isGone reports whether a process has ended; in a container without an init it stays as a zombie.
func isGone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ")
}
