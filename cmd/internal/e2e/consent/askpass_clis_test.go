package consent_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// askingAgent is a coding agent whose own shell tool runs programs that ask.
type askingAgent struct {
	name string
	args []string // its command line up to the prompt, with which its tool needs no permission
	tool string   // its shell tool
	call func(command string) world.Args
	// poll is the tool that waits on for a command of this number, or "".
	poll string
	// clearsGit means that the tool empties the variables of git and ssh. A command that sets them
	// again from SUDO_ASKPASS asks.
	clearsGit bool
}

var askingAgents = []askingAgent{
	{name: "claude", args: []string{"--setting-sources", "user", "--allowedTools", "Bash", "-p"}, tool: "Bash", call: shellCall},
	{
		name: "codex", args: []string{"exec", "--skip-git-repo-check", "--model", "gpt-5.5", "--sandbox", "danger-full-access"},
		tool: "exec_command", poll: "write_stdin",
		call: func(command string) world.Args { return world.Args{"cmd": command, "yield_time_ms": 30_000} },
	},
	{name: "gemini", args: []string{"--model", "gemini-2.5-flash", "--yolo", "--prompt"}, tool: "run_shell_command", call: shellCall, clearsGit: true},
	{name: "opencode", args: []string{"run"}, tool: "bash", call: shellCall},
	{
		name: "copilot", args: []string{"--allow-all-tools", "--prompt"}, tool: "bash", clearsGit: true,
		call: func(command string) world.Args {
			return world.Args{"command": command, "description": "a test", "initial_wait": 120}
		},
	},
}

func shellCall(command string) world.Args {
	return world.Args{"command": command, "description": "a test"}
}

// runTool lets the model run a command, does what the person does meanwhile, and returns what the
// model reads of it.
func (c *askingAgent) runTool(m *world.PlayedModel, command string, meanwhile func()) (read string) {
	m.W.T.Helper()
	m.StartCall(c.tool, c.call(command))
	meanwhile()
	read = m.Next().Result
	for c.poll != "" {
		still := regexp.MustCompile(`session ID (\d+)`).FindStringSubmatch(read)
		if still == nil {
			break
		}
		id := 0
		_, err := fmt.Sscan(still[1], &id)
		require.NoError(m.W.T, err)
		m.StartCall(c.poll, world.Args{"session_id": id, "chars": "", "yield_time_ms": 5_000})
		read = m.Next().Result
	}
	return read
}

// In the own shell tool of each coding agent sudo, git and ssh ask the user, who reads which agent asks,
// with which command and where. Neither the model nor anything that the agent keeps has the password.
func TestProgramsOfEachCodingAgentAskTheUser_RootClient(t *testing.T) {
	t.Parallel()
	for _, c := range askingAgents {
		t.Run(c.name, func(t *testing.T) {
			bin := world.FromNpm(t, c.name)
			s := newSudoer(t, "git", "ssh-keygen")
			if got := s.as("test", "-x", bin).Wait(); got.Status != 0 {
				t.Skipf("another user cannot run %s", bin)
			}
			m, model := s.PlayModel()
			env := s.setUp(c.name, model)
			url := gitServer(s.tool)
			m.Agent = s.start("exec env '" + strings.Join(env, "' '") + "' " + bin + " '" + strings.Join(append(slices.Clone(c.args), "install it"), "' '") + "' < /dev/null")
			t.Cleanup(func() { _ = syscall.Kill(-m.Agent.Cmd.Process.Pid, syscall.SIGKILL) }) // after a failed test
			require.Contains(t, m.Next().Prompt, "install it")

			read := c.runTool(m, "sudo -k true; echo status $?", func() {
				s.answer("what looks like "+c.name+" wants your password for sudo: “sudo -k true” in “~” · sudo says “[sudo] password for "+account+":”", s.canary)
			})
			require.Contains(t, read, "status 0")

			key := "ssh-keygen -y -f key; echo status $?"
			git := "git clone -q " + url + " cloned; echo status $?"
			if c.clearsGit {
				require.Contains(t, c.runTool(m, git, func() {}), "status 128")
				git = "GIT_ASKPASS=$SUDO_ASKPASS " + git
				key = "SSH_ASKPASS=$SUDO_ASKPASS " + key
			}
			read = c.runTool(m, git, func() {
				s.answer("what looks like "+c.name+" wants your answer for git at “"+strings.Split(url, "/")[2]+"”: “git clone -q "+url+" cloned” in “~", "ada")
				s.answer("what looks like "+c.name+" wants your password for git", s.canary)
			})
			require.Contains(t, read, "status 0")

			read = c.runTool(m, key, func() {
				s.answer("what looks like "+c.name+" wants your password for ssh: “ssh-keygen -y -f key”", s.canary)
			})
			require.Contains(t, read, "ssh-ed25519 ")
			require.Contains(t, read, "status 0")

			read = c.runTool(m, "sudo -k true; echo status $?", func() { s.press("wants your password for sudo", "C-\\") })
			require.Contains(t, read, "the user refused the answer for sudo. Do not try again or another way")
			require.Contains(t, read, "status 1")

			require.False(t, m.WasAsked(s.canary), "the model has read it")
			require.Subset(t, searchProcesses(t, s.World, s.canary), []int{m.Agent.Cmd.Process.Pid, s.serving.Cmd.Process.Pid})
			m.Finish()
			require.NotContains(t, m.Agent.Out.String()+m.Agent.Err.String(), s.canary)
			s.desk.Press("C-d")
			s.waitRecorded()
			require.Greater(t, searchFiles(t, s.dir, s.canary), 10)
		})
	}
}

// setUp makes the home of an agent for the user whom sudo asks.
func (s *sudoer) setUp(name, model string) (env []string) {
	s.T.Helper()
	home := *s.World
	home.Dir = s.dir
	require.NoError(s.T, os.Mkdir(home.Path("home"), 0o700))
	at := slices.IndexFunc(world.CodingAgents, func(c world.CodingAgent) bool { return c.Name == name })
	got := s.Do("ssh-keygen", "-q", "-t", "ed25519", "-N", s.canary, "-f", home.Path("key"))
	require.Zero(s.T, got.Status, got.Err)
	env = append(world.CodingAgents[at].SetUp(&home, model), "XDG_CONFIG_HOME="+home.Path("home/config"))
	require.NoError(s.T, filepath.WalkDir(s.dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(path, accountID, accountID)
		}
		return err
	}))
	return env
}

// searchFiles looks for a word in all files below a directory, and returns how many it read.
func searchFiles(t *testing.T, dir, word string) (files int) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return ignoreGone(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return ignoreGone(err)
		}
		files++
		require.NotContains(t, string(data), word, path)
		return nil
	}))
	return files
}

// ignoreGone drops the error for a file that a program has just removed.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
