package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

// R70: how long control lasts if it is granted by the key, by the menu, by the command line and by
// a remote owner. The question states the same number.
func TestAGrantEndsR70(t *testing.T) {
	const unlimited = control.Unlimited
	for _, c := range []struct {
		name                  string
		limit, wanted, lasts  time.Duration // of the session, of the agent, and the result
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
					require.NoError(t, m.CheckInput(now.Add(1000*time.Hour), ada.ID, epoch))
					return
				}
				require.NoError(t, m.CheckInput(now.Add(lasts-1), ada.ID, epoch))
				require.ErrorIs(t, m.CheckInput(now.Add(lasts), ada.ID, epoch), control.ErrNoGrant)
				require.Equal(t, protocol.ReasonExpired, m.LastEnd().Reason)
			}
			made := func() *control.Machine { return control.New(control.Config{Keyboard: true, For: c.limit}) }

			key := made()
			require.NoError(t, key.Request(t0, r))
			require.Equal(t, c.lasts, key.State(t0).For, "the question says it")
			seen(key, t0)
			key.NoteGrantKey(after(time.Second))
			ends(key, after(time.Second), c.lasts)

			menu := made()
			menu.ReclaimKey(t0)
			seen(menu, t0)
			offered := menu.State(t0).For
			menu.NoteGrantKey(after(time.Second))
			require.Equal(t, offered, menu.State(after(time.Second)).For, "the menu and what it promised")
			require.NoError(t, menu.Request(after(time.Second), r))
			ends(menu, after(time.Second), c.lasts)

			line := control.New(control.Config{Keyboard: true, For: c.limit, Pregrant: protocol.LevelDrive})
			require.NoError(t, line.Request(t0, r))
			ends(line, t0, c.promised)

			for _, first := range []bool{true, false} {
				owner := made()
				give := func() { require.NoError(t, owner.GrantFromOwner(t0, control.RemoteGrant{By: "phone", For: c.said})) }
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

// A decision about control has an author; without a decision, no one is named.
func TestADecisionHasAnAuthor(t *testing.T) {
	asked := func(c control.Config) *control.Machine {
		c.Keyboard = true
		m := control.New(c)
		require.NoError(t, m.Request(t0, request("r", ada)))
		seen(m, t0)
		return m
	}
	owner := control.RemoteGrant{By: "grace"}
	for name, c := range map[string]struct {
		conf control.Config
		does func(m *control.Machine)
		want []string
	}{
		"the key":           {does: func(m *control.Machine) { m.NoteGrantKey(after(time.Second)) }, want: []string{protocol.ByTerminal}},
		"the reclaim key":   {does: func(m *control.Machine) { m.ReclaimKey(after(time.Second)) }, want: []string{protocol.ByTerminal}},
		"an owner gives":    {does: func(m *control.Machine) { require.NoError(t, m.GrantFromOwner(t0, owner)) }, want: []string{"grace"}},
		"an owner refuses":  {does: func(m *control.Machine) { m.Reclaim(t0, "grace") }, want: []string{"grace"}},
		"the command line":  {conf: control.Config{Pregrant: protocol.LevelDrive}, does: func(*control.Machine) {}, want: []string{protocol.ByFlag}},
		"it takes back":     {does: func(m *control.Machine) { m.Release(t0, ada.ID, protocol.ReasonReleased) }, want: []string{""}},
		"nobody answers":    {does: func(m *control.Machine) { m.Tick(after(control.AskFor)) }, want: []string{""}},
		"its time is over":  {does: func(m *control.Machine) { m.NoteGrantKey(after(time.Second)); m.Tick(after(time.Hour)) }, want: []string{protocol.ByTerminal, ""}},
		"given, taken back": {does: func(m *control.Machine) { _ = m.GrantFromOwner(t0, owner); m.ReclaimKey(after(time.Second)) }, want: []string{"grace", protocol.ByTerminal}},
		"it asks again": {does: func(m *control.Machine) {
			require.NoError(t, m.GrantFromOwner(t0, owner))
			require.NoError(t, m.Request(t0, request("r2", ada)))
		}, want: []string{"grace", "grace"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := asked(c.conf)
			c.does(m)
			var got []string
			for _, e := range m.TakeEvents() {
				got = append(got, e.Decider())
			}
			require.Equal(t, c.want, got)
		})
	}
	own := control.New(control.Config{Keyboard: true})
	own.GrantOwnTerminal(t0, request("r", ada))
	require.Empty(t, own.TakeEvents()[0].Decider(), "in a terminal of its own nobody is asked")
}
