package screen

import (
	"math"
	"sync"
	"unicode"
)

// leastContrast is the contrast (WCAG 2.2, relative luminance) below which text cannot be told from
// its background.
const leastContrast = 1.3

// RowConceals reports whether a visible row holds text that cannot be read on the terminal:
// concealed (SGR 8), or in a colour that can hardly be told from its background, as the program has
// set the palette (OSC 4, 10 and 11). Letters and digits are text; frames, blocks and other signs
// are not.
//
// The terminal's own colours are unknown. What is assumed: light text on black, the palette of
// xterm, bold as bright, and that two different entries of its own palette can be told apart.
func (s *Screen) RowConceals(row int) bool {
	t := &s.t
	r := s.row(row)
	last, conceals, known := uint32(0), false, false
	for _, c := range r.cells[:r.used] {
		if !c.isText() {
			continue
		}
		if id := c.styleID(); id != last || !known {
			last, known = id, true
			conceals = t.palette.concealsStyle(&t.styles.list[id])
		}
		if conceals {
			return true
		}
	}
	return false
}

// isText reports whether a cell holds a letter or a digit. A cluster is taken for one.
func (c cell) isText() bool {
	if c.isTail() {
		return false
	}
	return c.isCluster() || isText(c.code())
}

func isText(code uint32) bool {
	if code < 0x80 {
		return code|0x20 >= 'a' && code|0x20 <= 'z' || code >= '0' && code <= '9'
	}
	return unicode.IsLetter(rune(code)) || unicode.IsNumber(rune(code))
}

// asRGB returns a colour as RGB, so that it can be compared; the default colour stays as it is.
func (c Color) asRGB() Color {
	if i, ok := c.Index(); ok {
		p := defaultColor(i)
		return RGB(p.r, p.g, p.b)
	}
	return c
}

// shade is a colour as it is seen.
type shade struct {
	light float64 // relative luminance, 0 to 1
	// the terminal's own, which is only assumed: its index from 1 on, or one of the two below; 0
	// for a known colour
	own int
}

const (
	ownForeground = -1
	ownBackground = -2
	ownBlack      = 1
)

// concealsStyle reports whether text of a style cannot be read.
func (p *palette) concealsStyle(s *style) bool {
	if s.attrs&Conceal != 0 {
		return true
	}
	if s.fg.IsDefault() && s.bg.IsDefault() && !p.dynamic[0].set && !p.dynamic[1].set {
		return false
	}
	fg := s.fg
	if i, ok := fg.Index(); ok && i < 8 && s.attrs&Bold != 0 {
		fg = Indexed(i + 8)
	}
	a, b := p.shadeOf(fg, 0), p.shadeOf(s.bg, 1)
	if a.own != 0 && b.own != 0 {
		return a.own == b.own || a.own == ownBlack && b.own == ownBackground
	}
	return max(a.light, b.light)+0.05 < leastContrast*(min(a.light, b.light)+0.05)
}

// shadeOf returns how c looks as a foreground (0) or a background (1).
func (p *palette) shadeOf(c Color, dynamic int) shade {
	v, own := p.dynamicColor(dynamic), 0
	if i, ok := c.Index(); ok {
		set := false
		if v, set = p.indexed[i]; !set {
			if v = defaultColor(i); i < 16 {
				own = int(i) + 1
			}
		}
	} else if r, g, b, ok := c.RGB(); ok {
		v = rgb{r, g, b, true}
	} else if !p.dynamic[dynamic].set {
		own = [2]int{ownForeground, ownBackground}[dynamic]
	}
	linear := linear()
	return shade{0.2126*linear[v.r] + 0.7152*linear[v.g] + 0.0722*linear[v.b], own}
}

// linear is the light of each value of a component (sRGB). It is computed when the first colour is
// looked at.
var linear = sync.OnceValue(func() *[256]float64 {
	var t [256]float64
	for i := range t {
		if c := float64(i) / 255; c <= 0.04045 {
			t[i] = c / 12.92
		} else {
			t[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return &t
})

// HistoryConceals is RowConceals for row i of the history.
func (s *Screen) HistoryConceals(i int) bool {
	p := s.past(i)
	at := 0
	for runs := p.styles; len(runs) > 0; {
		style, n, size := unpackRun(runs)
		if s.t.palette.concealsStyle(&style) && p.hasText(at, at+n) {
			return true
		}
		runs, at = runs[size:], at+n
	}
	return s.t.palette.concealsStyle(&style{}) && p.hasText(at, math.MaxInt)
}

// hasText reports whether there are letters or digits in the cells from from to to.
func (p packed) hasText(from, to int) bool {
	if len(p.ascii) > 0 {
		for _, c := range p.ascii[min(from, len(p.ascii)):min(to, len(p.ascii))] {
			if isText(uint32(c)) {
				return true
			}
		}
		return false
	}
	var room [maxCluster + 4]byte
	for i, words := 0, p.words; len(words) > 0 && i < to; i++ {
		c, n := cell(words[0]), 1
		if c.isCluster() {
			_, n = packedCluster(room[:0], words)
		}
		if i >= from && c.isText() {
			return true
		}
		words = words[n:]
	}
	return false
}
