package control_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/control"
)

func TestDraft(t *testing.T) {
	m := menu.reach(t)
	require.Equal(t, control.Take, m.Write(t0))
	require.False(t, m.State(t0).Menu)
	m.Append("héllo wörld")
	m.Rub()
	m.Rub()
	m.Append("k")
	require.Equal(t, control.Draft{Open: true, Text: "héllo wörk"}, m.State(t0).Draft)
	m.Wipe()
	m.Rub()
	m.Append(strings.Repeat("ä", control.DraftMax-1))
	m.Append("bc")
	d := m.TakeDraft()
	require.Equal(t, strings.Repeat("ä", control.DraftMax-1)+"b", d.Text)
	require.False(t, m.Drafting())
}

// TestDraftIsForTheLastAgent: the one that had the keyboard or asked for it.
func TestDraftIsForTheLastAgent(t *testing.T) {
	m := granted.reach(t)
	m.Chord(t0)
	later := after(control.SwallowFor)
	m.Chord(later)
	require.Equal(t, control.Pass, m.Write(later), "not drawn: the letter is the program's")
	m.Shown(later)
	later = later.Add(control.Drawn)
	require.Equal(t, control.Take, m.Write(later))
	require.Equal(t, ada, m.State(later).Draft.To)
}

func TestNoDraftWithoutTheMenu(t *testing.T) {
	for _, at := range []place{observing, freshMenu, asked, granted, holding, pregranted} {
		require.Equal(t, control.Pass, at.reach(t).Write(t0), at.name)
	}
}

// TestDraftAndQuestion: an agent that asks while the user writes is not in the way of the keys. The question is one only
// when it is drawn, and the reclaim key refuses it as ever.
func TestDraftAndQuestion(t *testing.T) {
	m := menu.reach(t)
	m.Write(t0)
	require.NoError(t, m.Request(t0, request("r", ada)))
	require.True(t, m.Drafting())
	require.False(t, m.State(t0).Asks(), "nothing to be drawn yet")
	m.Shown(t0)
	require.Equal(t, control.Take, m.Confirm(after(time.Second)))
	require.Equal(t, control.Asked, m.Phase())
	m.TakeDraft()
	require.True(t, m.State(t0).Asks())
	m.Shown(after(time.Second))
	m.Confirm(after(time.Second + control.Drawn))
	require.Equal(t, control.Granted, m.Phase())
}

func TestChordClosesTheDraft(t *testing.T) {
	m := menu.reach(t)
	m.Write(t0)
	require.Equal(t, control.Take, m.Chord(t0))
	require.Equal(t, "observing", look(m))
	require.False(t, m.Drafting())
	m.Chord(t0)
	require.True(t, m.State(t0).Menu)
}
