package consent_test

import (
	"regexp"
	"syscall"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// swap is a question of a program that vanishes while the user is about to answer it, and the one
// that waits behind it.
type swap struct {
	*tool
	first  func() *world.Running // asks for a password
	words  string                // of that question
	victim func() int            // the process whose end ends it
	next   func() *world.Running // asks behind it
	nextly string                // the words of the next question
	later  bool                  // the next one asks only after the first: sudo waits for a lock
}

// run has the first question vanish, and the user press Ctrl+G for it and type the password. The
// next question gets neither, and is refused then.
func (s *swap) run() {
	s.T.Helper()
	for isSlow := true; isSlow; {
		first := s.first()
		s.waitQuestion(s.words)
		next := s.next()
		if !s.later {
			s.desk.Wait("1 of 2: ")
			s.waitQuestion(s.words)
		}
		victim := s.victim()
		ended := time.Now()
		require.NoError(s.T, syscall.Kill(victim, syscall.SIGKILL))
		if s.later {
			s.waitQuestion(s.nextly)
			ended = time.Now()
		}
		s.desk.Press("C-g")
		isSlow = time.Since(ended) > time.Second // the next question could be read by then
		s.desk.Typed(s.canary)
		s.desk.Press("Enter")
		require.NotZero(s.T, first.Wait().Status)
		s.waitQuestion(s.nextly)
		s.desk.PressWhile(`C-\`, s.nextly)
		got := next.Wait()
		require.True(s.T, isSlow || got.Status != 0, "the unread question was answered: %s", got.Out)
		require.Contains(s.T, got.Err, "user")
		s.desk.OpenMenu("no agent has the keyboard")
		s.desk.Press("Enter")
		s.desk.WaitGone("no agent has the keyboard")
	}
	require.NotContains(s.T, s.Content(s.desk.Recording()), s.canary, "it was on the screen")
	require.NotContains(s.T, s.desk.Screen(), s.canary)
}

// request has an agent ask for the keyboard of the desk.
func (a *tool) request() *world.Running {
	a.T.Helper()
	return a.Start("gateway", "request", a.id, "--as", "codex", "--reason", "look")
}

// R46, R72: a key for a question that has vanished answers nothing else, and the password behind it
// reaches no program.
func TestAVanishedQuestionHandsNothingOnR46R72(t *testing.T) {
	a := newTool(t, "git")
	url := gitServer(a)
	clone := func() *world.Running { return a.start("git clone -q " + url + " cloned") }
	s := &swap{
		tool: a, first: clone, words: "wants your answer for git",
		victim: func() int { return findProcess(t, a.Dir, "git-remote-http") },
		next:   a.request, nextly: "“codex” asks to drive",
	}
	s.run()
}

// The same with sudo, followed by an agent and by another command of sudo.
func TestAVanishedSudoHandsNothingOn_Root(t *testing.T) {
	s := newSudoer(t)
	s.Until(func() bool {
		s.id = regexp.MustCompile(`bash-\w+`).FindString(s.as("gateway", "ls").Wait().Out)
		return s.id != ""
	}, func() string { return "the session is not listed" })
	sudo := func(command string) func() *world.Running {
		return func() *world.Running { return s.start("sudo -k; sudo " + command) }
	}
	scene := &swap{
		tool: s.tool, first: sudo("true"), words: "wants your password for sudo: “sudo true”",
		victim: func() int { return findProcess(t, s.dir, "gateway-askpass") },
		next:   func() *world.Running { return s.as("gateway", "request", s.id, "--as", "codex", "--reason", "look") },
		nextly: "“codex” asks to drive",
	}
	scene.run()
	scene.next, scene.nextly, scene.later = sudo("touch "+s.dir+"/ran"), "“sudo touch", true
	scene.run()
	require.NoFileExists(t, s.dir+"/ran")
	s.desk.Press("C-d")
	s.waitRecorded()
}
