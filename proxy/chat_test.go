package proxy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/authority"
	"terminalproxy/proxy/control"
)

// deskSession is a session of which only control counts.
type deskSession struct{ authority.Session }

func (deskSession) Front() control.Front         { return control.Front{} }
func (deskSession) AsksForSecret() bool          { return false }
func (deskSession) Typed()                       {}
func (deskSession) StateChanged(control.State)   {}
func (deskSession) ControlChanged(control.Event) {}

// What was sent for somebody is typed as long as the user let it, and what an agent may have sent under its own grant only.
func TestWhatWasSentStandsAsLongAsItsGrant(t *testing.T) {
	now := time.Now()
	s := &session{authority: authority.New(control.Config{Keyboard: true}, deskSession{})}
	turn := func(do func()) {
		do()
		s.authority.Settle(now, 0, 0)
	}
	request := func(agent string) {
		turn(func() {
			require.NoError(t, s.authority.Request(now, control.Request{ID: agent, Agent: control.Agent{ID: agent, Name: agent}, Level: protocol.LevelDrive}))
		})
		s.authority.Shown(now)
		now = now.Add(2 * time.Second)
		turn(func() { require.True(t, s.authority.Confirm(now)) })
		require.Equal(t, control.Granted, s.authority.Newest().Phase)
	}
	person := chatTerminal{s}.Stand()
	request("one")
	require.True(t, person(), "a grant takes nothing from a person")
	first := chatTerminal{s}.Stand()
	require.True(t, first())
	turn(func() { s.authority.ReclaimKey(now) })
	require.False(t, first())
	now = now.Add(time.Minute)
	request("two")
	require.False(t, first(), "the grant is another one")
	s.reclaims.Add(1)
	require.False(t, person())
}
