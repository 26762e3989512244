package overlay

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/terminal/screen"
)

func TestColorsOfTerminalsR67(t *testing.T) {
	for term, want := range map[string]Colors{
		"": NoColors, "dumb": NoColors, "vt100": NoColors, "vt220": NoColors, "xterm-mono": NoColors,
		"linux": FewColors, "linux-16color": FewColors, "ansi": FewColors, "xterm-16color": FewColors,
		"xterm": ManyColors, "xterm-256color": ManyColors, "tmux-256color": ManyColors, "screen": ManyColors, "xterm-kitty": ManyColors,
		"alacritty": ManyColors, "foot": ManyColors, "xterm-direct": ManyColors,
	} {
		require.Equal(t, want, ColorsOf(term, false), term)
		require.Equal(t, NoColors, ColorsOf(term, true), term)
	}
}

// A terminal is sent only sequences that it does not print.
func TestWhatATerminalTakes(t *testing.T) {
	for term, want := range map[string]struct{ sequences, title bool }{
		"": {}, "dumb": {}, "dumb-emacs-ansi": {}, "unknown": {}, "vt52": {}, "network": {}, "linux": {sequences: true}, "vt220": {sequences: true},
		"vt520": {sequences: true}, "xterm": {true, true}, "tmux-256color": {true, true}, "of-next-year": {true, true},
	} {
		require.Equal(t, want.sequences, TakesSequences(term), term)
		require.Equal(t, want.title, TakesTitle(term), term)
	}
}

// The contrast is at least 7 in a terminal's default configuration.
func TestTheContrastOfEveryLookR67(t *testing.T) {
	m := screen.New(screen.Config{})
	for _, pairs := range [][2][]uint8{{darkMany, amberMany}, {darkFew, amberFew}} {
		for _, dark := range pairs[0] {
			for _, amber := range pairs[1] {
				require.GreaterOrEqual(t, luminance(m, amber)/luminance(m, dark), 7.0, "%d on %d", dark, amber)
			}
		}
	}
}

// With any sequence, also after the program reset it.
func TestTheLookAvoidsWhatTheProgramSetR67(t *testing.T) {
	for output, want := range map[string]string{
		"":                                       "\x1b[38;5;16;48;5;214;1m",
		"\x1b]4;16;#fff\a":                       "\x1b[38;5;232;48;5;214;1m",
		"\x1b]4;214;black;16;no color at all\a":  "\x1b[38;5;232;48;5;215;1m",
		"\x1b]4;214;#000\a\x1b]104\a":            "\x1b[38;5;16;48;5;215;1m",
		"\x1b]21;214=black\a\x1b]4;215;?\a\x1bc": "\x1b[38;5;16;48;5;215;1m",
		"\x1b]5;0;#ffaf00\a":                     "\x1b[38;5;16;48;5;214m",
	} {
		m := screen.New(screen.Config{})
		m.Feed([]byte(output))
		l := lookOn(m, &Config{Colors: ManyColors}, true)
		require.Equal(t, want, l.sgr, "%q", output)
		require.Empty(t, l.reset)
	}
	m := screen.New(screen.Config{})
	require.Equal(t, "\x1b[30;103m", lookOn(m, &Config{Colors: FewColors}, true).sgr, "bold black would be grey")
	require.Equal(t, notice.Reverse, lookOn(m, &Config{Colors: NoColors}, true).sgr)
}

// Where every colour is set, two get their own values back while the question stands, and then the
// program's again.
func TestWhereEveryColorIsSetR67(t *testing.T) {
	d := newDesk(t, 60, 10)
	every := ""
	for i := range 256 {
		every += fmt.Sprintf("\x1b]4;%d;#0000%02x\a", i, i)
	}
	d.pass(every, false)
	d.s.ShowState(asks(question.Keyboard, control.State{Phase: control.Asked, Agent: control.Agent{Name: "claude"}, Reason: "try"}))
	d.paint()
	require.True(t, d.p.IsQuestion())
	require.Empty(t, d.user.PaletteSpec(16))
	require.Empty(t, d.user.PaletteSpec(214))
	require.Equal(t, "#0000d7", d.user.PaletteSpec(215))
	d.pass("\x1b[2J", false)
	require.Empty(t, d.user.PaletteSpec(214))
	d.s.ShowState(control.State{})
	d.paint()
	require.False(t, d.p.IsQuestion())
	require.False(t, d.p.IsUp())
	d.checkSame("the program's colours")
}

// At most four times a second, however often it is taken away.
func TestTheSignComesFourTimesASecondR69(t *testing.T) {
	d := newDesk(t, 60, 10).drives()
	d.pass("\x1b[9;1H", false)
	d.paint()
	drawn := 0
	for range 100 { // ten seconds
		before, after, ok := d.p.DrawAround([]byte(strings.Repeat("x", 5)+"\r\n\r\n"), false)
		require.True(t, ok)
		d.user.Feed(before)
		if strings.Contains(string(after), "claude") {
			drawn++
		}
		if !d.p.IsUp() {
			require.False(t, d.p.NextDraw().IsZero(), "it comes back by itself")
		}
		d.now = d.now.Add(100 * time.Millisecond)
	}
	require.InDelta(t, 40, drawn, 6)
}

// In a locale without UTF-8 the proxy's own signs are ASCII, and a foreign text cannot end its
// quotation.
func TestTextsKeepToTheLocalesCharacters(t *testing.T) {
	for _, c := range []struct {
		all, ctype, lang string
		utf8             bool
	}{
		{"", "", "", false},
		{"", "", "C", false},
		{"", "", "en_GB.UTF-8", true},
		{"", "C.utf8", "C", true},
		{"POSIX", "C.UTF-8", "C.UTF-8", false},
		{"", "de_DE.ISO-8859-1", "de_DE.UTF-8", false},
	} {
		env := map[string]string{"LC_ALL": c.all, "LC_CTYPE": c.ctype, "LANG": c.lang}
		require.Equal(t, c.utf8, TakesUTF8(func(name string) string { return env[name] }), "%v", env)
	}
	s := New(Config{Line: true, ASCII: true, Reclaim: `Ctrl+\`, Repaint: func() {}})
	s.ShowText(`“a" gives "b” · done…`)
	line, _, _, _ := s.composeNow(time.Now(), 80, 24, "")
	require.Contains(t, line, `"a' gives 'b" - done~`)
}
