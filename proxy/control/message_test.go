package control_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/control"
)

func TestMessage(t *testing.T) {
	m := menu.reach(t)
	require.True(t, m.Compose(t0, control.Heard{}))
	require.False(t, m.State(t0).Menu)
	m.Message().Append("héllo wörld")
	m.Message().Rub()
	m.Message().Rub()
	m.Message().Append("k")
	require.Equal(t, control.Message{Open: true, Text: "héllo wörk"}, m.State(t0).Message)
	m.Message().Text = ""
	m.Message().Rub()
	m.Message().Append(strings.Repeat("ä", control.MessageMax-1))
	m.Message().Append("bc")
	d := m.TakeMessage(t0)
	require.Equal(t, strings.Repeat("ä", control.MessageMax-1)+"b", d.Text)
	require.Nil(t, m.Message())
}

// TestMessageIsForTheLastAgent: the one that had the keyboard or asked for it.
func TestMessageIsForTheLastAgent(t *testing.T) {
	m := granted.reach(t)
	m.ReclaimKey(t0)
	later := after(control.SwallowFor)
	m.ReclaimKey(later)
	require.False(t, m.Compose(later, control.Heard{}), "not drawn: the letter is the program's")
	m.Shown(later)
	later = later.Add(control.Drawn)
	require.True(t, m.Compose(later, control.Heard{}))
	require.Equal(t, ada, m.State(later).Message.To)
}

func TestNoMessageWithoutTheMenu(t *testing.T) {
	for _, at := range []place{observing, freshMenu, asked, granted, holding, pregranted} {
		require.False(t, at.reach(t).Compose(t0, control.Heard{}), at.name)
	}
}

// TestMessageAndQuestion: an agent that asks while the user writes is not in the way of the keys. The question is one only
// when it is drawn, and the reclaim key refuses it as ever.
func TestMessageAndQuestion(t *testing.T) {
	m := menu.reach(t)
	m.Compose(t0, control.Heard{})
	require.NoError(t, m.Request(t0, request("r", ada)))
	require.NotNil(t, m.Message())
	require.False(t, m.State(t0).Asks(), "nothing to be drawn yet")
	m.Shown(t0)
	require.True(t, m.Confirm(after(time.Second)))
	require.Equal(t, control.Asked, m.Phase())
	m.TakeMessage(after(time.Second))
	require.True(t, m.State(t0).Asks())
	m.Shown(after(time.Second))
	m.Confirm(after(time.Second + control.DrawnUnawares - 1))
	require.Equal(t, control.Asked, m.Phase(), "R71: the user was typing")
	m.Confirm(after(time.Second + control.DrawnUnawares))
	require.Equal(t, control.Granted, m.Phase())
}

func TestReclaimKeyClosesTheMessage(t *testing.T) {
	m := menu.reach(t)
	m.Compose(t0, control.Heard{})
	require.True(t, m.ReclaimKey(t0))
	require.Equal(t, "observing", look(m))
	require.Nil(t, m.Message())
	m.ReclaimKey(t0)
	require.True(t, m.State(t0).Menu)
}

// TestMessageAnswersWhoSpokeLast: the agent whose message the user read, though another one had the keyboard; but not when an
// agent asked since.
func TestMessageAnswersWhoSpokeLast(t *testing.T) {
	bert := control.Agent{ID: "b", Name: "bert"}
	write := func(m *control.Machine, now time.Time, heard time.Time) control.Agent {
		t.Helper()
		m.ReclaimKey(now)
		now = now.Add(control.SwallowFor)
		m.ReclaimKey(now)
		m.Shown(now)
		now = now.Add(control.Drawn)
		require.True(t, m.Compose(now, control.Heard{From: bert, At: heard}))
		return m.State(now).Message.To
	}
	spoke := after(control.SwallowFor)
	require.Equal(t, bert, write(granted.reach(t), spoke, spoke), "said while ada drives, who is stopped first")
	require.Equal(t, bert, write(observing.reach(t), spoke, spoke))

	m := observing.reach(t)
	require.NoError(t, m.Request(spoke.Add(time.Second), request("r", ada)))
	require.Equal(t, ada, write(m, spoke.Add(time.Minute), spoke), "asked after that")

	m = pregranted.reach(t)
	require.NoError(t, m.Request(spoke.Add(time.Second), request("r", ada)))
	require.Equal(t, ada, write(m, spoke.Add(time.Minute), spoke), "came after that")
}

// TestR71AMessageIsTyping: who has just sent a message is not ready to answer a question that came meanwhile.
func TestR71AMessageIsTyping(t *testing.T) {
	m := menu.reach(t)
	m.Compose(t0, control.Heard{})
	require.NoError(t, m.Request(after(20*time.Second), request("r", ada)))
	sent := after(30 * time.Second)
	m.TakeMessage(sent)
	m.Shown(sent)
	m.Confirm(sent.Add(control.DrawnUnawares - 1))
	require.Equal(t, control.Asked, m.Phase())
	m.Confirm(sent.Add(control.DrawnUnawares))
	require.Equal(t, control.Granted, m.Phase())
}
