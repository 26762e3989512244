package screen

// charset is a set of 94 characters that can stand in GL. Only the ones that translate anything are
// told apart.
type charset uint8

const (
	usASCII charset = iota
	decGraphics
	britishSet
)

// charsets is the state of ISO 2022 that matters in UTF-8: what G0 to G3 hold, which of them is in
// GL, and a single shift for one character.
type charsets struct {
	g      [4]charset
	left   uint8 // the set in GL
	single uint8 // 2 or 3 after SS2 or SS3
}

func (c *charsets) gl() charset { return c.g[c.left] }

// graphics is the DEC Special Graphics set from 0x5f to 0x7e (VT510, table 5-13).
var graphics = [...]rune{
	' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼',
	'⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

// translate returns what a character of GL shows.
func (c *charsets) translate(r rune) rune {
	set := c.gl()
	if c.single != 0 {
		set = c.g[c.single]
	}
	switch {
	case set == decGraphics && r >= 0x5f && r <= 0x7e:
		return graphics[r-0x5f]
	case set == britishSet && r == '#':
		return '£'
	}
	return r
}

// SCS designates a character set for G0 to G3 (ECMA-35, ESC ( to ESC /).
func (t *terminal) SCS() {
	var set charset
	switch t.parse.final {
	case '0':
		set = decGraphics
	case 'A':
		set = britishSet
	}
	slot := t.parse.inter - '('
	if slot > 3 {
		slot -= 4 // - . / designate sets of 96, for G1 to G3
		set = usASCII
	}
	t.charsets.g[slot&3] = set
	t.updatePlain()
}

// shiftSet puts set n into GL (SI, SO, LS2, LS3).
func (t *terminal) shiftSet(n uint8) {
	t.charsets.left = n
	t.updatePlain()
}

// LS2 puts G2 into GL (ECMA-35, ESC n).
func (t *terminal) LS2() { t.shiftSet(2) }

// LS3 puts G3 into GL (ECMA-35, ESC o).
func (t *terminal) LS3() { t.shiftSet(3) }

// SS2 takes the next character from G2 (ECMA-48 8.3.141).
func (t *terminal) SS2() {
	t.charsets.single = 2
	t.updatePlain()
}

// SS3 takes the next character from G3 (ECMA-48 8.3.142).
func (t *terminal) SS3() {
	t.charsets.single = 3
	t.updatePlain()
}
