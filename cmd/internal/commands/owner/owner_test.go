package owner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol"
	"terminalproxy/proxy/display/notice"
)

func TestTheOwnersTokenIsKeptFromOthers(t *testing.T) {
	clitest.Isolate(t)
	path := clitest.OwnerFile(t)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	info, err = os.Stat(filepath.Dir(path))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	kept, err := os.ReadFile(path)
	require.NoError(t, err)

	clitest.RunFailing(t, cli.StatusRefused, "exists already: remove it", "token", "create", "second", "--role", "owner", "--save")
	require.NotContains(t, clitest.Command(t, "token", "ls").Out, "second", "a token that nobody has is none")
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, kept, again)

	clitest.RunFailing(t, cli.StatusUsage, "--save needs --role owner", "token", "create", "x", "--role", "agent", "--save")
}

// Any process of this user on this machine may take away.
func TestReclaimAndHideNeedNoTokenR9(t *testing.T) {
	p := clitest.ShareTerminal(t)
	require.Equal(t, clitest.Result{Out: "the user has the keyboard\n"}, clitest.Command(t, "reclaim", "sh-1"))
	require.Equal(t, clitest.Result{Out: "agents do not see it; to show it again: Ctrl+\\ and h at its terminal, or, as its owner, gateway hide sh-1 --off\n"}, clitest.Command(t, "hide", "sh-1"))
	var done map[string]any
	clitest.Parse(t, clitest.Command(t, "reclaim", "sh-1", "--json"), &done)
	require.Equal(t, map[string]any{"sessionId": "sh-1", "reclaimed": true}, done)
	require.Len(t, p.Decided, 3)
	require.Empty(t, p.Decided[1].SignatureB64)
	require.Equal(t, protocol.HideOn, p.Decided[1].Hide)
	clitest.RunFailing(t, cli.StatusNoSession, "running: sh-1", "reclaim", "sh-2")
}

// Muting takes away, too. Without a name, the agent is known from the session.
func TestMuteNeedsNoToken(t *testing.T) {
	p := clitest.ShareTerminal(t)
	clitest.RunFailing(t, cli.StatusUsage, "say which one you mean with --agent NAME", "mute", "sh-1")
	require.Equal(t, clitest.Result{Out: "claude is muted until the session ends\n"}, clitest.Command(t, "mute", "sh-1", "--agent", "claude"))
	require.Len(t, p.Decided, 1)
	require.Equal(t, []any{"claude", protocol.MuteOn, false}, []any{p.Decided[0].AgentName, p.Decided[0].Mute, p.Decided[0].Grant})
}

// The environment may hold the token that an agent is to use. An owner's commands use the owner's
// token.
func TestOwnersCommandsUseTheOwnersToken(t *testing.T) {
	clitest.Isolate(t)
	file := func(name string) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(name+"\n"), 0o600))
		return path
	}
	env, named := file("env"), file("named")
	for _, c := range []struct {
		a     cli.Env
		saved bool
		want  string
	}{
		{cli.Env{TokenFile: env}, false, "env"},
		{cli.Env{TokenFile: env}, true, "saved"},
		{cli.Env{TokenFile: named, TokenNamed: true}, true, "named"},
		{cli.Env{}, true, "saved"},
		{cli.Env{}, false, ""},
	} {
		path, err := userdirs.OwnerTokenPath()
		require.NoError(t, err)
		_ = os.Remove(path)
		if c.saved {
			require.NoError(t, cli.NewSecret(path, "saved"))
		}
		token, err := c.a.OwnerToken()
		require.Equal(t, c.want, token)
		require.Equal(t, c.want == "", err != nil)
	}
}

// Granting more needs a person at a terminal who has the owner's token, not a program that runs
// commands.
func TestOnlyAPersonWithTheTokenGivesR54(t *testing.T) {
	p := clitest.ShareTerminal(t)
	for _, line := range []string{"grant sh-1", "hide sh-1 --off", "mute sh-1 --off"} {
		got := clitest.Command(t, strings.Fields(line)...)
		got.MustFail(t, cli.StatusForbidden, "there is no owner token at ")
		require.Contains(t, got.Err, "hint: create one with: gateway token create")
	}
	path := clitest.OwnerFile(t)
	for _, line := range []string{"grant sh-1", "hide sh-1 --off", "mute sh-1 --off", "grant sh-1 --token-file " + path} {
		got := clitest.CommandWithInput(t, "y\n", strings.Fields(line)...)
		got.MustFail(t, cli.StatusForbidden, "standard input is not a terminal")
	}
	t.Setenv("TERMINALPROXY_SESSION", "sh-1")
	for _, line := range []string{"grant sh-1", "hide sh-1 --off", "mute sh-1 --off", "token create mine --role owner"} {
		clitest.RunFailing(t, cli.StatusForbidden, "this shell runs inside the session sh-1", strings.Fields(line)...)
	}
	require.Empty(t, p.Decided)
}

func TestTheOwnerReadsTheRequestBeforeGranting(t *testing.T) {
	s := protocol.SessionInfo{SessionID: "sh-1", Command: "sh", Args: []string{"-i"}}
	asks := protocol.Keyboard{Asking: "cla\x1b[2Jude", AskingLevel: protocol.LevelType, AskingReason: "fix\n\u202eit"}
	for _, c := range []struct {
		k    protocol.Keyboard
		m    protocol.ControlDecide
		want string
	}{
		{
			protocol.Keyboard{},
			protocol.ControlDecide{Level: protocol.LevelDrive},
			`sh-1 "sh -i": give every key to the next agent that asks within 2m, for 10m or the user's limit?`,
		},
		{
			protocol.Keyboard{},
			protocol.ControlDecide{Level: protocol.LevelType, AgentName: "codex", Seconds: 5400},
			`sh-1 "sh -i": give text and editing keys to codex, when it asks within 2m, for 1h30m at most?`,
		},
		{
			asks,
			protocol.ControlDecide{Level: protocol.LevelDrive, Seconds: 90},
			`sh-1 "sh -i": give text and editing keys to cla[2Jude (which says: “fix it”), for 1m30s at most?`,
		},
	} {
		require.Equal(t, c.want, describeGrant(s, c.k, &c.m))
	}
	require.Equal(t, "1h", notice.Span(time.Hour))
	require.Equal(t, "30s", notice.Span(30*time.Second))
}
