package screen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// observed returns everything that an observer can read of a screen.
func observed(s *Screen) string {
	_, rows := s.Size()
	var b strings.Builder
	for i := range s.HistoryLen() {
		b.WriteString(s.HistoryText(i) + "\n")
	}
	for y := range rows {
		b.WriteString(s.RowText(y) + "\n" + string(s.AppendVeiledRowANSI(nil, y)) + "\n")
		cols, _ := s.Size()
		for x := range cols {
			b.WriteString(s.Cell(y, x).Content)
		}
	}
	return b.String()
}

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

func TestVeiledTextStaysVeiledWhereverItGoes(t *testing.T) {
	for name, after := range map[string]string{
		"nothing":        "",
		"scrolled":       strings.Repeat("\r\nmore", 20),
		"half scrolled":  strings.Repeat("\r\nmore", 2),
		"inserted above": "\x1b[H\x1b[2L",
		"moved right":    "\x1b[1;1H\x1b[3@",
		"copied":         "\x1b[1;1;2;20;1;3;1;1$v",
		"restyled":       "\x1b[1;1;4;20;0;1;31$r",
		"reversed":       "\x1b[1;1;4;20;0$t",
		"swept":          sweeping(),
	} {
		t.Run(name, func(t *testing.T) {
			s := New(Config{Cols: 20, Rows: 4, Scrollback: 50})
			s.Feed([]byte("Password: "))
			s.Veil(true, false)
			s.Feed([]byte("\x1b[1mse\x1b[44mcret世é🇩🇪"))
			s.Veil(false, false)
			s.Feed([]byte("\x1b[0m"))
			s.Feed([]byte(after))
			require.NoError(t, s.t.verify())
			require.NotRegexp(t, `secret|t世|é|🇩`, string(s.AppendRedraw(nil)))
			for _, size := range [][2]int{{20, 4}, {7, 5}, {33, 3}} {
				s.Resize(size[0], size[1])
				got := observed(s)
				for _, part := range []string{"s", "cr", "世", "é", "🇩", "\x1b[0;1m"} {
					require.NotContains(t, strings.ReplaceAll(strings.ReplaceAll(got, "Password", ""), "ss", ""), part, "%v", size)
				}
			}
		})
	}
}

// sweeping makes more styles than the table keeps without cleaning up.
func sweeping() string {
	var b strings.Builder
	for i := range 3 * firstStyleLimit {
		fmt.Fprintf(&b, "\x1b[38;2;%d;%d;7m.\x1b[2;1H", i%256, i/256)
	}
	return b.String() + "\x1b[0m\x1b[2K"
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

// Unveil affects only the screen: what left it stays veiled.
func TestUnveilShowsTheScreenOnly(t *testing.T) {
	s := New(Config{Cols: 20, Rows: 2, Scrollback: 10})
	s.Feed([]byte("before\r\n"))
	s.Veil(false, true)
	s.Feed([]byte("gone\r\nstill\r\nhere"))
	require.Equal(t, "", s.RowText(1))
	rev := s.Rev()
	s.Veil(false, false)
	s.Unveil()
	require.Greater(t, s.Rev(), rev)
	require.Equal(t, []string{"before", "", "still", "here"},
		[]string{s.HistoryText(0), s.HistoryText(1), s.RowText(0), s.RowText(1)})
	require.Equal(t, []int{0, 1}, changedSince(s, rev), "every row is another to an observer")

	s.Feed([]byte("\x1b[?1049h"))
	s.Veil(false, true)
	s.Feed([]byte("\x1b[?1049lmain\x1b[?1049hside"))
	s.Veil(false, false)
	s.Unveil()
	require.Contains(t, observed(s), "side")
	s.Feed([]byte("\x1b[?1049l"))
	require.NotContains(t, observed(s), "main")
}

func TestASecretOnAHiddenScreenStaysOne(t *testing.T) {
	s := New(Config{Cols: 20, Rows: 2})
	s.Veil(false, true)
	s.Feed([]byte("PIN: "))
	s.Veil(true, true)
	s.Feed([]byte("***"))
	s.Veil(false, false)
	require.Equal(t, "", s.RowText(0))
	s.Unveil()
	require.Equal(t, "PIN:", s.RowText(0))
}

func TestCursorText(t *testing.T) {
	for fed, want := range map[string][2]string{
		"":                             {"", ""},
		"Password: ":                   {"Password: ", ""},
		"世é: \x1b[1mrest\x1b[4D":       {"世é: ", "rest"},
		"\x1b[3C":                      {"   ", ""},
		"0123456789":                   {"0123456789", ""},
		"ab   \b\b":                    {"ab ", ""},
		"\x1b[1;44m\x1b[2K\x1b[0mab\b": {"a", "b"},
	} {
		s := New(Config{Cols: 10, Rows: 2})
		s.Veil(true, true)
		s.Feed([]byte(fed))
		left, right := s.CursorText()
		require.Equal(t, want, [2]string{left, right}, "%q", fed)
	}
}
