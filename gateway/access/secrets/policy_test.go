package secrets

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

const ada = 1001

// fromShell are the ancestors of a command that a coding agent runs.
func fromShell(program process) []process {
	return []process{
		program,
		{pid: 30, name: "bash", path: "/usr/bin/bash", args: []string{"bash", "-c", "x"}, real: ada, effective: ada, system: true},
		{pid: 20, name: "node", path: "/usr/bin/node", args: []string{"node", "/opt/claude-code/cli.js"}, real: ada, effective: ada, system: true},
		{pid: 10, name: "bash", path: "/usr/bin/bash", args: []string{"-bash"}, real: ada, effective: ada, system: true},
	}
}

func sudo() process {
	return process{pid: 40, name: "sudo", args: []string{"sudo", "apt-get", "install", "jq"}, real: ada, effective: 0}
}

func program(path string, args ...string) process {
	return process{pid: 40, name: "x", path: path, args: args, real: ada, effective: ada, system: true}
}

// asked are the facts of a question by a program.
func asked(p process) *facts {
	return &facts{
		asker:   process{pid: 50, parent: 40, name: "gateway-askpass", path: "/usr/bin/gateway", dir: "/home/ada/app", real: ada, effective: ada},
		chain:   fromShell(p),
		ownFile: true, sameNamespaces: true, stdout: "pipe:[7]", programPipe: true,
	}
}

// Who may ask, and what the others are told: the whole policy.
func TestOnlyItsHelpersMayAsk(t *testing.T) {
	gitFill := program("/usr/bin/git", "git", "credential", "fill")
	for _, c := range []struct {
		name    string
		facts   *facts
		program string
		err     error
	}{
		{"sudo", asked(sudo()), "sudo", nil},
		{"sudo under ansible", asked(process{pid: 40, name: "sudo", args: []string{"sudo", "-H", "-A", "-u", "root", "/bin/sh", "-c", "echo BECOME"}, real: ada, effective: 0}), "sudo", nil},
		{"ssh for a password or a new host", asked(program("/usr/bin/ssh", "ssh", "ada@host")), "ssh", nil},
		{"ssh-add", asked(program("/usr/bin/ssh-add", "ssh-add")), "ssh", nil},
		{"a signature of git by ssh-keygen", asked(program("/usr/bin/ssh-keygen", "ssh-keygen", "-Y", "sign")), "ssh", nil},
		{"git over https", asked(program("/usr/lib/git-core/git-remote-http", "git-remote-https", "origin", "https://ada@example.com/x.git")), "git", nil},
		{"a git of the user's own", asked(process{pid: 40, path: "/home/ada/conda/git-remote-https", args: []string{"x"}, real: ada, effective: ada}), "git", nil},

		{"gpg by way of gpg-agent", forClient(program("/usr/bin/gpg-agent"), program("/usr/bin/gpg", "gpg", "-s", "x")), "gpg", nil},
		{"gpg by way of a closed gpg-agent", forClient(process{pid: 40, name: "gpg-agent", real: ada, effective: ada}, program("/usr/bin/gpg")), "gpg", nil},

		{"a closed program by another name", forClient(process{pid: 40, name: "x", real: ada, effective: ada}, program("/usr/bin/gpg")), "", refusedHelper},
		{"gpg-connect-agent, which prints what it gets", forClient(program("/usr/bin/gpg-agent"), program("/usr/bin/gpg-connect-agent", "gpg")), "", refusedClient},
		{"a gpg of the user's own", forClient(program("/usr/bin/gpg-agent"), process{pid: 45, path: "/home/ada/gpg", real: ada, effective: ada}), "", refusedClient},
		{"a gpg-agent of the user's own", forClient(process{pid: 40, path: "/home/ada/gpg-agent", real: ada, effective: ada}, program("/usr/bin/gpg")), "", refusedHelper},
		{"a shell that names a client", forClient(program("/usr/bin/bash", "gpg-agent"), program("/usr/bin/gpg")), "", refusedHelper},
		{"gpg-agent without a client", asked(program("/usr/bin/gpg-agent")), "", refusedHelper},
		{"by hand", asked(program("/usr/bin/bash", "bash")), "", refusedHelper},
		{"in $(...)", asked(program("/usr/bin/dash", "sh", "-c", "x=$(gateway-askpass x)")), "", refusedHelper},
		{"a shell called ssh", asked(program("/usr/bin/bash", "ssh")), "", refusedHelper},
		{"git credential fill", asked(gitFill), "", refusedFill},
		{"a sudo that is not root's", asked(process{pid: 40, name: "sudo", path: "/home/ada/sudo", args: []string{"sudo"}, real: ada, effective: ada}), "", refusedSudo},
		{"a sudo whose command the helper is", with(asked(sudo()), func(f *facts) { f.chain[0].relays = true }), "", refusedOutput},
		{"another name for root's rights", asked(process{pid: 40, name: "pkexec", real: ada, effective: 0}), "", refusedHelper},
		{"to a file", with(asked(sudo()), func(f *facts) { f.stdout = "/tmp/x" }), "", refusedOutput},
		{"to a FIFO", with(asked(sudo()), func(f *facts) { f.stdout = "/tmp/fifo" }), "", refusedOutput},
		{"to a terminal", with(asked(sudo()), func(f *facts) { f.stdout = "/dev/pts/3" }), "", refusedOutput},
		{"to a socket", with(asked(sudo()), func(f *facts) { f.stdout = "socket:[7]" }), "", refusedOutput},
		{"to a pipe that others read", with(asked(sudo()), func(f *facts) { f.sharers = []int{9} }), "", refusedSharers},
		{"to a pipe that is not the program's", with(asked(sudo()), func(f *facts) { f.programPipe = false }), "", refusedOutput},
		{"a traced helper", with(asked(sudo()), func(f *facts) { f.asker.tracer = 9 }), "", refusedDebugger},
		{"a traced program", with(asked(program("/usr/bin/ssh")), func(f *facts) { f.chain[0].tracer = 9 }), "", refusedDebugger},
		{"another helper", with(asked(sudo()), func(f *facts) { f.ownFile = false }), "", refusedFile},
		{"from a container", with(asked(sudo()), func(f *facts) { f.sameNamespaces = false }), "", refusedPlace},
		{"without a parent", with(asked(sudo()), func(f *facts) { f.chain = nil }), "", refusedHelper},
	} {
		t.Run(c.name, func(t *testing.T) {
			program, err := c.facts.judge()
			require.Equal(t, c.program, program)
			require.Equal(t, c.err, err)
		})
	}
}

// forClient are the facts of a question by gpg-agent for a client of its.
func forClient(agent, client process) *facts {
	f := asked(client)
	f.agent = &agent
	return f
}

func with(f *facts, change func(*facts)) *facts {
	change(f)
	return f
}

func TestAskerIsDescribedToTheUser(t *testing.T) {
	f := asked(sudo())
	require.Equal(t, protocol.SecretAsker{
		Program: "sudo", Command: "sudo apt-get install jq", Cwd: "/home/ada/app", Pid: 40,
		Agent: "claude", Chain: []string{"bash", "node", "bash"},
	}, f.describe("sudo", nil))
	// A client of the gateway says which agent it is, whatever that looks like.
	f.chain[2].pid = os.Getppid()
	f.chain[2].args, f.chain[2].started = nil, 9
	require.Equal(t, "Claude Code", f.describe("sudo", map[int]Client{os.Getppid(): {ID: "a-1", Name: "Claude Code", TokenID: "t-1"}}).Agent)
	require.Equal(t, "agent", f.describe("sudo", map[int]Client{os.Getppid(): {ID: "a-1", Name: "", TokenID: "t-1"}}).Agent)
	require.True(t, f.describe("sudo", map[int]Client{os.Getppid(): {ID: "a-1", Name: "", TokenID: "t-1"}}).Proven)
	require.Empty(t, f.describe("sudo", nil).Agent)
	farthest, _, _ := f.findAgent(nil)
	require.Equal(t, 10, farthest.pid, "an unknown one counts with its relatives")
	f.chain[1].args = []string{"bash", "-c", "a b'c\x1b[2J"}
	f.chain[0] = process{pid: 40, name: "x", path: "/home/ada/bin/git-remote-https", args: []string{"", "origin", "https://ada:x@example.com:8443/a b"}, real: ada, effective: ada}
	got := f.describe("git", nil)
	require.Equal(t, "/home/ada/bin/git-remote-https origin 'https://ada:x@example.com:8443/a b'", got.Command)
	f.chain = append([]process{f.chain[0], program("/usr/bin/git", "git", "remote-https", "x"), program("/usr/bin/git", "git", "push")}, f.chain[1:]...)
	require.Equal(t, "git push", f.describe("git", nil).Command)
	signs := forClient(program("/usr/bin/gpg-agent"), program("/usr/bin/gpg", "gpg", "--status-fd=2", "-bsau", "ada"))
	signs.chain = append([]process{signs.chain[0], program("/usr/bin/git", "git", "commit", "-S")}, signs.chain[1:]...)
	require.Equal(t, "git commit -S", signs.describe("gpg", nil).Command)
	require.Equal(t, "claude", signs.describe("gpg", nil).Agent)
	require.NoError(t, protocol.Check(&protocol.SecretAsk{RequestID: "r", SessionID: "s", Kind: "text", PublicKeyB64: []byte("k"), Asker: got}))
}

// A client proves who started it, but not what adopts orphans, nor a shell in which it runs: there
// runs anything.
func TestWhatAClientProves(t *testing.T) {
	for name, p := range map[string]process{
		"systemd": {path: "/usr/lib/systemd/systemd"}, "a closed systemd": {name: "systemd"}, "a shell": {path: "/usr/bin/bash"},
		"a login shell that is hidden": {name: "-zsh"}, "tmux": {path: "/usr/bin/tmux"}, "an agent": {path: "/usr/bin/robotd"},
	} {
		f := asked(sudo())
		p.pid, p.started = os.Getppid(), 9
		f.chain[2] = p
		got := f.describe("sudo", map[int]Client{os.Getppid(): {ID: "a-1", Name: "robot", TokenID: "t-1"}})
		want := []any{false, "", "", ""}
		if name == "an agent" {
			want = []any{true, "robot", "a-1", "t-1"}
		}
		require.Equal(t, want, []any{got.Proven, got.Agent, got.AgentID, got.TokenID}, name)
	}
	require.True(t, (&process{pid: 1, path: "/usr/bin/tini"}).adoptsOrphans())
}

// sudo edits files if the name that it was started by ends in edit.
func TestSudoEditShowsItsFiles(t *testing.T) {
	for name, edits := range map[string]bool{"sudoedit": true, "/tmp/x-edit": true, "edit": false, "sudo": false, "sudoedit/sudo": false} {
		p := &process{name: "sudo", args: []string{name, "cat", "/etc/shadow"}}
		require.Equal(t, edits, quoteCommand(p) == "sudoedit cat /etc/shadow", name)
	}
}

// The question names a machine only if git's own argument and its prompt agree on it.
func TestWhichMachineAsks(t *testing.T) {
	const good, evil = "https://good.example/x", "http://evil.example:8080/x"
	for _, c := range []struct {
		program string
		args    []string
		prompt  string
		host    string
	}{
		{"git", []string{"git-remote-https", "origin", good}, "Username for 'https://good.example': ", "good.example"},
		{"git", []string{"git-remote-https", "origin", "https://ada:x@good.example:8443/a b"}, "Password for 'https://ada@good.example:8443': ", "good.example:8443"},
		{"git", []string{"git-remote-https", "origin", good}, "Password for 'https://a/b@good.example': ", "good.example"},
		{"git", []string{"git-remote-https", "origin", good}, "Password for 'https://ada@good.example/x': ", "good.example"},
		{"git", []string{"git-remote-https", good, evil}, "Password for 'http://ada@evil.example:8080': ", "evil.example:8080"},
		{"git", []string{"git-remote-https", "origin", good}, "Password for 'https://ada@evil.example': ", ""},
		{"git", []string{"git-remote-https", "origin", good}, "Password for 'https://good.example@evil.example': ", ""},
		{"git", []string{"git-remote-https", "origin", good}, "Password for 'https://good.example/@evil.example': ", ""},
		{"git", []string{"git-remote-https", "origin", good}, "Password for 'https://good.example.evil.example': ", ""},
		{"git", []string{"git-remote-https", "origin", good}, "", ""},
		{"git", []string{"git-remote-https", good}, "Username for 'https://good.example': ", ""},
		{"ssh", []string{"ssh", "-l", "ssh://good.example", "evil.example"}, "x@evil.example's password: ", ""},
	} {
		require.Equal(t, c.host, findHost(c.program, c.args, c.prompt), c.prompt, c.args)
	}
	f := asked(program("/usr/bin/ssh", "ssh"))
	f.chain[0].dir, f.asker.dir = "/home/ada/evil", "/home/ada/good"
	require.Equal(t, "/home/ada/evil", f.describe("ssh", nil).Cwd, "a helper could go elsewhere")
}

func TestAQuestionGoesWhereThePersonIs(t *testing.T) {
	f := asked(sudo())
	session := func(id string, pid int, used int64) protocol.SessionInfo {
		return protocol.SessionInfo{SessionID: id, Pid: pid, UsedAt: used, State: protocol.StateRunning}
	}
	headless, left, lost := session("headless", 30, 9), session("left", 30, 9), session("lost", 30, 9)
	headless.Headless, left.DetachedAt, lost.State = true, 1, protocol.StateLost
	require.Equal(t, []string{"near", "far", "recent", "old", "left"}, f.sessionsToAsk([]protocol.SessionInfo{
		session("old", 1, 5), session("far", 10, 1), headless, session("recent", 2, 7), session("near", 30, 2), left, lost,
	}))
}

func TestQuestionsOfAProgramAreLimited(t *testing.T) {
	now := time.Now()
	var l limits
	admit := func(program, agent int, kind string) error {
		_, err := l.admit(now, identity{program, 1}, identity{agent, 1}, kind, "x")
		return err
	}
	for range questionsPerProgram {
		require.NoError(t, admit(1, 9, protocol.SecretHidden))
	}
	require.Equal(t, refusedOften, admit(1, 9, protocol.SecretHidden))
	require.NoError(t, admit(1, 9, protocol.SecretConfirm), "another kind")
	require.Equal(t, refusedOften, admit(1, 9, protocol.SecretConfirm), "ssh asks again for ever")
	for program := 2; program < 2+questionsPerAgent-questionsPerProgram-1; program++ {
		require.NoError(t, admit(program, 9, protocol.SecretHidden))
	}
	require.Equal(t, refusedFlood, admit(50, 9, protocol.SecretHidden))
	require.NoError(t, admit(51, 8, protocol.SecretHidden), "another agent")
	now = now.Add(agentPause - time.Second)
	require.Equal(t, refusedFlood, admit(52, 9, protocol.SecretHidden))
	now = now.Add(2 * time.Second)
	require.NoError(t, admit(53, 9, protocol.SecretHidden))

	now = now.Add(2 * time.Minute)
	for agent := range questionsInAll {
		require.NoError(t, admit(100+agent, 100+agent, protocol.SecretHidden))
	}
	require.Equal(t, refusedFlood, admit(200, 200, protocol.SecretHidden), "all agents together")
	now = now.Add(agentPause + time.Second)

	l.noteAnswer(now, identity{60, 1}, "x", true)
	require.Equal(t, refusedByUser, admit(60, 7, protocol.SecretHidden))
	l.noteAnswer(now, identity{61, 1}, "x", false)
	again, err := l.admit(now, identity{61, 1}, identity{7, 1}, protocol.SecretHidden, "x")
	require.NoError(t, err)
	require.True(t, again, "the last answer was wrong")
	again, err = l.admit(now, identity{61, 2}, identity{7, 1}, protocol.SecretHidden, "x")
	require.NoError(t, err)
	require.False(t, again, "another process with that number")
	for i := range 3 * maxRemembered {
		l.noteAnswer(now, identity{1000 + i, 1}, "x", true)
	}
	require.LessOrEqual(t, len(l.uses), maxRemembered)
}

func TestAnAnswerOpensItsOwnQuestionOnly(t *testing.T) {
	for range 20 {
		key, err := NewKey()
		require.NoError(t, err)
		other, err := NewKey()
		require.NoError(t, err)
		ask := &protocol.SecretAsk{Kind: protocol.SecretHidden, Prompt: "Password: ", PublicKeyB64: key.Public()}
		sealed := sealFor(t, ask, "s3cret")
		text, err := key.Open(ask.Kind, ask.Prompt, sealed)
		require.NoError(t, err)
		require.Equal(t, "s3cret", string(text))
		for i, open := range []func() ([]byte, error){
			func() ([]byte, error) { return key.Open(ask.Kind, "Password for prod: ", sealed) },
			func() ([]byte, error) { return key.Open(protocol.SecretText, ask.Prompt, sealed) },
			func() ([]byte, error) { return other.Open(ask.Kind, ask.Prompt, sealed) },
			func() ([]byte, error) { return key.Open(ask.Kind, ask.Prompt, sealed[:len(sealed)-1]) },
			func() ([]byte, error) { return key.Open(ask.Kind, ask.Prompt, nil) },
		} {
			_, err := open()
			require.Error(t, err, fmt.Sprint(i))
		}
	}
}

func TestPromptTellsItsKind(t *testing.T) {
	for prompt, kind := range map[string]string{
		"[sudo] password for ada: ":              protocol.SecretHidden,
		"":                                       protocol.SecretHidden,
		"Username for 'https://example.com': ":   protocol.SecretText,
		"Password for 'https://ada@example.com'": protocol.SecretHidden,
		"The authenticity of host 'x' can't be established.\nAre you sure you want to continue connecting (yes/no/[fingerprint])? ": protocol.SecretConfirm,
		"Are you sure you want to continue connecting (yes/no)? ":                                                                   protocol.SecretConfirm,
	} {
		require.Equal(t, kind, KindOf(prompt, ""), prompt)
	}
	require.Equal(t, protocol.SecretConfirm, KindOf("Allow use of key?", "confirm"))
}
