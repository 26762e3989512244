package main

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/cmd/internal/commands/session"
	"terminalproxy/cmd/internal/process/version"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

func TestUsageIsStatus2WithASentence(t *testing.T) {
	clitest.Isolate(t)
	unreadable := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(unreadable, []byte("x"), 0o644))
	tests := []struct{ line, say string }{
		{"frobnicate", "unknown command \"frobnicate\"\nhint: see gateway --help"},
		{"raed", "unknown command \"raed\"\nhint: did you mean: gateway read"},
		{"ls --all", "unknown flag: --all\nhint: see gateway ls --help"},
		{"open --host", "--host: missing value\nhint: write --host NAME; see gateway open --help"},
		{"wait x --title", "--title: missing value\nhint: write --title TEXT; see gateway wait --help"},
		{"ls here", "ls: too many arguments"},
		{"wait x --idle 5", "wait --idle: 5 has no unit: write 5ms or 5s"},
		{"policy check", "policy check: missing AGENT and PROGRAM\nhint: usage: gateway policy check AGENT PROGRAM"},
		{"token revok", "token: unknown command \"revok\"\nhint: did you mean: gateway token revoke\n"},
		{"help nosuch", "unknown command \"nosuch\"\nhint: see gateway --help\n"},
		{"completion", "completion: use bash, zsh, fish or powershell"},
		{"ls --jsn", "unknown flag: --jsn\nhint: did you mean --json? Else see gateway ls --help\n"},
		{"policy check claude no-such-program", "policy check: PROGRAM: no-such-program is not in PATH"},
		{"render --animate --rows 2 --svg a x", "render: --animate cannot be used with --rows"},
		{"status --timeout 0s", "status: --timeout 0s: must be more than 0"},
		{"token create n", "token create: neither --role nor --local is given"},
		{"read x --history 9999", "--history 9999: must be 1 to 2000"},
		{"read x --history 5 --since 3", "use only one of --since and --history"},
		{"read x --max-tokens 0", "--max-tokens is 0, which hardly fits the text around the rows: give 200 or more"},
		{"run", "missing PROGRAM"},
		{"chat a b", "chat: the prompt is 2 words: put it in quotes"},
		{"chat --with eliza", `--with "eliza": must be one of claude, claude-acp, codex, gemini, opencode, copilot`},
		{"chat a --resume -x", `--resume "-x": not the id of a conversation`},
		{"chat a --prompt-file f", "--prompt-file cannot be used with a prompt on the command line"},
		{"chat", "chat: no prompt: standard input is empty and not a terminal"},
		{"run --gateway ws://127.0.0.1:1 -- sh", "local gateway only"},
		{"wait x", "exactly one of --text, --regex"},
		{"wait x --regex (", "wait --regex: the regular expression does not compile"},
		{"wait x --exit --timeout 25h", "--timeout 25h0m0s: must be 1ms to 24h"},
		{"send x", "send: nothing to type"},
		{"send x --click OK --click-at 1,2", "send: --click and --click-at cannot be used together: the mouse acts in one place"},
		{"send x --mouse right-click", "no place to right-click is given: give --click (a text on the screen) or --click-at (row,column from 1)"},
		{"send x --click-at 5 --text a", `--click-at is "5": write the row and the column, both from 1, like 5,12`},
		{"send x --text a --until lunch", `--until lunch: "lunch" is not a condition`},
		{"send x --text a --until control", "only gateway wait takes it"},
		{"send x --paste /nowhere/file", "--paste: open /nowhere/file: no such file"},
		{"send x --paste -", "--paste -: the file is empty"},
		{"request x", "--reason is required"},
		{"request x --reason r --for 1ms", "--for 1ms: must be 1s to 24h"},
		{"request x --reason " + strings.Repeat("r", 501), "--reason is 501 bytes long; the limit is 500"},
		{"request x --reason r --as " + strings.Repeat("n", 21), "cannot be an agent's name: use 1 to 20"},
		{"grant x --to " + strings.Repeat("n", 33), "cannot be an agent's name"},
		{"token", "token: use create, ls or revoke"},
		{"token create n --role god", `gateway: token create: --role "god": must be proxy, agent, viewer or owner`},
		{"serve --listen 0.0.0.0:0", "can be reached from other machines: add --tls-cert and --tls-key"},
		{"serve --tls-cert /nowhere/c --tls-key /nowhere/k", "certificate: open /nowhere/c"},
		{"serve --check --log-format xml", `serve: --log-format "xml": must be text or json`},
		{"marks", "marks: name one shell: bash, zsh, fish\nhint: for bash: eval \"$(gateway marks bash)\""},
		{"mark bash", "did you mean: gateway marks"},
		{"init csh", "bash, zsh, fish, tmux, vscode"},
		{"ls --gateway http://x", "write unix:/PATH, ws://127.0.0.1:PORT, or wss://HOST"},
		{"ls --token-file /nowhere/token", "token file: "},
		{"ls --token-file " + unreadable, "chmod"},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			got := clitest.Command(t, strings.Fields(tt.line)...)
			got.MustFail(t, cli.StatusUsage, tt.say)
			require.True(t, strings.HasPrefix(got.Err, "gateway: "), got.Err)
			require.Contains(t, got.Err, "\nhint: ")
		})
	}
}

// Without a name, the only session is meant; otherwise the one whose id or name it is, or begins
// with it, and never another.
func TestWhichSessionIsMeant(t *testing.T) {
	dir := clitest.Isolate(t)
	require.Contains(t, clitest.Command(t, "read").Err, "no gateway is running")
	p := &clitest.Terminal{ID: "sh-1"}
	p.ShareIn(t, dir)
	for _, line := range []string{"read", "read sh-1", "read sh", "read s"} {
		got := clitest.Command(t, strings.Fields(line)...)
		require.Equal(t, cli.StatusOK, got.Status, got.Err)
		require.Contains(t, got.Out, "sh-1 rev 1", line)
	}
	(&clitest.Terminal{ID: "shop-2"}).ShareIn(t, dir)
	require.Contains(t, clitest.Command(t, "read", "sho").Out, "shop-2 rev 1")
	clitest.RunFailing(t, cli.StatusNoSession, "which session? several are running\nhint: running: sh-1, shop-2", "read")
	clitest.RunFailing(t, cli.StatusNoSession, `session "s": several have this name`, "read", "s")
	clitest.RunFailing(t, cli.StatusNoSession, `no session "vim"`, "read", "vim")
	clitest.RunFailing(t, cli.StatusNoSession, "hint: keys follow the session, as in gateway send ID esc; running: sh-1, shop-2", "send", "esc", "enter")
	clitest.RunFailing(t, cli.StatusUsage, "nothing to type: give text, paste, keys, enter or click\nhint: keys follow the session, as in gateway send ID esc\n", "send", "esc")
	for _, line := range []string{"send sh-1", "send sh-1 --text x --steps y"} {
		got := clitest.Command(t, strings.Fields(line)...)
		require.Equal(t, cli.StatusUsage, got.Status, got.Err)
		require.NotContains(t, got.Err, "keys follow", "an id is no key: %s", line)
	}
	require.NotContains(t, clitest.Command(t, "send", "vim", "enter").Err, "keys follow")
	require.Equal(t, "gateway version "+version.String()+"\n", clitest.Command(t, "version").Out)
	require.Contains(t, clitest.Command(t, "help", "read").Out, "gateway read [ID]")
}

func TestNoGatewayIsStatus5AndNoneIsStarted(t *testing.T) {
	dir := clitest.Isolate(t)
	for _, line := range []string{
		"ls", "--json ls", "read x", "close x", "send x --enter", "wait x --exit", "request x --reason r", "release x", "reclaim x", "hide x",
		"ls --gateway ws://127.0.0.1:1", "ls --gateway unix:/nowhere/gateway.sock",
	} {
		got := clitest.Command(t, strings.Fields(line)...)
		require.Equal(t, cli.StatusNoGateway, got.Status, line)
		require.Empty(t, got.Out, line)
		require.Contains(t, got.Err, "gateway: connect: no gateway ", line)
		hint := "start a session in a terminal with: proxy --agent PROGRAM"
		switch {
		case strings.Contains(line, "ws://"):
			hint = "check that gateway serve runs there"
		case strings.Contains(line, "unix:"):
			hint = "correct --gateway or PROXY_GATEWAY, or leave it out for the local gateway"
		}
		require.Contains(t, got.Err, "hint: "+hint, line)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries, "no socket was made")
}

func TestOnlyARequestCreatesAnIdentity(t *testing.T) {
	clitest.Isolate(t)
	key := filepath.Join(os.Getenv("XDG_STATE_HOME"), "terminalproxy", "agent.key")
	_ = clitest.Command(t, "ls")
	require.NoFileExists(t, key)
	_ = clitest.Command(t, "request", "x", "--reason", "r")
	info, err := os.Stat(key)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	dir, err := os.Stat(filepath.Dir(key))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o700), dir.Mode().Perm())

	first, err := cli.Identity(cli.DefaultName, false)
	require.NoError(t, err)
	again, err := cli.Identity(cli.DefaultName, true)
	require.NoError(t, err)
	require.Equal(t, first, again, "it lasts")
	other, err := cli.Identity("other", false)
	require.NoError(t, err)
	require.NotContains(t, other, first, "each name is an agent of its own")

	require.NoError(t, os.Chmod(key, 0o644)) //nolint:gosec // the fault under test
	clitest.RunFailing(t, cli.StatusRefused, "chmod", "request", "x", "--reason", "r")
}

// The whole job: look, ask, type, wait, release.
func TestASessionFromAShell(t *testing.T) {
	p := clitest.ShareTerminal(t)

	got := clitest.Command(t, "ls")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.Regexp(t, `^ID    PROGRAM  SIZE  STATE    IDLE +KEYBOARD\nsh-1  sh -i    40x3  running  \d+m?s +user\n$`, got.Out)

	got = clitest.Command(t, "read", "sh-1")
	require.Equal(t, clitest.Result{Out: `sh-1 rev 1 cursor 1,1 running "sh -i" 40x3 keyboard: user` + "\n$\n"}, got)

	got = clitest.Command(t, "read", "sh-2")
	require.Equal(t, clitest.Result{Status: cli.StatusNoSession, Err: "gateway: read: no session \"sh-2\"\nhint: running: sh-1\n"}, got)

	got = clitest.Command(t, "send", "sh-1", "--text", "ls", "--enter")
	require.Equal(t, cli.StatusForbidden, got.Status)
	require.Empty(t, got.Out)
	require.Contains(t, got.Err, "gateway: send: you do not have the keyboard\n  typed: nothing\n  not typed: text (2 bytes): refused")
	require.Contains(t, got.Err, "hint: ask first with: gateway request ID --reason REASON")

	require.Equal(t, clitest.Result{Out: "granted (drive)\n"}, clitest.Command(t, "request", "sh-1", "--reason", "list files"))

	got = clitest.Command(t, "send", "sh-1", "--text", "ls", "--enter", "left", "ctrl-a")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.Equal(t, `sh-1 rev 4 cursor 1,1 running "sh -i" 40x3 keyboard: cli (drive)`+"\n$\nlsleft ctrl-aenter\nran\n", got.Out)
	require.Equal(t, []string{"text ls", "keys left ctrl-a", "keys enter"}, p.Typed)

	got = clitest.Command(t, "send", "sh-1", "--text", "x", "--expect-rev", "1")
	got.MustFail(t, cli.StatusRefused, "the screen is no longer what you expected")
	require.Contains(t, got.Out, "rev 4 cursor 1,1", "what is there instead")
	require.Contains(t, got.Out, "\nran\n")

	clitest.RunFailing(t, cli.StatusForbidden, "", "send", "sh-1", "--as", "other", "--text", "x")

	got = clitest.CommandWithInput(t, "two\nlines", "send", "sh-1", "--paste", "-", "--until", "text=lines")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.Equal(t, "paste two\nlines", p.Typed[len(p.Typed)-1])

	clitest.RunFailing(t, cli.StatusTimeout, "gateway: send --until text: typed: timed out", "send", "sh-1", "--text", "y", "--until", "text=never")

	got = clitest.Command(t, "wait", "sh-1", "--text", "ran")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.Contains(t, got.Out, "\nran\n")
	clitest.RunFailing(t, cli.StatusTimeout, "gateway: wait for text (1s): timed out", "wait", "sh-1", "--text", "never", "--timeout", "1s")

	require.Equal(t, clitest.Result{Out: "released\n"}, clitest.Command(t, "release", "sh-1", "--note", "done\u202e here"))
	require.Equal(t, []string{"done here"}, p.Bye)
	clitest.RunFailing(t, cli.StatusForbidden, "", "send", "sh-1", "--text", "z")
}

func TestJSONIsTheShapeOfTheWire(t *testing.T) {
	clitest.ShareTerminal(t)

	var list protocol.SessionsListResult
	clitest.Parse(t, clitest.Command(t, "ls", "--json"), &list)
	require.Equal(t, "sh-1", list.Sessions[0].SessionID)

	var read protocol.ReadResult
	clitest.Parse(t, clitest.Command(t, "read", "sh-1", "--json"), &read)
	require.Equal(t, []string{"$ ", "", ""}, read.Frame.Screen.Lines)

	got := clitest.Command(t, "read", "sh-9", "--json")
	require.Equal(t, cli.StatusNoSession, got.Status)
	require.Empty(t, got.Out)

	var grant protocol.ControlGrant
	clitest.Parse(t, clitest.Command(t, "request", "sh-1", "--reason", "r", "--json", "--level", "type"), &grant)
	require.Equal(t, protocol.LevelType, grant.Level)

	var receipt session.Sent
	clitest.Parse(t, clitest.Command(t, "send", "sh-1", "--text", "abc", "--enter", "--until", "text=ran", "--json"), &receipt)
	require.Equal(t, protocol.StatusWritten, receipt.Status)
	require.Equal(t, 8, receipt.WrittenBytes, "of all parts")
	require.True(t, receipt.Wait.Met)

	var wait protocol.WaitResult
	clitest.Parse(t, clitest.Command(t, "wait", "sh-1", "--text", "ran", "--json"), &wait)
	require.True(t, wait.Met)

	var released map[string]any
	clitest.Parse(t, clitest.Command(t, "release", "sh-1", "--json"), &released)
	require.Equal(t, map[string]any{"sessionId": "sh-1", "released": true}, released)
}

func TestTheUsersOwnTerminalGetsNoEscapesR45(t *testing.T) {
	clitest.ShareTerminal(t)
	got := clitest.Command(t, "read", "sh-1", "--history", "1")
	require.Contains(t, got.Out, "\nolder]0;evil row\n$\n")
	require.NotContains(t, got.Out, "\x1b")
	got = clitest.Command(t, "read", "sh-1", "--since", "1")
	require.Contains(t, got.Out, "nothing changed since rev 1")
}

func TestReadingACommand(t *testing.T) {
	clitest.ShareTerminal(t)
	got := clitest.Command(t, "read", "sh-1", "--command=2")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.True(t, strings.HasSuffix(got.Out, "\ncommand line: \"make\"\nthe shell's marks say: running for 0ms; 1 of 4 rows of output, line 7; 2 before these: --command=2 --from 5; 1 after these: --command=2 --from 8:\ncc a.c\n"), got.Out)
	for _, c := range []struct{ why, line string }{
		{"--command=0: must be 1 to 32", "read sh-1 --command=0"},
		{"use only one of --history and --command", "read sh-1 --command --history 3"},
		{"--context needs --match", "read sh-1 --command --context 3"},
		{"--ansi", "read sh-1 --command --ansi"},
	} {
		clitest.RunFailing(t, cli.StatusUsage, c.why, strings.Fields(c.line)...)
	}
}

// A refused request is status 1. An unanswered one is status 124 and stays open.
func TestARequestThatIsNotGranted(t *testing.T) {
	dir := clitest.Isolate(t)
	p := &clitest.Terminal{ID: "sh-1", Decide: func(m *protocol.ControlRequest) protocol.Message {
		if m.Why == "stay" {
			return nil
		}
		return &protocol.ControlRevoke{ID: "v", SessionID: m.SessionID, RequestID: m.RequestID, Reason: protocol.ReasonRefused}
	}}
	p.ShareIn(t, dir)
	require.Equal(t, clitest.Result{Status: cli.StatusRefused, Err: "gateway: request: refused: the user declined\n"}, clitest.Command(t, "request", "sh-1", "--reason", "r"))
	got := clitest.Command(t, "request", "sh-1", "--reason", "stay", "--timeout", "50ms")
	got.MustFail(t, cli.StatusTimeout, "the user did not answer within 50ms; the request stays open")
	require.Contains(t, got.Err, "hint: keep waiting: gateway wait sh-1 --control")
	require.Empty(t, p.Bye)
}

func TestTokens(t *testing.T) {
	clitest.Isolate(t)
	require.Equal(t, clitest.Result{Out: "no tokens; create one with: gateway token create NAME --role ROLE\n"}, clitest.Command(t, "token", "ls"))
	made := clitest.Command(t, "token", "create", "laptop", "--role", "agent", "--expires", "1h")
	require.Equal(t, cli.StatusOK, made.Status, made.Err)
	token := strings.TrimSpace(made.Out)
	got := clitest.Command(t, "token", "list")
	require.Equal(t, got, clitest.Command(t, "token", "ls"))
	require.Regexp(t, `(?m)^laptop +agent +20\S+Z +20\S+Z$`, got.Out)
	require.NotContains(t, got.Out, token)
	clitest.RunFailing(t, cli.StatusRefused, `token "laptop" already exists`, "token", "create", "laptop", "--role", "agent")
	var list struct{ Tokens []map[string]any }
	clitest.Parse(t, clitest.Command(t, "token", "ls", "--json"), &list)
	require.NotContains(t, list.Tokens[0], "sha256")
	require.Equal(t, clitest.Result{Out: "revoked\n"}, clitest.Command(t, "token", "revoke", "laptop"))
	require.Equal(t, cli.StatusRefused, clitest.Command(t, "token", "revoke", "laptop").Status)

	require.Contains(t, clitest.Command(t, "token", "create", "team", "--role", "proxy", "--namespace", "team", "--json").Out, `"namespace": "team"`)
	require.Contains(t, clitest.Command(t, "token", "ls").Out, "proxy of team")
	clitest.RunFailing(t, cli.StatusRefused, "namespace", "token", "create", "x", "--role", "agent", "--namespace", "a/b")
	clitest.RunFailing(t, cli.StatusUsage, "leave out --local", "token", "create", "x", "--local", "--namespace", "team")
}

// TestGatewayAloneShowsItsHelp holds that gateway without a command reports no error, and that a
// script still sees that nothing was done.
func TestGatewayAloneShowsItsHelp(t *testing.T) {
	clitest.Isolate(t)
	got := clitest.Command(t)
	require.Equal(t, cli.StatusUsage, got.Status)
	require.Empty(t, got.Out)
	require.Contains(t, got.Err, "Usage:")
	require.NotContains(t, got.Err, "gateway: ")
	require.NotContains(t, got.Err, "hint: ")
}

// TestATokensFileIsNew holds --out to one file for one token: it overwrites nothing, and a token
// that it cannot write does not exist.
func TestATokensFileIsNew(t *testing.T) {
	clitest.Isolate(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "laptop.token")
	require.Equal(t, clitest.Result{Out: "saved in " + path + "\n"}, clitest.Command(t, "token", "create", "laptop", "--role", "proxy", "--out", path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	token, err := auth.ReadTokenFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "empty"), nil, 0o600))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "link")))
	for name, reason := range map[string]string{
		"laptop.token": "exists already: it stays as it is", "empty": "is an empty file: it stays as it is",
		"link": "exists already", "no/such/file": "no/such is not a directory", "laptop.token/x": "is not a directory", ".": "exists already",
	} {
		clitest.RunFailing(t, cli.StatusRefused, reason, "token", "create", "second", "--role", "agent", "--out", filepath.Join(dir, name))
	}
	clitest.RunFailing(t, cli.StatusRefused, `token "laptop" already exists`, "token", "create", "laptop", "--role", "agent", "--out", filepath.Join(dir, "new"))
	require.NoFileExists(t, filepath.Join(dir, "new"))
	for _, flag := range []string{"--local", "--save"} {
		clitest.RunFailing(t, cli.StatusUsage, "leave out --out", "token", "create", "x", "--role", map[string]string{"--local": "agent", "--save": "owner"}[flag], flag, "--out", path)
	}
	require.NotContains(t, clitest.Command(t, "token", "ls").Out, "second", "a token that has no file does not exist")
	kept, err := auth.ReadTokenFile(path)
	require.NoError(t, err)
	require.Equal(t, token, kept)

	printed := clitest.Command(t, "token", "create", "third", "--role", "agent", "--out", "-")
	require.Regexp(t, `^tp_\S+\n$`, printed.Out)
	require.Empty(t, printed.Err)
}

func TestCompletionOffersSessions(t *testing.T) {
	dir := clitest.Isolate(t)
	require.Equal(t, ":4\n", clitest.Command(t, "__complete", "read", "").Out, "without a gateway, nothing")
	p := &clitest.Terminal{ID: "sh-1"}
	p.ShareIn(t, dir)
	for _, c := range []string{"read", "send", "wait", "request", "release", "grant", "reclaim", "hide"} {
		require.Equal(t, "sh-1\tsh -i\n:4\n", clitest.Command(t, "__complete", c, "").Out, c)
		require.Equal(t, ":4\n", clitest.Command(t, "__complete", c, "sh-1", "").Out, c)
	}
	require.Equal(t, "drive\tevery key\ntype\ttext and editing keys\n:4\n", clitest.Command(t, "__complete", "grant", "sh-1", "--level", "").Out)
	require.Contains(t, clitest.Command(t, "__complete", "token", "create", "--role", "").Out, "owner\twatches, grants and takes control\n")
	require.Contains(t, clitest.Command(t, "__complete", "").Out, "reclaim\tTake the keyboard back")
}

// The gateway takes connections and never answers.
func TestCompletionDoesNotWaitForASilentGateway(t *testing.T) {
	listener, err := net.Listen("unix", filepath.Join(clitest.Isolate(t), "gateway.sock"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	got := make(chan clitest.Result, 1)
	go func() { got <- clitest.Command(t, "__complete", "read", "") }()
	conn, err := listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	select {
	case r := <-got:
		require.Equal(t, ":4\n", r.Out)
	case <-time.After(time.Minute):
		require.FailNow(t, "it waits still")
	}
}

// A shell makes the file under its umask.
func TestATokenIsWrittenIntoAFileThatProgramsTake(t *testing.T) {
	clitest.Isolate(t)
	create := func(status int, name, before string) (path, said string) {
		path = filepath.Join(t.TempDir(), "token")
		require.NoError(t, os.WriteFile(path, []byte(before), 0o644))
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		require.NoError(t, err)
		defer func() { require.NoError(t, file.Close()) }()
		var errs strings.Builder
		require.Equal(t, status, clitest.Run(t.Context(), []string{"token", "create", name, "--role", "proxy"}, os.Stdin, file, &errs), errs.String())
		return path, errs.String()
	}
	path, said := create(cli.StatusOK, "ada", "")
	token, err := auth.ReadTokenFile(path)
	require.NoError(t, err)
	require.NotEmpty(t, token)
	require.Empty(t, said)

	path, said = create(cli.StatusOK, "bob", "a log of somebody's\n")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o644), info.Mode().Perm(), "what others wrote stays as it is")
	require.Contains(t, said, "--out FILE")

	_, said = create(cli.StatusRefused, "ada", "")
	require.Contains(t, said, "the shell has made an empty file")
}
