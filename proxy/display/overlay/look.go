package overlay

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/terminal/screen"
)

// Colors is a class of terminals by their number of colours.
type Colors uint8

// The kinds of terminals.
const (
	NoColors   Colors = iota // or the user wants no colours: reverse video
	FewColors                // 16 at most
	ManyColors               // 256
)

// fewColorFamilies are the families of terminals with at most 16 colours. All other current ones
// have at least 256.
var fewColorFamilies = []string{
	"linux",
	"ansi",
	"cons25",
	"cygwin",
	"pcansi",
	"sun",
	"hurd",
	"xterm-16color",
	"xterm-color",
	"rxvt-16color",
	"putty-vt",
}

// ColorsOf derives the colours from the terminal's type (TERM) and the user's wish (NO_COLOR,
// no-color.org).
func ColorsOf(term string, noColor bool) Colors {
	if noColor || !TakesSequences(term) || strings.HasPrefix(term, "vt") ||
		strings.HasSuffix(term, "-mono") ||
		strings.HasSuffix(term, "-m") {
		return NoColors
	}
	for _, family := range fewColorFamilies {
		if strings.HasPrefix(term, family) {
			return FewColors
		}
	}
	return ManyColors
}

// TakesUTF8 reports whether the locale's character set is UTF-8 (locale(7)): the first of LC_ALL,
// LC_CTYPE and LANG that is set names it.
func TakesUTF8(env func(string) string) bool {
	name := strings.ToLower(cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG")))
	return strings.Contains(name, "utf-8") || strings.Contains(name, "utf8")
}

// asciiGlyphs replaces the signs of the proxy's own texts one for one. A foreign text keeps no
// quotation mark that could pass for the end of its quotation.
var asciiGlyphs = strings.NewReplacer(
	`"`, "'", "“", `"`, "”", `"`, "·", "-", "…", "~", "▏", "|", "•", "*", "¦", "|", "⏎", "$",
)

// encode returns a text in the characters that the terminal can show.
func (c *Config) encode(text string) string {
	if !c.ASCII {
		return text
	}
	return asciiGlyphs.Replace(text)
}

// TakesTitle reports whether a terminal of this type takes a window title; others would print it.
func TakesTitle(term string) bool {
	return TakesSequences(term) && term != "linux" && !strings.HasPrefix(term, "vt")
}

// The palette entries for dark text on amber, the best first. Amber stands for agents. Any two have
// a contrast of at least 7 (WCAG 2). The user's theme may redefine the first 16, so those serve
// only terminals without others, and never bold, which would turn black into grey.
var (
	darkMany  = []uint8{16, 232, 233, 234, 17}
	amberMany = []uint8{214, 215, 220, 221, 178, 179, 208, 222, 223, 228, 229, 230}
	darkFew   = []uint8{0}
	amberFew  = []uint8{11, 3, 15, 7}
)

// Taste is how the user wants the proxy's texts drawn. The zero value is the default.
type Taste struct {
	Colors Colors // at most these, if Limited
	// Limited makes Colors count: the terminal may have more.
	Limited bool
	// Text and Background are entries of the palette from 16 on, or 0 for the default. [Readable]
	// checks whether one can be read on the other.
	Text, Background uint8
	LineOnTop        bool // questions and remarks begin on the first row
	SignOnTop        bool
	NoSign           bool
}

// minContrast is the contrast (WCAG 2) of text that anyone can read at a glance.
const minContrast = 7

// Readable returns the contrast of two entries, and whether it is enough.
func Readable(text, background uint8) (contrast float64, ok bool) {
	m := screen.New(screen.Config{})
	a, b := luminance(m, text), luminance(m, background)
	contrast = max(a, b) / min(a, b)
	return contrast, contrast >= minContrast
}

// luminance returns the relative luminance of an entry plus 0.05 (WCAG 2), in the terminal's
// default palette.
func luminance(m *screen.Screen, i uint8) float64 {
	r, g, b := m.ResolveColor(screen.Indexed(i), true)
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

// palette returns the candidates for text and background, the best first.
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

// look is how the proxy's texts are drawn.
type look struct {
	sgr   string  // follows SGR 0
	reset []uint8 // palette entries that must have their own colours for it
}

// lookOn chooses entries of the palette that the program has not changed. If it has changed all of
// them, the look resets two.
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
	fg, ok := firstUnused(m, dark)
	bg, also := firstUnused(m, amber)
	var l look
	if !ok {
		l.reset = append(l.reset, fg)
	}
	if !also {
		l.reset = append(l.reset, bg)
	}
	l.sgr = "\x1b[" + sgrColor(fg, 30) + ";" + sgrColor(bg, 40)
	if bold && !m.SpecialColors() { // otherwise bold may have a colour of its own
		l.sgr += ";1"
	}
	l.sgr += "m"
	return l
}

// firstUnused returns the first entry that the program has never set. If it has set all of them, it
// returns the first one and false.
func firstUnused(m *screen.Screen, entries []uint8) (entry uint8, ok bool) {
	for _, i := range entries {
		if !m.PaletteUsed(i) {
			return i, true
		}
	}
	return entries[0], false
}

// sgrColor returns the SGR parameter for an entry; base is 30 for the foreground and 40 for the
// background.
func sgrColor(i uint8, base int) string {
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

// appendProgramColors restores the program's colours for entries.
func appendProgramColors(dst []byte, m *screen.Screen, entries []uint8) []byte {
	for _, i := range entries {
		if spec := m.PaletteSpec(i); spec != "" {
			dst = strconv.AppendUint(append(dst, "\x1b]4;"...), uint64(i), 10)
			dst = append(append(append(dst, ';'), spec...), "\x1b\\"...)
		}
	}
	return dst
}
