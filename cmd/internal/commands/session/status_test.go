package session

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/protocol"
)

// The status is empty if there is nothing to report; otherwise it names who does what, with its own
// exit status.
func TestStatusForAStatusLine(t *testing.T) {
	dir := clitest.Isolate(t)
	require.Equal(t, clitest.Result{}, clitest.Command(t, "status"), "no gateway is nothing to say")
	require.JSONEq(t, `{"agents": []}`, clitest.Command(t, "status", "--json").Out)
	(&clitest.Terminal{ID: "sh-1"}).ShareIn(t, dir)
	require.Equal(t, clitest.Result{}, clitest.Command(t, "status"))
	require.Zero(t, clitest.Command(t, "request", "sh-1", "--reason", "to test", "--as", "spy 1").Status)
	require.Equal(t, clitest.Result{Status: statusDriven, Out: "spy 1 drives sh-1\n"}, clitest.Command(t, "status"))
	require.Equal(t, clitest.Result{Status: statusDriven, Out: "sh-1=spy 1\n"}, clitest.Command(t, "status", "sh-1", "--format", "{session}={agent}"))
	require.Equal(t, clitest.Result{}, clitest.Command(t, "status", "other"))
	got := clitest.Command(t, "status", "--json")
	require.Equal(t, statusDriven, got.Status)
	require.JSONEq(t, `{"agents": [{"agent": "spy 1", "does": "drives", "session": "sh-1"}]}`, got.Out)
	clitest.RunFailing(t, cli.StatusUsage, "only {agent}, {does} and {session} are replaced", "status", "--format", "{name}")
}

// A prompt waits for the gateway no longer than it said.
func TestStatusOfASilentGateway(t *testing.T) {
	deaf, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(clitest.Isolate(t), "deaf.sock"))
	require.NoError(t, err)
	defer func() { require.NoError(t, deaf.Close()) }()
	got := clitest.Command(t, "status", "--gateway", "unix:"+deaf.Addr().String(), "--timeout", "10ms")
	require.Equal(t, cli.StatusTimeout, got.Status, got.Err)
	require.Empty(t, got.Out)
}

// An agent that waits for the user comes before one that types, and ended sessions have no agents.
func TestDeeds(t *testing.T) {
	agent := protocol.Keyboard{Holder: protocol.HolderAgent, AgentName: "claude"}
	held, paused := agent, agent
	held.Held, paused.Paused = true, true
	asked := agent
	asked.Asking = "codex"
	for name, c := range map[string]struct {
		session protocol.SessionInfo
		want    []activity
	}{
		"nobody":    {protocol.SessionInfo{Keyboard: protocol.Keyboard{}}, nil},
		"drives":    {protocol.SessionInfo{Keyboard: agent}, []activity{{"claude", "drives", "sh-1"}}},
		"pauses":    {protocol.SessionInfo{Keyboard: paused}, []activity{{"claude", "pauses", "sh-1"}}},
		"held":      {protocol.SessionInfo{Keyboard: held}, []activity{{"claude", "waits", "sh-1"}}},
		"password":  {protocol.SessionInfo{Keyboard: agent, Blackout: &protocol.Hidden{Unattended: true}}, []activity{{"claude", "waits", "sh-1"}}},
		"both":      {protocol.SessionInfo{Keyboard: asked}, []activity{{"codex", "asks", "sh-1"}, {"claude", "drives", "sh-1"}}},
		"chat":      {protocol.SessionInfo{Chat: &protocol.ChatState{Agent: "claude", Open: 1}}, []activity{{"claude", "asks", "sh-1"}}},
		"chat idle": {protocol.SessionInfo{Chat: &protocol.ChatState{Agent: "claude"}}, nil},
	} {
		c.session.SessionID, c.session.State = "sh-1", protocol.StateRunning
		require.Equal(t, c.want, listActivities(c.session), name)
		c.session.State = protocol.StateExited
		require.Empty(t, listActivities(c.session), name)
	}
}

// No name contains what tmux, a prompt or a terminal acts on.
func TestNamesAreHarmlessInStatusLines(t *testing.T) {
	for name, want := range map[string]string{
		"claude-code 2.1":              "claude-code 2.1",
		"#(reboot)#[fg=red]#{pane_id}": "rebootfgredpane_id",
		"%n%F{red}\\u\\[$(id)`id`!!":   "nFreduidid",
		"a\x1b]0;t\x07\x1b[2Jb\nc":     "a0t2Jb c",
		"\u202eevil\u2066":             "evil",
		"Zoë 漢字":                       "Zoë 漢字",
		"#[]":                          "an agent",
	} {
		got := shellSafe(name)
		require.NotRegexp(t, "[#%$`\\\\!(){}\\[\\]\\x00-\\x1f\\x7f-\\x9f]", got, name)
		require.Equal(t, want, got, name)
	}
}
