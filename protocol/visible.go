package protocol

import (
	"strings"
	"unicode"
)

// Visible takes out of s what a person cannot see but a model reads, or what makes a person read
// another text than the model (SAFETY R45): Unicode tags, bidirectional controls (UAX #9),
// zero-width characters, variation selectors and control characters. Line feeds stay and a tab
// becomes a blank. Joiners stay where a script or an emoji needs them.
//
// Both ends of the wire use it: a proxy for what it sends, a gateway for what it shows, since it
// does not believe a proxy.
func Visible(s string) string { return visible(s, false) }

// visible is Visible. In a row of a screen, what it takes out leaves the columns that it had there,
// as blanks.
func visible(s string, row bool) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	runes := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	for i, r := range runes {
		switch {
		case r == '\t':
			b.WriteByte(' ')
		case r == '\n' || !hidden(r) || joins(runes, i):
			b.WriteRune(r)
		case row:
			b.WriteString("  "[:blanks(r)])
		}
	}
	return b.String()
}

// VisibleRow is [Visible] for a row of a screen, with SGR sequences and without any other. What
// stands behind a character that takes columns and shows nothing, as the soft hyphen and the
// fillers of Hangul, keeps its place: they become blanks.
func VisibleRow(row string) string {
	if plain(row) {
		return row
	}
	var b strings.Builder
	for row != "" {
		at := strings.IndexByte(row, 0x1b)
		if at < 0 {
			at = len(row)
		}
		b.WriteString(visible(row[:at], true))
		if row = row[at:]; row == "" {
			break
		}
		n := len(row)
		if strings.HasPrefix(row, "\x1b]") {
			if end := strings.Index(row, "\x1b\\"); end >= 0 {
				n = end + len("\x1b\\")
			}
		} else if end := strings.IndexFunc(row[min(2, n):], func(r rune) bool {
			return r >= '@' && r <= '~'
		}); end >= 0 {
			if n = 2 + end + 1; row[n-1] == 'm' {
				b.WriteString(row[:n])
			}
		}
		row = row[n:]
	}
	return b.String()
}

// plain reports whether s is printable ASCII and line feeds, as most rows are.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' && c != '\n') || c > '~' {
			return false
		}
	}
	return true
}

// hidden reports whether r takes no place of its own on a screen. Unicode keeps one list of what a
// renderer shows nothing for (Default_Ignorable_Code_Point, of which Cf, the variation selectors
// and the fillers are the bulk).
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) ||
		unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) ||
		unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}

// blanks returns how many columns a hidden character takes, as wcwidth(3) and the terminal model
// count.
func blanks(r rune) int {
	switch {
	case r == '\u115f' || r == '\u3164':
		return 2
	case r == '\u00ad' || r == '\uffa0' ||
		r > unicode.MaxLatin1 && !unicode.IsControl(r) &&
			!unicode.In(r, unicode.Cf, unicode.M, unicode.Zl, unicode.Zp, unicode.Lo):
		return 1 // beside the two, what Unicode has reserved
	}
	return 0
}

const (
	zwnj = '\u200c'
	zwj  = '\u200d'
	vs15 = '\ufe0e'
	vs16 = '\ufe0f'
)

// joins reports whether the hidden character at i shapes its neighbours: a joiner between two
// letters of a script that uses joiners or between two emoji, a presentation selector after a
// symbol.
func joins(runes []rune, i int) bool {
	if i == 0 {
		return false
	}
	before := runes[i-1]
	switch runes[i] {
	case vs15, vs16:
		return pictograph(before) ||
			strings.ContainsRune("0123456789#*", before) && i+1 < len(runes) &&
				runes[i+1] == '\u20e3'
	case zwj, zwnj:
		if i+1 == len(runes) {
			return false
		}
		after := runes[i+1]
		if before == vs16 && i > 1 {
			before = runes[i-2]
		}
		return shaped(before) && shaped(after) ||
			runes[i] == zwj && pictograph(before) && pictograph(after)
	}
	return false
}

func pictograph(r rune) bool {
	return r > 0xa8 && unicode.In(r, unicode.So, unicode.Sk, unicode.Sm)
}

func shaped(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari,
		unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
		unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer,
		unicode.Myanmar, unicode.Tibetan)
}
