package overlay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/screen"
)

// TestR68TheLineMakesWay: it begins away from the cursor, and moves only when the cursor rests in its rows.
func TestR68TheLineMakesWay(t *testing.T) {
	m := screen.New(screen.Config{Cols: 40, Rows: 8})
	now := time.Now()
	var p place
	at := func(want int, why string) {
		t.Helper()
		row, _ := p.put(now, m, "two\nrows")
		require.Equal(t, want, row, why)
	}
	at(6, "at the bottom")
	m.Feed([]byte("\x1b[7;1Hgo on? "))
	_, again := p.put(now, m, "two\nrows")
	require.Equal(t, inTheWay, again)
	at(6, "the cursor may be passing")
	m.Feed([]byte("\x1b[1;1H"))
	at(6, "it was")
	now = now.Add(time.Second)
	m.Feed([]byte("\x1b[7;1Hgo on? "))
	at(6, "it comes again")
	now = now.Add(inTheWay)
	at(0, "it rests there")
	p = place{}
	at(0, "a new one begins there")
	m.Feed([]byte("\x1b[?25l"))
	p = place{}
	at(6, "a cursor that nobody sees is in nobody's way")
	m.Feed([]byte("\x1b[?25h"))
	m.Resize(40, 2)
	p = place{}
	at(0, "there is no other place")
}

// TestR69WhereTheSignGoes: where there is no text and not the cursor, as far down as can be.
func TestR69WhereTheSignGoes(t *testing.T) {
	const sign = " claude drives "
	for name, c := range map[string]struct {
		cols, rows int
		output     string
		want       spot
		none       bool
	}{
		"an empty screen":              {40, 5, "", spot{row: 4, from: 25}, false},
		"the prompt on the last row":   {40, 5, "\x1b[5;1H$ ", spot{row: 3, from: 25}, false},
		"and text above it":            {40, 5, "\x1b[4;20H" + "0123456789012345678\x1b[5;1H$ ", spot{row: 0, from: 25}, false},
		"the alternate screen":         {40, 5, "\x1b[?1049h\x1b[5;1H:", spot{row: 0, from: 25}, false},
		"a ruler":                      {40, 5, "\x1b[?1049h\x1b[5;30H1,1  All\x1b[1;1H", spot{row: 4, from: 25, over: true}, false},
		"text on its left":             {40, 5, "\x1b[5;1Hshort\x1b[1;1H", spot{row: 4, from: 25}, false},
		"text right before it":         {40, 5, "\x1b[?1049h\x1b[5;25Hx\x1b[2;1H", spot{row: 0, from: 25}, false},
		"a bar without text":           {40, 5, "\x1b[5;1H\x1b[7m" + "                                        \x1b[1;1H", spot{row: 4, from: 25}, false},
		"text everywhere":              {40, 2, "\x1b[?1049h\x1b[1;30Hxxxx\x1b[2;30Hxxxx", spot{row: 0, from: 25, over: true}, false},
		"half of a wide character":     {40, 2, "\x1b[?1049h\x1b[1;1Hx\x1b[2;25H世世\x1b[1;30Hx", spot{row: 1, from: 24, wide: true, over: true}, false},
		"one row":                      {40, 1, "", spot{}, true},
		"a window that is too narrow":  {14, 5, "", spot{}, true},
		"one that is just wide enough": {15, 5, "", spot{row: 4, from: 0}, false},
	} {
		m := screen.New(screen.Config{Cols: c.cols, Rows: c.rows})
		m.Feed([]byte(c.output))
		got, ok := signSpot(m, sign)
		require.Equal(t, !c.none, ok, name)
		require.Equal(t, c.want, got, name)
	}
}
