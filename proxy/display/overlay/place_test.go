package overlay

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/corpus"
)

// The line begins away from the cursor, and moves only when the cursor rests in its rows.
func TestTheLineMakesWayR68(t *testing.T) {
	m := screen.New(screen.Config{Cols: 40, Rows: 8})
	now := time.Now()
	var p place
	at := func(want int, why string) {
		t.Helper()
		row, _ := p.chooseRow(now, m, "two\nrows")
		require.Equal(t, want, row, why)
	}
	at(6, "at the bottom")
	m.Feed([]byte("\x1b[7;1Hgo on? "))
	_, again := p.chooseRow(now, m, "two\nrows")
	require.Equal(t, moveAfter, again)
	at(6, "the cursor may be passing")
	m.Feed([]byte("\x1b[1;1H"))
	at(6, "it was")
	now = now.Add(time.Second)
	m.Feed([]byte("\x1b[7;1Hgo on? "))
	at(6, "it comes again")
	now = now.Add(moveAfter)
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

// Where there is neither text nor the cursor, as far down as possible.
func TestWhereTheSignGoesR69(t *testing.T) {
	const sign = " claude drives "
	for _, c := range corpus.Rows[struct {
		Name         string
		Cols, Rows   int
		Want, Output string
	}](t, "sign") {
		m := screen.New(screen.Config{Cols: c.Cols, Rows: c.Rows})
		m.Feed([]byte(c.Output))
		got := "none"
		if at, ok := findSignSpot(m, sign, false); ok {
			got = fmt.Sprintf("%d,%d%s%s", at.row, at.from, map[bool]string{true: " over"}[at.coversText], map[bool]string{true: " wide"}[at.wide])
		}
		require.Equal(t, c.Want, got, c.Name)
	}
}
