package overlay

import (
	"math"
	"strconv"
	"strings"

	"terminalproxy/proxy/notice"
	"terminalproxy/proxy/screen"
)

// Colors is how many colours a terminal has, as far as it matters here.
type Colors uint8

// The kinds of terminals.
const (
	NoColors   Colors = iota // or the user wants none: reverse video
	FewColors                // 16 at most
	ManyColors               // 256
)

// few are the families of terminals that have at most 16 colours. Of the others that run today none has fewer than 256.
var few = []string{"linux", "ansi", "cons25", "cygwin", "pcansi", "sun", "hurd", "xterm-16color", "xterm-color", "rxvt-16color", "putty-vt"}

// ColorsOf judges a terminal by its type (TERM) and the user's wish (NO_COLOR, no-color.org).
func ColorsOf(term string, noColor bool) Colors {
	if noColor || term == "" || term == "unknown" || strings.HasPrefix(term, "dumb") || strings.HasPrefix(term, "vt") ||
		strings.HasSuffix(term, "-mono") || strings.HasSuffix(term, "-m") {
		return NoColors
	}
	for _, family := range few {
		if strings.HasPrefix(term, family) {
			return FewColors
		}
	}
	return ManyColors
}

// Answers reports whether a terminal of this type (TERM) answers questions; others would print them.
func Answers(term string) bool { return term != "" && term != "dumb" }

// TakesTitle reports whether a terminal of this type takes a window title; others would print it.
func TakesTitle(term string) bool {
	return term != "" && term != "dumb" && term != "linux" && !strings.HasPrefix(term, "vt")
}

// The entries of the palette that make dark on amber, the best first. Amber says agent. The contrast of any two is 7 at
// least (WCAG 2). Of the first 16 the user's own theme may have made something else, so they are for terminals without
// others, and not bold, which would make black a grey.
var (
	darkMany  = []uint8{16, 232, 233, 234, 17}
	amberMany = []uint8{214, 215, 220, 221, 178, 179, 208, 222, 223, 228, 229, 230}
	darkFew   = []uint8{0}
	amberFew  = []uint8{11, 3, 15, 7}
)

// Taste is how a user wants to see the proxy's own words; the zero value is as built in.
type Taste struct {
	Colors Colors // at most these, where Limited
	// Limited says that Colors counts: the terminal may have more.
	Limited bool
	// Text and Background are entries of the palette from 16 on, 0 for those built in. Readable says of two whether one can be
	// read on the other.
	Text, Background uint8
	LineOnTop        bool // questions and remarks begin on the first row
	SignOnTop        bool
	NoSign           bool
}

// leastContrast is the contrast (WCAG 2) of words that anybody can read at a glance.
const leastContrast = 7

// Readable is the contrast of two entries of the palette, and whether it is enough.
func Readable(text, background uint8) (contrast float64, ok bool) {
	m := screen.New(screen.Config{})
	a, b := light(m, text), light(m, background)
	contrast = max(a, b) / min(a, b)
	return contrast, contrast >= leastContrast
}

// light is the relative luminance of an entry and 0.05 (WCAG 2), as a terminal shows it that nobody has configured.
func light(m *screen.Screen, i uint8) float64 {
	r, g, b := m.Resolve(screen.Indexed(i), true)
	sum := 0.05
	for n, weight := range [3]float64{0.2126, 0.7152, 0.0722} {
		v := float64([3]uint8{r, g, b}[n]) / 255
		if v <= 0.03928 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

// palette are the entries for words and for what is behind them, the best first.
func (t Taste) palette(colors Colors) (text, background []uint8) {
	if colors == FewColors {
		return darkFew, amberFew
	}
	text, background = darkMany, amberMany
	if t.Text != 0 {
		text = []uint8{t.Text}
	}
	if t.Background != 0 {
		background = []uint8{t.Background}
	}
	return text, background
}

// look is how the proxy's own words are drawn.
type look struct {
	sgr   string  // behind SGR 0
	reset []uint8 // entries of the palette that need their own colours back for it
}

// lookOn is the look on a screen whose program may have changed the palette: with entries that it has left alone, else with
// two that are reset.
func lookOn(m *screen.Screen, c *Config, bold bool) look {
	colors := c.Colors
	if c.Taste.Limited {
		colors = min(colors, c.Taste.Colors)
	}
	switch colors {
	case NoColors:
		return look{sgr: notice.Reverse}
	case FewColors:
		bold = false
	case ManyColors:
	}
	dark, amber := c.Taste.palette(colors)
	fg, ok := unused(m, dark)
	bg, also := unused(m, amber)
	var l look
	if !ok {
		l.reset = append(l.reset, fg)
	}
	if !also {
		l.reset = append(l.reset, bg)
	}
	l.sgr = "\x1b[" + paint(fg, 30) + ";" + paint(bg, 40)
	if bold && !m.SpecialColors() { // else bold may have a colour of its own
		l.sgr += ";1"
	}
	l.sgr += "m"
	return l
}

// unused is the first of entries that the program has never set; without one it is the first, and ok is false.
func unused(m *screen.Screen, entries []uint8) (entry uint8, ok bool) {
	for _, i := range entries {
		if !m.PaletteUsed(i) {
			return i, true
		}
	}
	return entries[0], false
}

// paint is the parameter of SGR for an entry; base is 30 for the foreground and 40 for the background.
func paint(i uint8, base int) string {
	switch {
	case i < 8:
		return strconv.Itoa(base + int(i))
	case i < 16:
		return strconv.Itoa(base + 60 + int(i) - 8)
	}
	return strconv.Itoa(base+8) + ";5;" + strconv.Itoa(int(i))
}

// appendReset appends OSC 104 for entries.
func appendReset(dst []byte, entries []uint8) []byte {
	if len(entries) == 0 {
		return dst
	}
	dst = append(dst, "\x1b]104"...)
	for _, i := range entries {
		dst = strconv.AppendUint(append(dst, ';'), uint64(i), 10)
	}
	return append(dst, "\x1b\\"...)
}

// appendPalette appends what gives entries the program's colours again.
func appendPalette(dst []byte, m *screen.Screen, entries []uint8) []byte {
	for _, i := range entries {
		if spec := m.PaletteSpec(i); spec != "" {
			dst = strconv.AppendUint(append(dst, "\x1b]4;"...), uint64(i), 10)
			dst = append(append(append(dst, ';'), spec...), "\x1b\\"...)
		}
	}
	return dst
}
