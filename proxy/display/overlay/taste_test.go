package overlay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/terminal/screen"
)

// At most the terminal's own colours; palette entries that the program has set are reset.
func TestTheUsersColors(t *testing.T) {
	for _, c := range []struct {
		colors Colors
		taste  Taste
		want   string
	}{
		{ManyColors, Taste{Limited: true, Colors: FewColors}, "\x1b[30;103m"},
		{ManyColors, Taste{Limited: true, Colors: NoColors}, notice.Reverse},
		{NoColors, Taste{Limited: true, Colors: FewColors}, notice.Reverse},
		{ManyColors, Taste{Text: 231, Background: 18}, "\x1b[38;5;231;48;5;18;1m"},
		{FewColors, Taste{Text: 231, Background: 18}, "\x1b[30;103m"},
	} {
		require.Equal(t, c.want, lookOn(screen.New(screen.Config{}), &Config{Colors: c.colors, Taste: c.taste}, true).sgr)
	}
	m := screen.New(screen.Config{})
	m.Feed([]byte("\x1b]4;18;#fff\a"))
	require.Equal(t, []uint8{18}, lookOn(m, &Config{Colors: ManyColors, Taste: Taste{Text: 231, Background: 18}}, true).reset)
}

func TestReadableColors(t *testing.T) {
	for pair, want := range map[[2]uint8]bool{{16, 214}: true, {231, 18}: true, {18, 231}: true, {16, 17}: false, {214, 214}: false, {240, 214}: false} {
		contrast, ok := Readable(pair[0], pair[1])
		require.Equal(t, want, ok, "%v has %.1f", pair, contrast)
	}
}

// The line stands on the first row, and makes way for the cursor to the bottom.
func TestTheLineOnTop(t *testing.T) {
	m := screen.New(screen.Config{Cols: 40, Rows: 8})
	now := time.Now()
	p := place{preferTop: true}
	at := func(want int, output string) {
		t.Helper()
		m.Feed([]byte(output))
		p.chooseRow(now, m, "two\nrows")
		now = now.Add(2 * moveAfter)
		row, _ := p.chooseRow(now, m, "two\nrows")
		require.Equal(t, want, row, output)
	}
	at(0, "\x1b[8;1H")
	at(6, "\x1b[2;1H")
	at(0, "\x1b[3;1H")
	at(0, "\x1b[1;1H\x1b[?25l")
}

func TestTheSignOnTop(t *testing.T) {
	m := screen.New(screen.Config{Cols: 40, Rows: 8})
	at := func(want int, output string) {
		t.Helper()
		m.Feed([]byte(output))
		s, ok := findSignSpot(m, " claude drives ", true)
		require.True(t, ok)
		require.Equal(t, want, s.row, output)
	}
	at(0, "\x1b[4;1H")
	at(7, "\x1b[1;1H")
	at(7, "\x1b[1;30Htext\x1b[3;1H")
	m = screen.New(screen.Config{Cols: 40, Rows: 8})
	at(0, "\x1b[1;30Htext\x1b[7;30Htext\x1b[8;30Htext\x1b[3;1H")
	at(6, "\x1b[7;1H\x1b[K\x1b[1;1H")
	at(7, "\x1b[7;30Htext\x1b[1;1H")
}

func TestTheUserWantsNoSign(t *testing.T) {
	s := New(Config{Line: true, Reclaim: `Ctrl+\`, Grant: `Ctrl+G`, Taste: Taste{NoSign: true}, Repaint: func() {}})
	defer s.Close()
	s.ShowState(control.State{Phase: control.Granted, Agent: control.Agent{ID: "a", Name: "claude"}})
	require.Empty(t, s.signForms(time.Now()))
}
