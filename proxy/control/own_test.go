package control

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

var own = Request{Agent: Agent{ID: "a-1", Name: "claude"}, Level: protocol.LevelDrive}

func TestOwnGivesWithoutAQuestion(t *testing.T) {
	now := time.Unix(1000, 0)
	m := New(Config{})
	m.Own(now, own)
	require.Equal(t, Granted, m.Phase())
	require.NoError(t, m.Admit(now, "a-1", m.Epoch()))
	events := m.TakeEvents()
	require.Len(t, events, 1)
	require.True(t, events[0].Granted)
	require.Empty(t, events[0].Requests)

	m.Own(now, Request{Agent: Agent{ID: "a-2", Name: "codex"}, Level: protocol.LevelDrive})
	require.ErrorIs(t, m.Admit(now, "a-2", m.Epoch()), ErrNoGrant, "somebody has it")
	require.Empty(t, m.TakeEvents())

	m.End(now, protocol.ReasonReleased)
	_ = m.TakeEvents()
	again := own
	again.ID, again.Level, again.For = "r", protocol.LevelType, time.Minute
	m.Own(now, again)
	events = m.TakeEvents()
	require.Equal(t, []string{"r"}, events[0].Requests)
	require.Equal(t, now.Add(time.Minute), events[0].Until)
	require.Equal(t, protocol.LevelType, m.State(now).Level)
}

func TestOwnDoesNotAnswerForAPerson(t *testing.T) {
	now := time.Unix(1000, 0)
	m := New(Config{Keyboard: true})
	require.NoError(t, m.Request(now, Request{ID: "q", Agent: Agent{ID: "a-2", Name: "codex"}, Level: protocol.LevelDrive}))
	m.Own(now, own)
	require.Equal(t, Asked, m.Phase())
	require.Equal(t, "codex", m.State(now).Agent.Name)
}

func TestWhoLeavesLeavesNoQuestionOpen(t *testing.T) {
	now := time.Unix(1000, 0)
	m := New(Config{})
	require.ErrorIs(t, m.Request(now, own), ErrNobody)
	m.SetAttached(now, true)
	require.NoError(t, m.Request(now, own))
	m.SetAttached(now, false)
	require.Equal(t, Observing, m.Phase())
	require.Equal(t, protocol.ReasonExpired, m.LastEnd().Reason)
	require.ErrorIs(t, m.Request(now, own), ErrNobody)

	now = now.Add(SwallowFor)
	m.SetAttached(now, true)
	require.True(t, m.ReclaimKey(now))
	require.True(t, m.State(now).Menu)
	m.SetAttached(now, false)
	require.False(t, m.State(now).Menu)
	m.SetAttached(now, true)
	m.Own(now, own)
	m.SetAttached(now, false)
	require.Equal(t, Granted, m.Phase(), "the agent works on")
}
