package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
)

func TestAnOwnerElsewhereGivesToTheAgentThatAsks(t *testing.T) {
	m := freshAsked.reach(t)
	require.NoError(t, m.Give(t0, control.RemoteGrant{By: "phone", Level: protocol.LevelType, For: time.Minute, Agent: "Ada", Epoch: m.Epoch()}))
	require.Equal(t, []control.Event{{
		Granted: true, Requests: []string{"q"}, Agent: ada, Level: protocol.LevelType, Epoch: 2, Until: after(time.Minute), By: "phone",
	}}, m.TakeEvents(), "the level and time are the owner's; nothing had to be drawn at the terminal")
	require.NoError(t, m.Admit(t0, ada.ID, 2))
	m.Tick(after(time.Minute))
	require.ErrorIs(t, m.Admit(after(time.Minute), ada.ID, 2), control.ErrNoGrant)
}

func TestAnOwnerElsewhereGivesNoMoreThanIsAskedAndAllowed(t *testing.T) {
	m := control.New(control.Config{Keyboard: true, For: time.Minute})
	r := request("q", ada)
	r.Level, r.For = protocol.LevelType, time.Hour
	require.NoError(t, m.Request(t0, r))
	require.NoError(t, m.Give(t0, control.RemoteGrant{Level: protocol.LevelDrive, For: 2 * time.Hour}))
	s := m.State(t0)
	require.Equal(t, protocol.LevelType, s.Level)
	require.Equal(t, after(time.Minute), s.Until)
}

func TestARemoteGrantWaitsForTheNextThatAsks(t *testing.T) {
	give := func(g control.RemoteGrant) *control.Machine {
		m := observing.reach(t)
		require.NoError(t, m.Give(t0, g))
		require.True(t, m.State(t0).Pregrant)
		return m
	}
	m := give(control.RemoteGrant{By: "phone", For: time.Minute, Agent: "Ada"})
	require.NoError(t, m.Request(t0, request("o", bert)))
	require.Equal(t, control.Asked, m.Phase(), "it was for another")
	m.Release(t0, bert.ID, protocol.ReasonReleased)
	require.NoError(t, m.Request(t0, request("q", ada)))
	s := m.State(t0)
	require.Equal(t, control.Granted, s.Phase)
	require.Equal(t, after(time.Minute), s.Until)
	events := m.TakeEvents()
	require.Equal(t, "phone", events[len(events)-1].By)

	m = give(control.RemoteGrant{Level: protocol.LevelType})
	require.NoError(t, m.Request(t0, request("q", ada)))
	require.Equal(t, control.Asked, m.Phase(), "more than was given")

	m = give(control.RemoteGrant{})
	m.Tick(after(control.PregrantFor))
	require.NoError(t, m.Request(after(control.PregrantFor), request("q", ada)))
	require.Equal(t, control.Asked, m.Phase(), "too late")

	m = give(control.RemoteGrant{Agent: "Ada"})
	m.ReclaimKey(t0)
	require.False(t, m.State(t0).Pregrant, "the key takes it back")
}

func TestAnOwnerElsewhereCannotGive(t *testing.T) {
	m := granted.reach(t)
	before := m.State(t0)
	require.ErrorContains(t, m.Give(t0, control.RemoteGrant{For: time.Hour}), "Ada has the keyboard already")
	require.Equal(t, before, m.State(t0), "neither a longer grant nor another's")

	m = asked.reach(t)
	require.ErrorContains(t, m.Give(t0, control.RemoteGrant{Agent: "Bert"}), "Ada asks, and not Bert")
	require.ErrorIs(t, m.Give(t0, control.RemoteGrant{Epoch: m.Epoch() + 1}), control.ErrMoved)
	require.Equal(t, control.Asked, m.Phase())

	// What the owner saw is over: the user has taken the keyboard back since.
	m = granted.reach(t)
	seen := m.Epoch()
	m.ReclaimKey(t0)
	require.ErrorIs(t, m.Give(t0, control.RemoteGrant{Epoch: seen}), control.ErrMoved)
}

// R9: taking back by another way than the key leaves no agent with anything, whatever it had.
func TestR9ReclaimWithoutAKey(t *testing.T) {
	for _, at := range []struct {
		place
		reason protocol.Reason
		had    bool
	}{
		{observing, "", false},
		{menu, "", false},
		{ended, "", false},
		{pregranted, "", true},
		{asked, protocol.ReasonRefused, true},
		{granted, protocol.ReasonReclaimed, true},
	} {
		t.Run(at.name, func(t *testing.T) {
			m := at.reach(t)
			m.TakeEvents()
			epoch := m.Epoch()
			require.Equal(t, at.had, m.Reclaim(t0, "phone"))
			require.Equal(t, control.Observing, m.Phase())
			require.False(t, m.State(t0).Pregrant)
			require.ErrorIs(t, m.Admit(t0, ada.ID, epoch), control.ErrNoGrant)
			events := m.TakeEvents()
			if at.reason == "" {
				require.Empty(t, events)
				return
			}
			require.Len(t, events, 1)
			require.Equal(t, at.reason, events[0].Reason)
			require.Equal(t, "phone", events[0].By)
			require.Greater(t, m.Epoch(), epoch)
			require.True(t, m.ReclaimKey(t0), "R5: the user presses the key as well")
			require.False(t, m.State(t0).Menu)
		})
	}
}
