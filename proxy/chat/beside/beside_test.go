package beside

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/consent/authority"
	"terminalproxy/proxy/consent/control"
)

// deskSession is a session of which only control counts.
type deskSession struct{ authority.Session }

func (deskSession) OpenReply(time.Time) bool               { return false }
func (deskSession) ForegroundProgram() control.Foreground  { return control.Foreground{} }
func (deskSession) AsksForSecret() bool                    { return false }
func (deskSession) DialogError(string) error               { return nil }
func (deskSession) NeverRule(control.Agent) (string, bool) { return "", false }
func (deskSession) NoteTyped()                             {}
func (deskSession) StateChanged(control.State)             {}
func (deskSession) ControlChanged(control.Event)           {}

// dialog is a driver whose agent may show a dialog on the screen.
type dialog struct {
	chat.Beside
	open bool
}

func (d *dialog) HasDialog() bool { return d.open }

// While a person is asked, agents' keys are held at every level, and only theirs.
func TestNoAgentAnswersADialogByKeys(t *testing.T) {
	d := &dialog{open: true}
	a := New(Config{Driver: d})
	require.ErrorIs(t, a.CheckInput("codex"), control.ErrDialog)
	require.NoError(t, a.CheckInput(""), "a person's")
	d.open = false
	require.NoError(t, a.CheckInput("codex"))
	d.open, a.AgentsMayApprove = true, true
	require.NoError(t, a.CheckInput("codex"))
}

// Input for a person stays valid as long as the user allows, an agent's input only under its own
// grant.
func TestSentInputStandsAsLongAsItsGrant(t *testing.T) {
	now := time.Now()
	a := authority.New(control.Config{Keyboard: true}, deskSession{})
	s := &Agent{Config: Config{Control: a}}
	turn := func(do func()) {
		do()
		a.PublishChanges(now, 0, 0)
	}
	request := func(agent string) {
		turn(func() {
			require.NoError(t, a.Request(now, control.Request{ID: agent, Agent: control.Agent{ID: agent, Name: agent}, Level: protocol.LevelDrive}))
		})
		a.NoteShown(now, a.Shown().Turn)
		now = now.Add(2 * time.Second)
		turn(func() { require.True(t, a.NoteGrantKey(now, false)) })
		require.Equal(t, control.Granted, a.NewestState().Phase)
	}
	person := terminal{s}.StandingCheck()
	request("one")
	require.True(t, person(), "a grant takes nothing from a person")
	first := terminal{s}.StandingCheck()
	require.True(t, first())
	turn(func() { a.ReclaimKey(now) })
	require.False(t, first())
	now = now.Add(time.Minute)
	request("two")
	require.False(t, first(), "the grant is another one")
	s.reclaims.Add(1)
	require.False(t, person())
}
