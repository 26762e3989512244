package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
)

var held = control.Confirmation{Keys: "<Enter>", Line: `"echo hi"`, Until: after(30 * time.Second)}

// TestR46HeldInputTooEarly: Ctrl+G lets input through only when what would be sent could be read.
func TestR46HeldInputTooEarly(t *testing.T) {
	for _, c := range []struct {
		name     string
		shown    time.Duration // after the hold; negative: never
		press    time.Duration
		decision string
	}{
		{"not drawn", -1, 20 * time.Second, undecided},
		{"at once", 0, 0, undecided},
		{"just too early", 0, 299 * time.Millisecond, undecided},
		{"in time", 0, 300 * time.Millisecond, allowed},
		{"drawn late", 5 * time.Second, 5*time.Second + 299*time.Millisecond, undecided},
		{"drawn late, read", 5 * time.Second, 5*time.Second + 300*time.Millisecond, allowed},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := freshHolding.reach(t)
			if c.shown >= 0 {
				m.Shown(after(c.shown))
			}
			require.True(t, m.Confirm(after(c.press)))
			require.Equal(t, c.decision, decision(m))
			require.Equal(t, undecided, decision(m), "a decision counts once")
		})
	}
}

// TestR46NextInputIsAnotherQuestion: one press lets one input through. The next one has to be read anew, and keys that
// repeat meanwhile are nobody's.
func TestR46NextInputIsAnotherQuestion(t *testing.T) {
	m := holding.reach(t)
	first := m.State(t0).Question
	require.True(t, m.Confirm(t0))
	require.Equal(t, allowed, decision(m))
	require.True(t, m.Confirm(after(500*time.Millisecond)), "the key repeats")
	require.NoError(t, m.AskConfirmation(after(600*time.Millisecond), held))
	require.Greater(t, m.State(t0).Question, first)
	require.True(t, m.Confirm(after(900*time.Millisecond)), "not drawn")
	require.Equal(t, undecided, decision(m))
	require.Equal(t, "granted+held", look(m))
}

// TestR46AHeldKeyAnswersOnce: a held key answers one question, however many follow.
func TestR46AHeldKeyAnswersOnce(t *testing.T) {
	m := holding.reach(t)
	m.Confirm(t0)
	require.Equal(t, allowed, decision(m))
	require.NoError(t, m.AskConfirmation(after(100*time.Millisecond), held))
	m.Shown(after(100 * time.Millisecond))
	at := 650 * time.Millisecond
	for range 100 {
		require.True(t, m.Confirm(after(at)))
		require.Equal(t, undecided, decision(m))
		at += 40 * time.Millisecond
	}
	m.Confirm(after(at + time.Second))
	require.Equal(t, allowed, decision(m), "a press of its own")
}

// TestConfirmIsTheProgramsAgain: the key that gave control or let input through repeats, and is nobody's then.
func TestConfirmIsTheProgramsAgain(t *testing.T) {
	for _, at := range []place{asked, holding} {
		m := at.reach(t)
		m.Confirm(t0)
		require.True(t, m.Confirm(after(699*time.Millisecond)))
		require.Equal(t, "granted", look(m), "and pauses nobody")
		require.True(t, m.Confirm(after(848*time.Millisecond)))
		require.False(t, m.Confirm(after(998*time.Millisecond)))
	}
}

// TestR4ReclaimKeyWhileHeld: the key stops the agent, whatever is asked just now; it never means less than that.
func TestR4ReclaimKeyWhileHeld(t *testing.T) {
	for _, at := range []place{holding, freshHolding} {
		m := at.reach(t)
		epoch := m.Epoch()
		require.True(t, m.ReclaimKey(t0))
		require.Equal(t, protocol.ReasonReclaimed, m.LastEnd().Reason)
		require.Greater(t, m.Epoch(), epoch)
		require.Equal(t, undecided, decision(m))
		require.Zero(t, m.State(t0).Pending)
	}
}

func TestHeldInputExpires(t *testing.T) {
	m := freshHolding.reach(t)
	next, ok := m.Next(t0)
	require.True(t, ok)
	require.Equal(t, held.Until, next)
	m.Tick(held.Until.Add(-1))
	require.Equal(t, undecided, decision(m))
	m.Tick(held.Until)
	require.Equal(t, late, decision(m))
	require.Equal(t, "granted", look(m), "the grant goes on")
}

func TestNothingIsHeldWithoutAGrantOrAUser(t *testing.T) {
	require.ErrorIs(t, observing.reach(t).AskConfirmation(t0, held), control.ErrNoGrant)
	require.ErrorIs(t, asked.reach(t).AskConfirmation(t0, held), control.ErrNoGrant)
	m := control.New(control.Config{Pregrant: protocol.LevelType})
	require.NoError(t, m.Request(t0, control.Request{ID: "r", Agent: ada, Level: protocol.LevelType}))
	require.ErrorIs(t, m.AskConfirmation(t0, held), control.ErrNobody)
}

func TestHeldInputIsTakenBack(t *testing.T) {
	m := holding.reach(t)
	m.WithdrawConfirmation()
	require.Equal(t, "granted", look(m))
	require.False(t, m.Confirm(t0), "there is no question any more")
}

// The decisions on held input, in words.
const (
	undecided = ""
	allowed   = "allowed"
	late      = "late"
)

// decision takes the decision on held input.
func decision(m *control.Machine) string {
	switch decided, let := m.Decision(); {
	case !decided:
		return undecided
	case let:
		return allowed
	}
	return late
}
