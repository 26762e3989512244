package consent_test

import (
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/e2e/world"
)

// The helper, the part of git that waits for it, the gateway or the proxy is killed while the user
// types the answer. With the program's part the question ends, and what was typed goes nowhere. The
// question outlives its gateway, and what was typed counts.
func TestAKillWhileTheUserTypesAnAnswer(t *testing.T) {
	t.Parallel()
	for _, victim := range []string{"gateway-askpass", "git-remote-http", "gateway", "proxy"} {
		t.Run(victim, func(t *testing.T) {
			a := newTool(t, "git")
			clone := a.start("git clone -q " + gitServer(a) + " cloned")
			a.answer("wants your answer for git", "ada")
			a.waitQuestion("wants your password for git")
			a.desk.PressWhile("C-g", "Ctrl+G answers")
			a.desk.Typed(a.canary[:4])
			a.desk.Wait("••••▏")
			if victim == "gateway" {
				require.NoError(t, a.serving.Cmd.Process.Kill())
				a.Until(func() bool { return len(a.Sessions()) == 1 }, func() string { return "no other gateway serves" })
				a.desk.Typed(a.canary[4:])
				a.desk.See("the end of the question", func(screen string) bool {
					if strings.Contains(screen, "Enter sends") {
						a.desk.Press("Enter") // until the helper has asked again, no one would get it
					}
					return !strings.Contains(screen, "Enter sends")
				})
				got := clone.Wait()
				require.Zero(t, got.Status, got.Err+a.desk.Screen())
				require.FileExists(t, a.Path("cloned/.git/HEAD"))
				return
			}
			pid := 0
			if victim == "proxy" { // whose directory no other process can read
				pid, _ = strconv.Atoi(world.ChildOf(t, a.desk.Shell()))
			} else {
				pid = findProcess(t, a.Dir, victim)
			}
			require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
			if victim == "proxy" {
				require.Equal(t, 137, a.desk.Status())
			} else {
				a.desk.Wait("git no longer waits: nothing is sent")
				a.desk.Typed(a.canary[4:])
				a.desk.Press("Enter")
				a.desk.WaitGone("no longer waits")
			}
			require.NotZero(t, clone.Wait().Status)
			require.NotContains(t, a.Content(a.desk.Recording()), a.canary[4:])
		})
	}
}
