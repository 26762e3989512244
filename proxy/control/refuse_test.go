package control_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
)

// asks has an agent ask and reports why it may not, nil if it may.
func asks(t *testing.T, m *control.Machine, at time.Time, a control.Agent) *control.NotNow {
	t.Helper()
	err := m.Request(at, request("r", a))
	if no, ok := errors.AsType[*control.NotNow](err); ok {
		require.Equal(t, control.Observing, m.Phase(), "nothing is drawn")
		return no
	}
	require.NoError(t, err)
	return nil
}

// refuses has an agent ask, and the user refuse it.
func refuses(t *testing.T, m *control.Machine, at time.Time, a control.Agent) {
	t.Helper()
	require.Nil(t, asks(t, m, at, a))
	require.True(t, m.ReclaimKey(at))
	require.Equal(t, protocol.ReasonRefused, m.LastEnd().Reason)
}

// opens has the user open the menu, and close it.
func opens(t *testing.T, m *control.Machine, at time.Time) {
	t.Helper()
	m.ReclaimKey(at)
	require.True(t, m.State(at).Menu)
	m.Key(at)
}

// R71: 10 s, a minute, and then the menu.
func TestR71WhoIsRefusedWaits(t *testing.T) {
	m := observing.reach(t)
	refuses(t, m, t0, ada)
	require.False(t, m.LastEnd().Shut)
	require.Equal(t, &control.NotNow{For: control.AgainSoon, Times: 1}, asks(t, m, t0, ada))
	for i := range 1000 { // asking does not make it longer
		require.NotNil(t, asks(t, m, after(time.Duration(i)*time.Millisecond), ada))
	}
	require.Equal(t, time.Duration(1), asks(t, m, after(control.AgainSoon-1), ada).For)

	second := after(control.AgainSoon)
	refuses(t, m, second, ada)
	require.Equal(t, &control.NotNow{For: time.Second, Times: 2}, asks(t, m, second.Add(59*time.Second), ada))

	third := second.Add(control.AgainLater)
	refuses(t, m, third, ada)
	require.True(t, m.LastEnd().Shut)
	require.Equal(t, &control.NotNow{Times: 3}, asks(t, m, third.Add(24*time.Hour), ada))

	menu := third.Add(25 * time.Hour)
	opens(t, m, menu)
	refuses(t, m, menu, ada)
	require.Equal(t, &control.NotNow{Times: 4}, asks(t, m, menu.Add(time.Hour), ada), "once more is as bad as before")

	opens(t, m, menu.Add(time.Hour))
	require.Nil(t, asks(t, m, menu.Add(time.Hour), ada))
	m.Shown(menu.Add(time.Hour))
	m.Confirm(menu.Add(time.Hour + time.Minute))
	require.Equal(t, control.Granted, m.Phase())
	m.ReclaimKey(menu.Add(2 * time.Hour))
	refuses(t, m, menu.Add(2*time.Hour), ada)
	require.Equal(t, 1, asks(t, m, menu.Add(2*time.Hour), ada).Times, "the user gave it control since")
}

// R71: neither another id nor another name helps.
func TestR71AnotherIDIsTheSameAgent(t *testing.T) {
	kin := func(id, kin string) control.Agent { return control.Agent{ID: id, Name: "Ada " + id, Kin: kin} }
	m := observing.reach(t)
	refuses(t, m, t0, kin("a-1", "ada"))
	require.Equal(t, 1, asks(t, m, t0, kin("a-2", "ada")).Times)
	require.Equal(t, 1, asks(t, m, t0, kin("a-1", "eve")).Times, "the same id under another name")
	require.Zero(t, asks(t, m, t0, kin("a-3", "eve")).Times)
	require.Nil(t, asks(t, m, after(control.AgainSoon), kin("a-3", "eve")))

	m = observing.reach(t)
	now := t0
	var waits []time.Duration
	for i := range 6 {
		a := kin(fmt.Sprint("n-", i), fmt.Sprint("name-", i))
		refuses(t, m, now, a)
		no := asks(t, m, now, kin("next", "next"))
		require.Zero(t, no.Times)
		if waits = append(waits, no.For); no.For == 0 {
			break
		}
		now = now.Add(no.For)
	}
	require.Equal(t, []time.Duration{control.AgainSoon, control.AgainSoon, control.AgainLater, control.AgainLater, 0}, waits)
	opens(t, m, now.Add(time.Hour))
	require.Nil(t, asks(t, m, now.Add(time.Hour), kin("next", "next")))
}

// R71: refusals of a whole day are no crowd.
func TestR71RefusalsAreForgotten(t *testing.T) {
	m := observing.reach(t)
	now := t0
	for i := range 20 {
		a := control.Agent{ID: fmt.Sprint("n-", i)}
		refuses(t, m, now, a)
		require.Equal(t, control.AgainSoon, asks(t, m, now, bert).For)
		now = now.Add(control.CrowdFor)
	}
}

// R71: another agent's first question comes 10 s after a refusal at the earliest, and what the user has said beforehand holds.
func TestR71AnotherAgentWaitsAMoment(t *testing.T) {
	m := observing.reach(t)
	refuses(t, m, t0, ada)
	require.Equal(t, &control.NotNow{For: time.Second}, asks(t, m, after(9*time.Second), bert))
	require.NoError(t, m.Give(after(9*time.Second), control.RemoteGrant{By: "phone"}))
	require.Nil(t, asks(t, m, after(9*time.Second), ada), "an owner let it")
	require.Equal(t, control.Granted, m.Phase())
}

// R71: who takes its question back and asks again does not flicker either.
func TestR71QuestionsThatAreTakenBack(t *testing.T) {
	m := observing.reach(t)
	drawn := 0
	for i := range 6000 {
		at := after(time.Duration(i) * 10 * time.Millisecond)
		if err := m.Request(at, request("r", ada)); err == nil {
			drawn++
			m.Release(at, ada.ID, protocol.ReasonReleased)
		}
	}
	require.Equal(t, 5+5, drawn, "in a minute")
	no := asks(t, m, after(time.Minute-time.Millisecond), ada)
	require.True(t, no.Flood)
	require.Equal(t, time.Millisecond, no.For)
}

// R71: when a question comes while the user does something else, a key that is on its way is not its answer.
func TestR71AQuestionThatComesUnawares(t *testing.T) {
	plain, guarded := control.Drawn, control.DrawnUnawares
	released := func(m *control.Machine, at time.Time, a control.Agent) {
		require.NoError(t, m.Request(at, request("q", a)))
		m.Release(at, a.ID, protocol.ReasonReleased)
	}
	for _, c := range []struct {
		name   string
		before func(m *control.Machine) // t0 is when the question comes
		wait   time.Duration
	}{
		{"quiet", func(*control.Machine) {}, plain},
		{"the user typed", func(m *control.Machine) { m.Key(after(-control.TypingFor + 1)) }, guarded},
		{"the user typed before that", func(m *control.Machine) { m.Key(after(-control.TypingFor)) }, plain},
		{"Ctrl+G in vim", func(m *control.Machine) { m.Confirm(after(-time.Second)) }, guarded},
		{"another question", func(m *control.Machine) { released(m, after(-control.AnotherFor+1), ada) }, guarded},
		{"another question before that", func(m *control.Machine) { released(m, after(-control.AnotherFor), ada) }, plain},
		{"the end of control", func(m *control.Machine) {
			require.NoError(t, m.Request(after(-time.Minute), request("q", ada)))
			m.Shown(after(-time.Minute))
			m.Confirm(after(-50 * time.Second))
			m.Release(after(-time.Second), ada.ID, protocol.ReasonReleased)
		}, guarded},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, early := range []bool{true, false} {
				m := observing.reach(t)
				c.before(m)
				require.Nil(t, asks(t, m, t0, bert))
				shown := after(20 * time.Millisecond)
				m.Shown(shown)
				press, phase := shown.Add(c.wait), control.Granted
				if early {
					press, phase = press.Add(-1), control.Asked
				}
				require.True(t, m.Confirm(press), "an early one is nobody's")
				require.Equal(t, phase, m.Phase())
			}
		})
	}
	m := observing.reach(t)
	require.Nil(t, asks(t, m, t0, bert))
	m.Shown(t0)
	m.Key(after(time.Second)) // the user goes on typing
	m.Confirm(after(time.Second + plain))
	require.Equal(t, control.Asked, m.Phase())
	m.Confirm(after(guarded))
	require.Equal(t, control.Granted, m.Phase())
}

// R71: letting one Enter through after the other is a rhythm; a Ctrl+G for what was not answered, or for vim, is none.
func TestR71HeldInputHasItsRhythm(t *testing.T) {
	lets := func(m *control.Machine, at time.Time) string {
		m.Shown(at)
		m.Confirm(at.Add(control.Drawn))
		return decision(m)
	}
	m := holding.reach(t)
	m.Confirm(t0)
	require.Equal(t, allowed, decision(m))
	for i := range 5 {
		at := after(time.Duration(i+1) * time.Second)
		require.NoError(t, m.AskConfirmation(at, held))
		require.Equal(t, allowed, lets(m, at), "the next one")
	}

	at := after(7 * time.Second)
	require.NoError(t, m.AskConfirmation(at, held))
	m.WithdrawConfirmation()
	require.NoError(t, m.AskConfirmation(at.Add(time.Second), held))
	require.Equal(t, undecided, lets(m, at.Add(time.Second)), "another one has taken its place")

	m = granted.reach(t)
	require.NoError(t, m.AskConfirmation(t0, control.Confirmation{Keys: "<Enter>", Until: after(time.Second)}))
	m.Shown(t0)
	m.Tick(after(time.Second))
	require.Equal(t, late, decision(m))
	require.NoError(t, m.AskConfirmation(after(2*time.Second), held))
	require.Equal(t, undecided, lets(m, after(2*time.Second)), "the one before was given up")

	m = granted.reach(t)
	m.Key(after(-time.Second))
	require.NoError(t, m.AskConfirmation(t0, held))
	require.Equal(t, undecided, lets(m, t0), "the user was typing")
}

// R72: a question that takes another's place says so, and the key that was meant for that one does not count.
func TestR72ASwap(t *testing.T) {
	for _, name := range []string{"Bert", "Ada"} { // also under the same name
		m := observing.reach(t)
		require.NoError(t, m.Request(after(-time.Second), control.Request{ID: "q", Agent: ada, Level: protocol.LevelType}))
		m.Shown(after(-time.Second))
		require.False(t, m.State(t0).Another)
		first := m.Question()
		m.Release(t0, ada.ID, protocol.ReasonReleased)
		require.NoError(t, m.Request(t0, request("r", control.Agent{ID: "b", Name: name})))
		require.NotEqual(t, first, m.Question())
		require.True(t, m.State(t0).Another)
		m.Shown(t0)
		require.True(t, m.Confirm(after(280*time.Millisecond)))
		require.True(t, m.Confirm(after(control.DrawnUnawares-1)))
		require.Equal(t, control.Asked, m.Phase())
	}
	m := asked.reach(t)
	m.Release(t0, ada.ID, protocol.ReasonReleased)
	require.Nil(t, asks(t, m, t0, ada))
	require.False(t, m.State(t0).Another, "the same one")
	m = asked.reach(t)
	m.Release(t0, ada.ID, protocol.ReasonReleased)
	require.Nil(t, asks(t, m, after(control.AnotherFor), bert))
	require.False(t, m.State(after(control.AnotherFor)).Another, "long after")
}

// R71: x in the menu mutes the last agent until the end of the session, or lets all speak again.
func TestR71Mute(t *testing.T) {
	open := func(m *control.Machine, at time.Time) time.Time {
		m.ReclaimKey(at)
		m.Shown(at)
		require.True(t, m.State(at).Menu)
		return at.Add(time.Second)
	}
	m := observing.reach(t)
	now := open(m, t0)
	require.Zero(t, m.State(now).Mute)
	require.False(t, m.Choose(now, 'x'), "nobody was refused")
	m.Key(now)

	refuses(t, m, now, ada)
	now = open(m, now.Add(time.Hour))
	require.Equal(t, control.Mute{Agent: "Ada"}, m.State(now).Mute)
	require.True(t, m.Choose(now, 'x'))
	require.Equal(t, "observing", look(m))
	require.True(t, m.Muted(ada))
	require.Equal(t, &control.NotNow{Muted: true}, asks(t, m, now.Add(time.Hour), ada))
	require.NoError(t, m.Give(now, control.RemoteGrant{}))
	require.Equal(t, &control.NotNow{Muted: true}, asks(t, m, now, ada), "not for the next one that asks either")
	m.ReclaimKey(now)
	now = now.Add(time.Hour)

	refuses(t, m, now, bert)
	now = open(m, now.Add(time.Hour))
	require.Equal(t, control.Mute{Agent: "Bert"}, m.State(now).Mute)
	require.True(t, m.Choose(now, 'x'))
	now = open(m, now.Add(time.Hour))
	require.Equal(t, control.Mute{Agent: "Bert", Undo: true}, m.State(now).Mute)
	require.True(t, m.Choose(now, 'x'))
	require.False(t, m.Muted(ada) || m.Muted(bert))
	require.Nil(t, asks(t, m, now, ada))
}

func TestR71AMuteIsNotForgotten(t *testing.T) {
	m := observing.reach(t)
	refuses(t, m, t0, ada)
	m.ReclaimKey(after(time.Hour))
	m.Shown(after(time.Hour))
	m.Choose(after(2*time.Hour), 'x') // the menu is closed by then
	m.ReclaimKey(after(2 * time.Hour))
	m.Shown(after(2 * time.Hour))
	require.True(t, m.Choose(after(2*time.Hour+time.Second), 'x'))
	now := after(3 * time.Hour)
	for i := range 1000 {
		refuses(t, m, now, control.Agent{ID: fmt.Sprint("n-", i)})
		now = now.Add(time.Hour)
	}
	require.True(t, m.Muted(ada), "what the user said stays")
}
