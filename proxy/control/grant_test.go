package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
)

// R70: how long control lasts that is given by the key, by the menu, by the command line and by an owner elsewhere. The question
// says the same number.
func TestR70AGrantEnds(t *testing.T) {
	const unlimited = control.Unlimited
	for _, c := range []struct {
		name                  string
		limit, wanted, lasts  time.Duration // of the session, of the agent, and what comes of it
		promised, said, owner time.Duration // by the command line, and by an owner who says so
	}{
		{"nobody says anything", 0, 0, 10 * time.Minute, 0, 0, 10 * time.Minute},
		{"the agent wants less", 0, time.Minute, time.Minute, time.Minute, 0, time.Minute},
		{"the agent wants more", 0, time.Hour, 10 * time.Minute, time.Hour, 0, 10 * time.Minute},
		{"the user allows more", time.Hour, 0, time.Hour, time.Hour, 0, time.Hour},
		{"the user allows more than is wanted", time.Hour, 30 * time.Minute, 30 * time.Minute, 30 * time.Minute, 0, 30 * time.Minute},
		{"the user allows less", time.Minute, time.Hour, time.Minute, time.Minute, 0, time.Minute},
		{"the user sets no limit", unlimited, 0, 0, 0, 0, 0},
		{"the user sets no limit, the agent does", unlimited, time.Hour, time.Hour, time.Hour, 0, time.Hour},
		{"an owner allows more", 0, 0, 10 * time.Minute, 0, time.Hour, time.Hour},
		{"an owner allows more than the user", time.Minute, 0, time.Minute, time.Minute, time.Hour, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := request("r", ada)
			r.For = c.wanted
			ends := func(m *control.Machine, now time.Time, lasts time.Duration) {
				t.Helper()
				require.Equal(t, control.Granted, m.Phase())
				epoch := m.Epoch()
				if lasts == 0 {
					require.True(t, m.State(now).Until.IsZero())
					require.NoError(t, m.Admit(now.Add(1000*time.Hour), ada.ID, epoch))
					return
				}
				require.NoError(t, m.Admit(now.Add(lasts-1), ada.ID, epoch))
				require.ErrorIs(t, m.Admit(now.Add(lasts), ada.ID, epoch), control.ErrNoGrant)
				require.Equal(t, protocol.ReasonExpired, m.LastEnd().Reason)
			}
			made := func() *control.Machine { return control.New(control.Config{Keyboard: true, For: c.limit}) }

			key := made()
			require.NoError(t, key.Request(t0, r))
			require.Equal(t, c.lasts, key.State(t0).For, "the question says it")
			key.Shown(t0)
			key.Confirm(after(time.Second))
			ends(key, after(time.Second), c.lasts)

			menu := made()
			menu.ReclaimKey(t0)
			menu.Shown(t0)
			offered := menu.State(t0).For
			menu.Confirm(after(time.Second))
			require.Equal(t, offered, menu.State(after(time.Second)).For, "the menu and what it promised")
			require.NoError(t, menu.Request(after(time.Second), r))
			ends(menu, after(time.Second), c.lasts)

			line := control.New(control.Config{Keyboard: true, For: c.limit, Pregrant: protocol.LevelDrive})
			require.NoError(t, line.Request(t0, r))
			ends(line, t0, c.promised)

			for _, first := range []bool{true, false} {
				owner := made()
				give := func() { require.NoError(t, owner.Give(t0, control.RemoteGrant{By: "phone", For: c.said})) }
				if first {
					give()
				}
				require.NoError(t, owner.Request(t0, r))
				if !first {
					give()
				}
				ends(owner, t0, c.owner)
			}
		})
	}
}

func TestR70AnAgentKeepsItsOwnTerminal(t *testing.T) {
	m := control.New(control.Config{})
	m.Own(t0, request("r", ada))
	m.Connected(t0, ada.ID, false)
	m.Tick(after(24 * time.Hour))
	require.Equal(t, control.Granted, m.Phase())
	require.True(t, m.State(t0).Until.IsZero())

	m.End(after(24*time.Hour), protocol.ReasonReleased)
	m.SetAttached(after(24*time.Hour), true)
	require.NoError(t, m.Request(after(25*time.Hour), request("q", ada)))
	m.Connected(after(25*time.Hour), ada.ID, false)
	m.Tick(after(25*time.Hour + control.AbsentFor))
	require.Equal(t, control.Observing, m.Phase(), "what it asks a person for is another thing")
}

// R70: two minutes without a connection cost control, and withdraw a request; one that comes back keeps it.
func TestR70WhoIsAwayLosesControl(t *testing.T) {
	for _, at := range []place{granted, asked} {
		t.Run(at.name, func(t *testing.T) {
			m := at.reach(t)
			m.TakeEvents()
			m.Connected(t0, bert.ID, false)
			if next, ok := m.Next(t0); ok {
				require.NotEqual(t, after(control.AbsentFor), next, "another agent's absence is not its")
			}
			m.Connected(t0, ada.ID, false)
			m.Connected(after(time.Minute), ada.ID, false) // still
			next, ok := m.Next(after(time.Minute))
			require.True(t, ok)
			require.Equal(t, after(control.AbsentFor), next)
			m.Connected(after(control.AbsentFor-1), ada.ID, true)
			m.Tick(after(3 * time.Minute))
			require.NotEqual(t, control.Observing, m.Phase(), "it was there again")

			m.Connected(after(3*time.Minute), ada.ID, false)
			m.Tick(after(5*time.Minute - 1))
			require.NotEqual(t, control.Observing, m.Phase())
			m.Tick(after(5 * time.Minute))
			require.Equal(t, control.Observing, m.Phase())
			events := m.TakeEvents()
			require.Len(t, events, 1)
			require.Equal(t, protocol.ReasonLink, events[0].Reason)
			require.True(t, events[0].Absent)
			require.Equal(t, at.name == asked.name, events[0].Request)
			require.Error(t, m.Admit(after(5*time.Minute), ada.ID, events[0].Epoch))
		})
	}
}

func TestR70AnAbsenceBeginsAnewWithTheGrant(t *testing.T) {
	m := asked.reach(t)
	m.Connected(t0, ada.ID, false)
	m.Confirm(after(119 * time.Second))
	m.Tick(after(238 * time.Second))
	require.Equal(t, control.Granted, m.Phase())
	m.Tick(after(239 * time.Second))
	require.Equal(t, control.Observing, m.Phase())

	m = asked.reach(t)
	m.Connected(t0, ada.ID, false)
	require.NoError(t, m.Request(after(time.Minute), request("again", ada)), "who asks is there")
	m.Tick(after(3 * time.Minute))
	require.Equal(t, control.Asked, m.Phase())
}

// R70: a grant goes on while the computer sleeps, and is over when it wakes too late.
func TestR70SleepCounts(t *testing.T) {
	m := granted.reach(t) // 700 ms ago
	epoch := m.Epoch()
	end := m.State(t0).Until
	require.Equal(t, after(10*time.Minute-700*time.Millisecond), end)
	m.Slept(after(time.Minute), 5*time.Minute)
	require.Equal(t, end.Add(-5*time.Minute), m.State(after(time.Minute)).Until)
	require.NoError(t, m.Admit(after(time.Minute), ada.ID, epoch))
	m.Slept(after(time.Minute), 4*time.Minute)
	require.Equal(t, control.Observing, m.Phase(), "at once, before anything is written")
	require.Equal(t, protocol.ReasonExpired, m.LastEnd().Reason)

	m = asked.reach(t)
	m.Slept(t0, 10*time.Minute)
	require.Equal(t, control.Observing, m.Phase(), "a question does not wait for the morning")
	m = pregranted.reach(t)
	m.Slept(t0, 2*time.Minute)
	require.False(t, m.State(t0).Pregrant, "nor does a promise")
}
