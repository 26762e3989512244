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
	const syntax = "it must be one of click, double-click, "
	for name, say := range map[string]string{
		"":                      `the mouse cannot do "": ` + syntax,
		"tap":                   `the mouse cannot do "tap": ` + syntax,
		"ctrl-":                 `the mouse cannot do "ctrl-": ` + syntax,
		"ctrl":                  `the mouse cannot do "ctrl": ` + syntax,
		"super-click":           `the mouse cannot do "super-click": ` + syntax,
		"ctrl-alt-ctrl-click":   `"ctrl-alt-ctrl-click" names a modifier twice: ` + syntax,
		"click*2":               `the mouse cannot do "click*2": only a wheel is repeated; ` + syntax,
		"wheel-up*0":            `"wheel-up*0" turns the wheel by "0" notches: give 1 to 100`,
		"wheel-up*101":          `"wheel-up*101" turns the wheel by "101" notches: give 1 to 100`,
		"wheel-up*":             `"wheel-up*" turns the wheel by "" notches: give 1 to 100`,
		"wheel-up*+3":           `"wheel-up*+3" turns the wheel by "+3" notches: give 1 to 100`,
		"wheel-up*3*3":          `"wheel-up*3*3" turns the wheel by "3*3" notches: give 1 to 100`,
		strings.Repeat("x", 99): `the mouse cannot do "` + strings.Repeat("x", 64) + `"`,
	} {
		_, err := mouse.Parse(name)
		require.ErrorContains(t, err, say, name)
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

// The last cells that the old encodings can express, and the first that they cannot.
func TestTheEdgesOfTheEncodings(t *testing.T) {
	click := act(t, "click")
	for _, c := range []struct {
		encoding uint16
		at       mouse.Cell
		want     string
	}{
		{0, mouse.Cell{Row: 222, Col: 222}, "\x1b[M \xff\xff\x1b[M#\xff\xff"},
		{0, mouse.Cell{Row: 0, Col: 94}, "\x1b[M \x7f!\x1b[M#\x7f!"},
		{1005, mouse.Cell{Row: 0, Col: 95}, "\x1b[M \u0080!\x1b[M#\u0080!"},
		{1005, mouse.Cell{Row: 999, Col: 999}, "\x1b[M \u0408\u0408\x1b[M#\u0408\u0408"},
		{1005, mouse.Cell{Row: 0, Col: 2014}, "\x1b[M \u07ff!\x1b[M#\u07ff!"},
		{1006, mouse.Cell{Row: 999, Col: 999}, "\x1b[<0;1000;1000M\x1b[<0;1000;1000m"},
		{1015, mouse.Cell{Row: 999, Col: 999}, "\x1b[32;1000;1000M\x1b[35;1000;1000M"},
	} {
		got, err := click.EncodeReports(mouse.Modes{Protocol: 1000, Encoding: c.encoding}, c.at, mouse.Cell{})
		require.NoError(t, err)
		require.Equal(t, c.want, string(bytes.Join(got, nil)))
	}
	for _, c := range []struct {
		encoding uint16
		at       mouse.Cell
		say      string
	}{
		{0, mouse.Cell{Row: 4, Col: 223}, "the program reads the mouse in an encoding that ends with row and column 223: 5,224 cannot be reported"},
		{0, mouse.Cell{Row: 223, Col: 4}, "the program reads the mouse in an encoding that ends with row and column 223: 224,5 cannot be reported"},
		{1005, mouse.Cell{Row: 0, Col: 2015}, "the program reads the mouse in an encoding that ends with row and column 2015: 1,2016 cannot be reported"},
	} {
		_, err := click.EncodeReports(mouse.Modes{Protocol: 1000, Encoding: c.encoding}, c.at, mouse.Cell{})
		require.EqualError(t, err, c.say)
	}
	_, err := act(t, "drag").EncodeReports(mouse.Modes{Protocol: 1002}, mouse.Cell{}, mouse.Cell{Col: 300})
	require.ErrorContains(t, err, "1,301 cannot be reported")
}

func TestWhatTheProgramDoesNotHear(t *testing.T) {
	for _, c := range []struct {
		m   mouse.Modes
		act string
		say string
	}{
		{mouse.Modes{}, "click", "the program does not listen to the mouse: use keys"},
		{mouse.Modes{Encoding: 1006}, "wheel-up", "the program does not listen to the mouse: use keys"},
		{mouse.Modes{Protocol: 9}, "wheel-up", "(mode 9): wheel-up cannot be reported, click can"},
		{mouse.Modes{Protocol: 9}, "release", "(mode 9): release cannot be reported, click can"},
		{mouse.Modes{Protocol: 9}, "drag", "(mode 9): drag cannot be reported, click can"},
		{mouse.Modes{Protocol: 9}, "ctrl-click", "the program's mouse mode (9) does not report modifiers: ctrl-click would arrive without them"},
		{mouse.Modes{Protocol: 1000}, "move", "not to movement (mode 1000): move cannot be reported"},
		{mouse.Modes{Protocol: 1000}, "drag", "send press at the one and release at the other"},
		{mouse.Modes{Protocol: 1001}, "click", "highlight tracking (mode 1001), which needs its answer to every press: use keys"},
		{mouse.Modes{Protocol: 1002}, "move", "only while a button is down (mode 1002): press before you move, or drag"},
		{mouse.Modes{Protocol: 1000, Encoding: 1016}, "click", "the terminal does not say how large its cells are: use keys"},
		{mouse.Modes{Protocol: 7}, "click", "mode 7 of the mouse, which the proxy does not know: use keys"},
	} {
		got, err := act(t, c.act).EncodeReports(c.m, mouse.Cell{}, mouse.Cell{Row: 1})
		require.ErrorContains(t, err, c.say)
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
