package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

// A grant ends when the user leaves, a promise waits for their return, and an owner may grant.
func TestNoGrantWhileTheUserIsAway(t *testing.T) {
	now := time.Unix(1000, 0)
	m := control.New(control.Config{Keyboard: true, Pregrant: protocol.LevelDrive})
	ask := control.Request{ID: "r", Agent: control.Agent{ID: "a", Name: "claude"}, Level: protocol.LevelDrive}
	m.NoteLeft(now)
	require.ErrorIs(t, m.Request(now, ask), control.ErrLeft)
	require.Equal(t, control.Observing, m.Phase())
	m.SetAttached(now, true)
	require.NoError(t, m.Request(now, ask))
	require.Equal(t, control.Granted, m.Phase())
	m.NoteLeft(now)
	require.Equal(t, control.Observing, m.Phase())
	require.Equal(t, protocol.ReasonReclaimed, m.LastEnd().Reason)
	require.ErrorIs(t, m.Request(now, ask), control.ErrLeft)
	require.NoError(t, m.GrantFromOwner(now, control.RemoteGrant{By: "ada", Level: protocol.LevelDrive}))
	require.NoError(t, m.Request(now, ask))
	require.Equal(t, control.Granted, m.Phase())
	require.Error(t, m.AskConfirmation(now, control.Confirmation{Keys: "Enter"}), "nobody is there")
	m.SetAttached(now, true)
	require.Equal(t, control.Granted, m.Phase(), "the user sees that")
}
