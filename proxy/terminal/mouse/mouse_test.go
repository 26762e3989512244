package mouse_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/mouse"
	"terminalproxy/proxy/view/corpus"
)

func act(t *testing.T, name string) mouse.Act {
	t.Helper()
	a, err := mouse.Parse(name)
	require.NoError(t, err)
	return a
}

func TestParseRefuses(t *testing.T) {
	for _, c := range corpus.Rows[struct{ Name, Says string }](t, "refused") {
		_, err := mouse.Parse(c.Name)
		require.ErrorContains(t, err, c.Says, c.Name)
	}
}

func TestWords(t *testing.T) {
	at, to := mouse.Cell{Row: 4, Col: 11}, mouse.Cell{Row: 6, Col: 0}
	for name, want := range map[string]string{
		"click": "click at 5,12", "Ctrl-Shift-Click": "ctrl-shift-click at 5,12", "ctrl+click": "ctrl+click at 5,12", "drag": "drag from 5,12 to 7,1",
		"move": "move to 5,12", "wheel-down": "wheel-down at 5,12", "wheel-down*3": "wheel-down 3 times at 5,12",
	} {
		require.Equal(t, want, act(t, name).DescribeAt(at, to))
	}
}

// A button may submit, as Enter does; scrolling and moving do not.
func TestCommits(t *testing.T) {
	for name, want := range map[string]bool{
		"click": true, "double-click": true, "right-click": true, "middle-click": true, "press": true, "release": true, "drag": true, "alt-click": true,
		"move": false, "wheel-up": false, "wheel-down*100": false, "ctrl-wheel-left": false, "shift-wheel-right": false,
	} {
		require.Equal(t, want, act(t, name).UsesButton(), name)
	}
}

func TestReports(t *testing.T) {
	at, to := mouse.Cell{Row: 2, Col: 4}, mouse.Cell{Row: 2, Col: 6}
	for _, c := range corpus.Rows[struct {
		Protocol, Encoding int
		Act, Want          string
	}](t, "reports") {
		modes := mouse.Modes{Protocol: uint16(c.Protocol), Encoding: uint16(c.Encoding), CellWidth: 8, CellHeight: 16}
		got, err := act(t, c.Act).EncodeReports(modes, at, to)
		require.NoError(t, err, c)
		require.Equal(t, c.Want, string(bytes.Join(got, nil)), c)
	}
}

func TestMovementWithAButtonDown(t *testing.T) {
	got, err := act(t, "move").EncodeReports(mouse.Modes{Protocol: 1002, Encoding: 1006, Held: true}, mouse.Cell{Row: 2, Col: 4}, mouse.Cell{})
	require.NoError(t, err)
	require.Equal(t, "\x1b[<32;5;3M", string(bytes.Join(got, nil)))
}

// A press and its release are one piece, and so is every other unit that must not be torn: the
// keyboard is never taken between them.
func TestPieces(t *testing.T) {
	m := mouse.Modes{Protocol: 1003, Encoding: 1006}
	for name, pieces := range map[string]int{"click": 1, "double-click": 2, "wheel-up*7": 7, "drag": 3, "move": 1, "press": 1} {
		got, err := act(t, name).EncodeReports(m, mouse.Cell{}, mouse.Cell{Row: 3, Col: 3})
		require.NoError(t, err)
		require.Len(t, got, pieces, name)
	}
	near, err := act(t, "drag").EncodeReports(m, mouse.Cell{}, mouse.Cell{Row: 1, Col: 1})
	require.NoError(t, err)
	require.Equal(t, "\x1b[<0;1;1M\x1b[<32;2;2M\x1b[<0;2;2m", string(bytes.Join(near, nil)))
}

// The last cells that the old encodings can express, the first that they cannot, and what a program
// does not hear.
func TestTheEdgesOfTheEncodings(t *testing.T) {
	for _, c := range corpus.Rows[struct {
		Protocol, Encoding int
		Act                string
		Row, Col           int
		Want               string
	}](t, "edges") {
		modes := mouse.Modes{Protocol: uint16(c.Protocol), Encoding: uint16(c.Encoding)}
		got, err := act(t, c.Act).EncodeReports(modes, mouse.Cell{Row: c.Row, Col: c.Col}, mouse.Cell{Row: 1})
		if err == nil {
			require.Equal(t, c.Want, string(bytes.Join(got, nil)), "%+v", c)
			continue
		}
		require.Contains(t, err.Error(), c.Want, "%+v", c)
		require.Empty(t, got)
	}
}

// FuzzParse checks that each action becomes reports that a terminal could have sent, or is refused
// with a reason.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"click", "ctrl-click", "shift-wheel-up*3", "double-click", "drag", "move", "ctrl+alt-release", "wheel-left*100", "*", "ctrl-*3"} {
		f.Add(name, uint16(1002), uint16(1006), 4, 11)
	}
	f.Fuzz(func(t *testing.T, name string, protocol, encoding uint16, row, col int) {
		a, err := mouse.Parse(name)
		if err != nil {
			require.True(t, utf8.ValidString(err.Error()), "%q", err)
			require.Less(t, len(err.Error()), 1024)
			return
		}
		at, to := mouse.Cell{Row: abs(row), Col: abs(col)}, mouse.Cell{Row: abs(col), Col: abs(row)}
		require.NotEmpty(t, a.DescribeAt(at, to))
		again, err := mouse.Parse(strings.ToUpper(name))
		require.NoError(t, err)
		require.Equal(t, a, again)
		reports, err := a.EncodeReports(mouse.Modes{Protocol: protocol, Encoding: encoding, CellWidth: 7, CellHeight: 13}, at, to)
		if err != nil {
			return
		}
		require.NotEmpty(t, reports)
		require.LessOrEqual(t, len(reports), mouse.MaxTurns)
		for _, r := range reports {
			require.LessOrEqual(t, len(r), 64, "%q", r)
			require.True(t, strings.HasPrefix(string(r), "\x1b["))
			require.NotContains(t, string(r), "\x1c", "the reclaim key")
			require.NotContains(t, string(r), "\a", "the key that gives control")
			require.NotContains(t, string(r), "\r")
		}
	})
}

func abs(n int) int { return max(n%1000, -(n % 1000)) }
