package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
)

func TestR23AGrantPausesWhileASecretIsAskedFor(t *testing.T) {
	m := granted.reach(t)
	epoch := m.Epoch()
	m.Guard(t0, protocol.SecretHard, false)
	require.Equal(t, epoch+1, m.Epoch(), "what was typed for something else is void")
	require.ErrorIs(t, m.Admit(t0, ada.ID, m.Epoch()), control.ErrSecret)
	require.ErrorIs(t, m.Admit(t0, ada.ID, epoch), control.ErrSecret)
	require.ErrorIs(t, m.Admit(t0, bert.ID, epoch), control.ErrNoGrant, "others have no grant that could pause")
	m.Guard(t0, protocol.SecretSoft, false)
	require.Equal(t, epoch+1, m.Epoch(), "still the same prompt")
	m.Guard(t0, protocol.SecretNone, false)
	require.Equal(t, epoch+1, m.Epoch())
	require.NoError(t, m.Admit(t0, ada.ID, m.Epoch()), "the grant goes on")
	require.ErrorIs(t, m.Admit(t0, ada.ID, epoch), control.ErrStale)
	require.Empty(t, m.TakeEvents()[1:], "control did not change hands")
}

func TestR23ReclaimDuringASecret(t *testing.T) {
	m := granted.reach(t)
	m.Guard(t0, protocol.SecretHard, false)
	require.True(t, m.ReclaimKey(t0))
	m.Guard(t0, protocol.SecretNone, false)
	require.ErrorIs(t, m.Admit(t0, ada.ID, m.Epoch()), control.ErrNoGrant)
}

func TestR25OnlyWhoReadTheQuestionDismisses(t *testing.T) {
	for _, c := range []struct {
		name   string
		from   place
		secret protocol.SecretPrompt
		shown  time.Duration
		took   bool
	}{
		{"soft, read", observing, protocol.SecretSoft, -time.Second, true},
		{"soft, never drawn", observing, protocol.SecretSoft, time.Hour, false},
		{"soft while an agent drives", granted, protocol.SecretSoft, -2 * time.Second, true},
		{"hard while an agent drives", granted, protocol.SecretHard, -2 * time.Second, true},
		{"hard, nobody drives", observing, protocol.SecretHard, -time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := c.from.reach(t)
			m.Guard(after(-2*time.Second), c.secret, false)
			if c.shown <= 0 {
				m.Shown(after(c.shown))
			}
			require.Equal(t, c.took, m.Confirm(t0))
			require.Equal(t, c.took, m.Allowed())
			require.Equal(t, c.took, m.State(t0).Barred() == nil)
		})
	}
}

// A Ctrl+G that came before anybody could read the question is nobody's: in a password it would be wrong as well.
func TestR71TooEarlyForAPromptIsSwallowed(t *testing.T) {
	for _, at := range []place{observing, granted} {
		m := at.reach(t)
		m.Guard(after(-time.Second), protocol.SecretSoft, false)
		m.Shown(t0)
		require.True(t, m.Confirm(t0))
		require.False(t, m.Allowed())
		require.NotEqual(t, "granted+paused", look(m))
	}
}

// Ctrl+G answers the question that is on the screen: an agent's comes first.
func TestR25ARequestComesBeforeThePrompt(t *testing.T) {
	m := asked.reach(t)
	m.Guard(t0, protocol.SecretSoft, false)
	require.True(t, m.Confirm(t0))
	require.Equal(t, control.Granted, m.Phase())
	require.Equal(t, protocol.SecretSoft, m.Secret())
	require.True(t, m.Confirm(t0), "the key repeats")
	require.False(t, m.Confirm(after(time.Second)), "the prompt's own question has not been drawn yet")
	require.Equal(t, protocol.SecretSoft, m.Secret())
}

func TestR25TheNextPromptIsAnotherQuestion(t *testing.T) {
	m := granted.reach(t)
	m.Guard(after(-2*time.Second), protocol.SecretSoft, false)
	m.Shown(after(-time.Second))
	m.Guard(after(-time.Second), protocol.SecretNone, false)
	m.Guard(t0, protocol.SecretSoft, false)
	require.False(t, m.Confirm(t0), "it was drawn for the one before")
	require.ErrorIs(t, m.Admit(t0, ada.ID, m.Epoch()), control.ErrSecret)
}

func TestHideFromTheMenu(t *testing.T) {
	require.False(t, observing.reach(t).Choose(t0, 'h'))
	require.False(t, asked.reach(t).Choose(t0, 'h'))
	require.False(t, freshMenu.reach(t).Choose(t0, 'h'), "pressed before anybody could read the menu")
	m := menu.reach(t)
	require.False(t, m.Choose(t0, 'x'))
	require.True(t, m.Choose(t0, 'h'))
	require.Equal(t, "observing", look(m))
	require.True(t, m.State(t0).Hidden)
	m.ReclaimKey(t0)
	m.Shown(t0)
	require.True(t, m.Choose(after(time.Second), 'h'))
	require.False(t, m.State(t0).Hidden)
}

func TestAGrantPausesWhileTheScreenIsHidden(t *testing.T) {
	m := granted.reach(t)
	epoch := m.Epoch()
	require.True(t, m.Hide(t0, true))
	require.False(t, m.Hide(t0, true))
	require.Equal(t, epoch+1, m.Epoch())
	m.Guard(t0, protocol.SecretHard, false)
	require.ErrorIs(t, m.Admit(t0, ada.ID, m.Epoch()), control.ErrHidden)
	require.True(t, m.Hide(t0, false))
	require.ErrorIs(t, m.Admit(t0, ada.ID, m.Epoch()), control.ErrSecret)
	m.Guard(t0, protocol.SecretNone, false)
	require.NoError(t, m.Admit(t0, ada.ID, m.Epoch()))
}
