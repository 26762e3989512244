package screen

import (
	"fmt"
	"strconv"
	"strings"
)

// rgb is a colour of the palette that the program has set; the zero value is the terminal's own.
type rgb struct {
	r, g, b uint8
	set     bool
}

// palette holds the colours that the program has changed (OSC 4, 10, 11, 12).
type palette struct {
	indexed map[uint8]rgb
	dynamic [3]rgb // foreground, background, cursor
	specs   map[uint8]string
	used    paletteUse
}

// paletteUse is what the program has ever touched: a reset does not take that back, since a
// terminal may have ways to bring colours back that the model does not follow (XTPUSHCOLORS).
type paletteUse struct {
	entries [4]uint64 // bit i: entry i
	special bool      // the colours of bold and the like (OSC 5 and 6)
}

// maxSpec bounds the kept text of a colour, in bytes; the longest form with a meaning is shorter.
const maxSpec = 128

// noteEntry says that the program set entry n in these words.
func (p *palette) noteEntry(n int, spec string) {
	if n < 0 || n > 255 {
		p.used.special = true
		return
	}
	p.used.entries[n/64] |= 1 << (n % 64)
	if p.specs == nil {
		p.specs = make(map[uint8]string)
	}
	delete(p.specs, uint8(n))
	if len(spec) <= maxSpec {
		p.specs[uint8(n)] = spec
	}
}

// noteOther looks at commands for colours that the model does not show: kitty's list (OSC 21), the
// special colours, and what sets the first 16 by other names (OSC 1337 of iTerm2, OSC P of the
// Linux console).
func (p *palette) noteOther(n int, text string) {
	switch {
	case n == 21:
		for _, item := range strings.Split(text, ";") {
			key, spec, _ := strings.Cut(item, "=")
			if i, err := strconv.ParseUint(key, 10, 8); err == nil && spec != "?" {
				p.noteEntry(int(i), spec)
			}
		}
	case n == 5, n == 6, n == 105, n == 106:
		p.used.special = true
	case n == 1337 && strings.HasPrefix(text, "Set"), n == -1 && strings.HasPrefix(text, "P"):
		p.used.entries[0] |= 1<<16 - 1
	}
}

// PaletteUsed reports whether the program ever set this entry of the palette, in any form.
func (s *Screen) PaletteUsed(i uint8) bool {
	return s.t.palette.used.entries[i/64]&(1<<(i%64)) != 0
}

// PaletteSpec is the text with which the program set this entry (XParseColor), "" where it is the
// terminal's own.
func (s *Screen) PaletteSpec(i uint8) string { return s.t.palette.specs[i] }

// SpecialColors reports whether the program ever set how bold text and the like are coloured (OSC 5
// and 6).
func (s *Screen) SpecialColors() bool { return s.t.palette.used.special }

// The colours of an unconfigured terminal, for answers and pictures: xterm's 16, the cube, the
// greys.
var (
	defaultDynamic = [3]rgb{{0xe5, 0xe5, 0xe5, true}, {0, 0, 0, true}, {0xe5, 0xe5, 0xe5, true}}
	ansiColors     = [16]uint32{
		0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
		0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
	}
)

func defaultColor(i uint8) rgb {
	switch {
	case i < 16:
		c := ansiColors[i]
		return rgb{uint8(c >> 16), uint8(c >> 8), uint8(c), true}
	case i < 232:
		i -= 16
		level := func(n uint8) uint8 {
			if n == 0 {
				return 0
			}
			return 55 + 40*n
		}
		return rgb{level(i / 36), level(i / 6 % 6), level(i % 6), true}
	default:
		grey := 8 + 10*(i-232)
		return rgb{grey, grey, grey, true}
	}
}

func (p *palette) entryColor(i uint8) rgb {
	if c, ok := p.indexed[i]; ok {
		return c
	}
	return defaultColor(i)
}

func (p *palette) dynamicColor(i int) rgb {
	if p.dynamic[i].set {
		return p.dynamic[i]
	}
	return defaultDynamic[i]
}

// ResolveColor returns the three components with which c is shown now: fg says whether it stands
// for a foreground, which matters for the default colours. OSC 4, 10 and 11 change the answer.
func (s *Screen) ResolveColor(c Color, fg bool) (r, g, b uint8) {
	v := s.t.palette.dynamicColor(1)
	if i, ok := c.Index(); ok {
		v = s.t.palette.entryColor(i)
	} else if r, g, b, ok := c.RGB(); ok {
		return r, g, b
	} else if fg {
		v = s.t.palette.dynamicColor(0)
	}
	return v.r, v.g, v.b
}

// EachPaletteChange calls each for what the program has changed of the palette (OSC 4), in order,
// and for "foreground" and "background" (OSC 10 and 11).
func (s *Screen) EachPaletteChange(each func(name string, r, g, b uint8)) {
	p := &s.t.palette
	for i := range 256 {
		if c, ok := p.indexed[uint8(i)]; ok {
			each(strconv.Itoa(i), c.r, c.g, c.b)
		}
	}
	for i, name := range [2]string{"foreground", "background"} {
		if c := p.dynamic[i]; c.set {
			each(name, c.r, c.g, c.b)
		}
	}
}

// spec formats an answer to a colour query: 16 bits a component (XParseColor).
func (c rgb) spec() string {
	return fmt.Sprintf("rgb:%02x%02x/%02x%02x/%02x%02x", c.r, c.r, c.g, c.g, c.b, c.b)
}

// parseColor reads the forms of XParseColor without names: rgb:h/h/h with one to four digits each,
// and #rgb to #rrrrggggbbbb.
func parseColor(s string) (rgb, bool) {
	var parts []string
	if list, ok := strings.CutPrefix(s, "rgb:"); ok {
		parts = strings.Split(list, "/")
	} else if digits, ok := strings.CutPrefix(s, "#"); ok && len(digits)%3 == 0 {
		n := len(digits) / 3
		parts = []string{digits[:n], digits[n : 2*n], digits[2*n:]}
	}
	if len(parts) != 3 {
		return rgb{}, false
	}
	var v [3]uint8
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 16, 16)
		if err != nil || len(p) > 4 {
			return rgb{}, false
		}
		full := uint64(1)<<(4*len(p)) - 1
		v[i] = uint8((n*255 + full/2) / full)
	}
	return rgb{v[0], v[1], v[2], true}, true
}

// oscPalette is OSC 4: pairs of an index and a colour, or ? to ask for it.
func (t *terminal) oscPalette(text string) {
	parts := strings.Split(text, ";")
	for i := 0; i+1 < len(parts); i += 2 {
		number, err := strconv.Atoi(parts[i])
		if err != nil {
			continue
		}
		if parts[i+1] != "?" {
			t.palette.noteEntry(number, parts[i+1])
		}
		n := number
		if n < 0 || n > 255 {
			continue
		}
		if parts[i+1] == "?" {
			t.replyOSC(fmt.Sprintf("4;%d;%s", n, t.palette.entryColor(uint8(n)).spec()))
			continue
		}
		if c, ok := parseColor(parts[i+1]); ok {
			if t.palette.indexed == nil {
				t.palette.indexed = make(map[uint8]rgb)
			}
			t.palette.indexed[uint8(n)] = c
			t.touchAll()
		}
	}
}

// oscResetPalette is OSC 104: without a list it resets all colours.
func (t *terminal) oscResetPalette(text string) {
	if text == "" {
		t.palette.indexed, t.palette.specs = nil, nil
	}
	for _, p := range strings.Split(text, ";") {
		if n, err := strconv.ParseUint(p, 10, 8); err == nil {
			delete(t.palette.indexed, uint8(n))
			delete(t.palette.specs, uint8(n))
		}
	}
	t.touchAll()
}

// oscDynamic is OSC 10, 11 and 12: foreground, background and cursor. Further colours in one list
// go to the next.
func (t *terminal) oscDynamic(n int, text string) {
	for _, p := range strings.Split(text, ";") {
		if n > 12 {
			return
		}
		if p == "?" {
			t.replyOSC(fmt.Sprintf("%d;%s", n, t.palette.dynamicColor(n-10).spec()))
		} else if c, ok := parseColor(p); ok {
			t.palette.dynamic[n-10] = c
			t.touchAll()
		}
		n++
	}
}
