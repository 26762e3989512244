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
