package tty

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAnAbsentTerminalCountsWhileSomeoneLooks(t *testing.T) {
	var got []byte
	term := NewAbsent(90, 30, func(p []byte) { got = append(got, p...) })
	defer term.Close()
	require.False(t, term.HasKeyboard())
	require.False(t, term.HasScreen())
	require.NoError(t, term.EnterRawMode())
	require.Nil(t, term.Termios())
	n, err := term.Write([]byte("unseen"))
	require.NoError(t, err)
	require.Equal(t, 6, n)
	require.Empty(t, got)

	term.SetWatched(true)
	require.True(t, term.HasScreen())
	_, _ = term.Write([]byte("seen "))
	require.NoError(t, term.WriteAll([]byte("whole"), time.Second))
	require.Equal(t, "seen whole", string(got))
	for _, size := range [][2]int{{90, 30}, {1, 1000}} {
		term.SetSize(size[0], size[1])
		cols, rows, err := term.Size()
		require.NoError(t, err)
		require.Equal(t, size, [2]int{cols, rows})
	}
	require.NoError(t, term.Restore())
}

func TestAWakeAfterTheEndIsIgnored(t *testing.T) {
	p, err := NewPoller(-1, -1)
	require.NoError(t, err)
	p.Close()
	other, err := NewPoller(-1, -1) // it has the descriptors now
	require.NoError(t, err)
	defer other.Close()
	p.Wake()
	got, err := other.Wait(Readable, 0)
	require.NoError(t, err)
	require.Zero(t, got)
}

func TestAPollerWithoutAKeyboardStillWakes(t *testing.T) {
	keyboard, screen := NewAbsent(80, 24, nil).Descriptors()
	p, err := NewPoller(keyboard, screen)
	require.NoError(t, err)
	defer p.Close()
	p.Wake()
	got, err := p.Wait(Readable, -1)
	require.NoError(t, err)
	require.Equal(t, Woken, got)
}
