package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
)

// TestR63AnOccupiedLineIsAQuestion: the user reads that an agent waits for the line, and Ctrl+G lets it type all the same.
func TestR63AnOccupiedLineIsAQuestion(t *testing.T) {
	now := time.Unix(1e9, 0)
	m := control.New(control.Config{Keyboard: true, Yield: time.Second, Pregrant: protocol.LevelDrive})
	require.NoError(t, m.Request(now, control.Request{ID: "r", Agent: control.Agent{ID: "a", Name: "ada"}, Level: protocol.LevelDrive}))
	now = now.Add(time.Minute)
	m.Occupy(now, "git pu")
	st := m.State(now)
	require.True(t, m.Occupied() && st.Occupied && st.Asks())
	require.Equal(t, "git pu", st.Line)
	question := m.Question()
	m.Occupy(now, "git pus")
	require.Equal(t, question, m.Question(), "the same question about more of the line")
	require.Equal(t, "git pus", m.State(now).Line)

	require.True(t, m.Confirm(now), "it has not been drawn")
	require.True(t, m.Occupied())
	m.Shown(now)
	now = now.Add(control.DrawnUnawares)
	require.True(t, m.Confirm(now))
	require.False(t, m.Occupied())
	require.Equal(t, control.Granted, m.Phase())

	now = now.Add(time.Minute)
	m.Occupy(now, "x")
	m.Vacate(now)
	require.False(t, m.State(now).Asks(), "the line is free")
	m.Occupy(now, "x")
	m.End(now, protocol.ReasonReclaimed)
	require.False(t, m.Occupied())
	m.Occupy(now, "x")
	require.False(t, m.Occupied(), "nobody drives")
}
