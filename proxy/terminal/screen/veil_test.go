package screen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARedrawTellsNoLengthOfASecret(t *testing.T) {
	redraw := func(secret string) string {
		s := New(Config{Cols: 20, Rows: 4})
		s.Feed([]byte("Password: "))
		s.Veil(true, false)
		s.Feed([]byte("\x1b[1m" + secret))
		s.Veil(false, false)
		s.Feed([]byte("\x1b[m\r\nok\x1b[?1049h"))
		return string(s.AppendRedraw(nil))
	}
	require.Contains(t, redraw("**"), "Password:")
	require.Contains(t, redraw("**"), "ok")
	require.Equal(t, redraw("**"), redraw("********"))
	require.Equal(t, redraw("**"), redraw("世界"))
}

func TestTheUsersOwnScreenHasNoVeil(t *testing.T) {
	plain, veiled := New(Config{Cols: 30, Rows: 3}), New(Config{Cols: 30, Rows: 3})
	for _, s := range []*Screen{plain, veiled} {
		s.Feed([]byte("a \x1b[31mb"))
		s.Veil(s == veiled, false)
		s.Feed([]byte("c\x1b[1md世 \x1b[0me"))
		s.Veil(false, false)
		s.Feed([]byte("f\r\nPassword: "))
	}
	for y := range 3 {
		require.Equal(t, string(plain.AppendRowANSI(nil, y)), string(veiled.AppendRowANSI(nil, y)))
	}
	require.Equal(t, string(plain.AppendPen(nil)), string(veiled.AppendPen(nil)))
	require.Equal(t, "a b      f", veiled.RowText(0))
	require.Equal(t, "a \x1b[0;31mb\x1b[0m      f", string(veiled.AppendVeiledRowANSI(nil, 0)))
	veiled.Unveil()
	require.Equal(t, "a b      f", veiled.RowText(0), "a secret stays one")
	veiled.VeilCells(0, 0, false)
	require.Equal(t, plain.RowText(0), veiled.RowText(0))
}

func TestNoKeystrokeIsCountedThroughAVeil(t *testing.T) {
	s := New(Config{Cols: 20, Rows: 3, Scrollback: 10})
	s.Feed([]byte("PIN: "))
	rev := s.Rev()
	s.Veil(true, false)
	for range 8 {
		s.Feed([]byte("*"))
	}
	s.Feed([]byte("\b \b"))
	require.Equal(t, rev, s.Rev())
	s.Veil(false, false)
	s.Feed([]byte("\r\n"))
	require.Equal(t, rev+1, s.Rev(), "as many revisions as if nothing had been typed")
	require.NotEmpty(t, changedSince(s, rev))
}

func TestCellsThatStandThereCanBeVeiled(t *testing.T) {
	s := New(Config{Cols: 20, Rows: 3, Scrollback: 10})
	s.Feed([]byte("PIN: *** |"))
	rev := s.Rev()
	s.VeilCells(0, 5, true)
	require.Equal(t, "PIN:", s.RowText(0))
	require.Greater(t, s.Rev(), rev)
	s.VeilCells(0, 5, false)
	require.Equal(t, "PIN: *** |", s.RowText(0))
	s.VeilCells(9, 5, true) // outside: nothing happens
	s.VeilCells(0, -1, true)
	require.Equal(t, "PIN: *** |", s.RowText(0))
	require.NoError(t, s.t.verify())
}
