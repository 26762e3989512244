package control_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
)

var vim, shell = control.Front{Group: 7, Name: "vim"}, control.Front{Group: 9, Name: "bash"}

// TestAGrantForOneProgram: it rests while another one has the terminal, and does not end.
func TestAGrantForOneProgram(t *testing.T) {
	m := control.New(control.Config{Keyboard: true, Pregrant: protocol.LevelDrive, OneProgram: true})
	m.Look(vim)
	require.NoError(t, m.Request(t0, request("r", ada)))
	require.Equal(t, "vim", m.State(t0).Program)
	for _, c := range []struct {
		front control.Front
		away  string
	}{
		{vim, ""},
		{shell, "bash"},
		{vim, ""},
		{control.Front{Group: 7, Name: "vim by another name"}, ""},
		{control.Front{Group: 8}, "another program"},
		{control.Front{}, "another program"},
		{vim, ""},
	} {
		m.Look(c.front)
		require.Equal(t, c.away, m.State(t0).Away, "%v", c.front)
		require.Equal(t, c.away != "", m.Away())
		require.NoError(t, m.Admit(t0, ada.ID, m.Epoch()), "the grant lives on")
	}
	m.Look(shell)
	m.ReclaimKey(t0)
	require.Equal(t, protocol.ReasonReclaimed, m.LastEnd().Reason)
	require.Empty(t, m.State(t0).Program)
	require.False(t, m.Away())
}

// TestR79AProgramInItsPlace: a process that executes another program is another program; where that cannot be told, it is
// the same.
func TestR79AProgramInItsPlace(t *testing.T) {
	bash := control.Front{Group: 7, Name: "bash", File: "1:10"}
	m := control.New(control.Config{Keyboard: true, Pregrant: protocol.LevelDrive, OneProgram: true})
	m.Look(bash)
	require.NoError(t, m.Request(t0, request("r", ada)))
	for front, away := range map[control.Front]bool{
		bash:                                   false,
		{Group: 7, Name: "sh", File: "1:11"}:   true,
		{Group: 7, Name: "bash", File: "1:11"}: true, // it calls itself so
		{Group: 7, Name: "bash"}:               false,
		{Group: 8, Name: "bash", File: "1:10"}: true,
	} {
		m.Look(front)
		require.Equal(t, away, m.Away(), "%v", front)
	}
}

// TestAGrantForAnUnknownProgramRests: what is not known counts as another program.
func TestAGrantForAnUnknownProgramRests(t *testing.T) {
	m := control.New(control.Config{Pregrant: protocol.LevelDrive, OneProgram: true})
	require.NoError(t, m.Request(t0, request("r", ada)))
	require.True(t, m.Away())
}

func TestAnyProgram(t *testing.T) {
	m := granted.reach(t)
	m.Look(shell)
	require.False(t, m.Away())
	require.Empty(t, m.State(t0).Program)
}
