package consent_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Helpers and the gits that started them are killed at any moment, also while the user answers:
// each question ends, and the next program gets its own answer.
func TestHelpersAreKilledAtAnyMoment(t *testing.T) {
	a := newTool(t, "git")
	url := gitServer(a)
	const rounds = 4 // of two questions at most: an agent gets ten in a minute
	for i := range rounds {
		clone := a.start(fmt.Sprintf("git clone -q %s killed%d", url, i))
		for range rand.IntN(6) {
			a.desk.Press([]string{"C-g", "Enter", "a", "Escape"}[rand.IntN(4)])
			time.Sleep(rand.N(60 * time.Millisecond)) // a random moment, not a wait for a fact
		}
		for _, pid := range a.children(clone.Cmd.Process.Pid) {
			if rand.IntN(2) == 0 {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		for ended := false; !ended; {
			for _, pid := range a.children(clone.Cmd.Process.Pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			select {
			case <-clone.Ended:
				ended = true
			case <-time.After(20 * time.Millisecond):
			}
		}
		a.desk.See("no question", func(screen string) bool {
			if strings.Contains(screen, "no longer waits") {
				a.desk.Press("Enter")
			}
			return !strings.Contains(screen, "refuses") && !strings.Contains(screen, "no longer waits")
		})
	}
	last := a.start("git clone -q " + url + " last")
	a.answer("wants your answer for git", "ada")
	a.answer("wants your password for git", a.canary)
	got := last.Wait()
	require.Zero(t, got.Status, got.Err)
}

// children returns the processes of the world that came of a command, which may have ended.
func (a *tool) children(of int) (pids []int) {
	a.T.Helper()
	entries, err := os.ReadDir("/proc")
	require.NoError(a.T, err)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		cwd, _ := os.Readlink("/proc/" + e.Name() + "/cwd") // of a closed process only root may
		first, _, _ := strings.Cut(string(line), "\x00")
		name := filepath.Base(first)
		if err == nil && pid != of && (isWithin(cwd, a.Dir) || isWithin(first, a.Dir)) &&
			(strings.HasPrefix(name, "git") && name != "gateway" || name == "gateway-askpass") {
			pids = append(pids, pid)
		}
	}
	return pids
}
