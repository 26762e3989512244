package fullscreen

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"

	"terminalproxy/proxy/terminal/screen"
)

// Keys come whole, however the terminal's bytes are cut.
func TestKeys(t *testing.T) {
	for sent, want := range map[string][]string{
		"qyé日":                           {"q", "y", "é", "日"},
		"\r\n\t \x7f":                    {"enter", "ctrl+j", "tab", "space", "backspace"},
		"\x03\x1c\x1d\x00":               {"ctrl+c", `ctrl+\`, "ctrl+]", "ctrl+@"},
		"\x1b[A\x1b[B\x1b[C\x1b[D":       {"up", "down", "right", "left"},
		"\x1bOA\x1bOB\x1bOH\x1bOF":       {"up", "down", "home", "end"},
		"\x1b[5~\x1b[6~\x1b[1~\x1b[4~":   {"pgup", "pgdown", "home", "end"},
		"\x1b[1;5A\x1b[200;3u\x1b[Ij":    {"j"},
		"\x1bqj":                         {"j"},
		"\x1b\x1b":                       {"esc", "esc"},
		"\x1b":                           {"esc"},
		"\x1b]11;rgb:0/0/0\x1b\\j":       {"j"},
		"\x1bP1$r0m\x1b\\k":              {"k"},
		"\x1b[200~y\rx\x1b[A\x1b[201~n":  {"n"},
		"\x1b[200~\x1b[201~\x1b[200~y\r": nil,
		"\x1b[12":                        nil,
		"\xff":                           {"\ufffd"},
	} {
		for _, size := range []int{1, 2, 3, 100} {
			var k keyReader
			var got []string
			for rest := []byte(sent); len(rest) > 0; {
				n := min(size, len(rest))
				got = append(got, k.decodeKeys(rest[:n], false)...)
				rest = rest[n:]
			}
			got = append(got, k.decodeKeys(nil, true)...)
			require.Equal(t, want, got, "%q in pieces of %d", sent, size)
			require.False(t, k.isWithin(), "%q", sent)
		}
	}
}

// The terminal shows the view, whatever it showed before.
func TestTheTerminalShowsTheView(t *testing.T) {
	s := screen.New(screen.Config{Cols: 10, Rows: 3})
	s.Feed([]byte("$ left over\r\nfrom before"))
	d := &display{cols: 10, rows: 3, colors: trueColors, titles: true}
	for _, rows := range [][]string{
		{"one", "two", "three"},
		{"one", "\x1b[1;7mtwo", "3"},
		{"0123456789", "a row that is too wide", "日本日本日本"},
		{"", "x"},
		{"a", "b", "c", "d"},
		nil,
	} {
		s.Feed(d.appendView(nil, View{Rows: rows, Title: "top", Cursor: &Cursor{Col: 2, Row: 1}}))
		require.Equal(t, "top", s.Title())
		require.Equal(t, 1, s.Cursor().Row)
		require.Equal(t, 2, s.Cursor().Col)
		require.True(t, s.Cursor().Visible)
		for y := range 3 {
			want := ""
			if y < len(rows) {
				want = strings.TrimPrefix(rows[y], "\x1b[1;7m")
			}
			got := strings.TrimRight(s.RowText(y), " ")
			if len(want) > 10 { // only its beginning has room
				require.Equal(t, []rune(want)[0], []rune(got)[0])
				continue
			}
			require.Equal(t, want, got, "row %d of %q", y, rows)
		}
	}
	same := d.appendView(nil, View{Title: "top"})
	require.NotContains(t, string(same), "\x1b[2K", "nothing changed")
	d.drawn = nil // as after a resize
	require.Contains(t, string(d.appendView(nil, View{})), "\x1b[2J")
}

// A terminal gets only colours that it has.
func TestColors(t *testing.T) {
	for env, want := range map[[3]string]colors{
		{"xterm-256color", "truecolor", ""}: trueColors, {"xterm-256color", "24bit", ""}: trueColors, {"xterm-direct", "", ""}: trueColors,
		{"xterm-256color", "", ""}: palette256, {"linux", "", ""}: palette256,
		{"vt220", "", ""}: noColors, {"dumb", "truecolor", ""}: noColors, {"xterm", "truecolor", "1"}: noColors,
	} {
		require.Equal(t, want, colorsOf(env[0], env[1], env[2] != ""), "%q", env)
	}
	for row, want := range map[string]struct{ palette, none string }{
		"text":                           {"text", "text"},
		"\x1b[ma\x1b[0;1mb":              {"\x1b[ma\x1b[0;1mb", "\x1b[ma\x1b[0;1mb"},
		"\x1b[0;38;2;255;0;0;1mx":        {"\x1b[0;38;5;196;1mx", "\x1b[0;1mx"},
		"\x1b[48;2;0;95;135mx":           {"\x1b[48;5;24mx", "x"},
		"\x1b[38;5;214;48;5;16;7mx":      {"\x1b[38;5;214;48;5;16;7mx", "\x1b[7mx"},
		"\x1b[0;31;102;4:3;58:2::1:2:3m": {"\x1b[0;31;102;4:3;58:2::1:2:3m", "\x1b[0;4:3m"},
		"\x1b[38;2;1m\x1b[38m":           {"\x1b[38;2;1m\x1b[38m", ""},
		"a\x1b[1\"qb\x1b[33mc":           {"a\x1b[1\"qb\x1b[33mc", "a\x1b[1\"qbc"},
		"a\x1b[":                         {"a\x1b[", "a\x1b["},
	} {
		require.Equal(t, row, trueColors.reduceColors(row))
		require.Equal(t, want.palette, palette256.reduceColors(row), "%q", row)
		require.Equal(t, want.none, noColors.reduceColors(row), "%q", row)
	}
}

// echo shows the last key, and does what keys say.
type echo struct {
	got   []Msg
	fails bool
}

func (e *echo) Init() Cmd { return After(time.Millisecond, "late") }

func (e *echo) Update(msg Msg) Cmd {
	e.got = append(e.got, msg)
	switch msg {
	case Key("q"):
		return Leave
	case Key("p"):
		panic("in an update")
	case Key("c"):
		return func() Msg { panic("in a command") }
	case Key("v"):
		e.fails = true
	}
	return nil
}

func (e *echo) View() View {
	if e.fails {
		panic("in a view")
	}
	return View{Rows: []string{"hello"}}
}

// However the program ends, the terminal is as before.
func TestTheTerminalIsRestored(t *testing.T) {
	for name, tt := range map[string]struct {
		typed string
		fault string
		err   error
	}{
		"left":             {typed: "q"},
		"cancelled":        {err: context.Canceled},
		"fault":            {typed: "p", fault: "in an update", err: ErrFault},
		"fault of command": {typed: "c", fault: "in a command", err: ErrFault},
		"fault of view":    {typed: "v", fault: "in a view", err: ErrFault},
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs, err := pty.Open()
			require.NoError(t, err)
			require.NoError(t, pty.Setsize(theirs, &pty.Winsize{Cols: 20, Rows: 4}))
			before, err := term.GetState(int(theirs.Fd()))
			require.NoError(t, err)
			shown, over := make(chan struct{}), make(chan string)
			go func() { // ends with the terminal
				var all []byte
				var buf [1024]byte
				for closed := false; ; {
					n, err := ours.Read(buf[:])
					all = append(all, buf[:n]...)
					if !closed && strings.Contains(string(all), "hello") {
						close(shown)
						closed = true
					}
					if err != nil || strings.Contains(string(all), leaveModes) {
						over <- string(all)
						return
					}
				}
			}()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m := new(echo)
			p := New(m, theirs, theirs, 100)
			ended := make(chan error)
			go func() { ended <- p.Run(ctx) }()
			<-shown
			if tt.typed == "" {
				cancel()
			}
			_, err = ours.WriteString(tt.typed)
			require.NoError(t, err)
			all := <-over
			err = <-ended
			require.ErrorIs(t, err, tt.err)
			if tt.fault != "" {
				require.ErrorContains(t, err, tt.fault)
			}
			require.True(t, strings.HasPrefix(all, enterModes), "%q", all)
			require.Equal(t, Resize{20, 4}, m.got[0])
			p.Send("to nobody") // does not block
			after, err := term.GetState(int(theirs.Fd()))
			require.NoError(t, err)
			require.Equal(t, before, after)
			require.NoError(t, errors.Join(ours.Close(), theirs.Close()))
		})
	}
}

// Output that takes no bytes is an error, and an input that has ended leaves.
func TestWithoutATerminal(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.Error(t, New(new(echo), r, r, 100).Run(t.Context()))
	require.NoError(t, w.Close())
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	p := New(new(echo), r, null, 100)
	require.NoError(t, p.Run(t.Context()))
	p.Send("to nobody")
	require.NoError(t, errors.Join(r.Close(), null.Close()))
}
