package protocol

import (
	"strings"
	"unicode"
)

// Visible removes from s the characters that a person cannot see but a model reads, or that make a
// person read another text than the model (SAFETY R45): Unicode tags, bidirectional controls (UAX
// #9), zero-width characters, variation selectors and control characters. Line feeds stay and a tab
// becomes a blank. Joiners stay where a script or an emoji needs them.
//
// Both ends use it: a proxy for what it sends, and a gateway for what it shows, since it does not
// trust a proxy.
func Visible(s string) string { return visible(s, false) }

// visible implements Visible. In a row of a screen, it replaces a removed character with as many
// blanks as it took columns.
func visible(s string, row bool) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	runes := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	for i, r := range runes {
		switch {
		case r == '\t':
			b.WriteByte(' ')
		case r == '\n' || !isHidden(r) || isJoiner(runes, i):
			b.WriteRune(r)
		case row:
			b.WriteString("  "[:hiddenWidth(r)])
		}
	}
	return b.String()
}

// VisibleRow is [Visible] for a row of a screen. It keeps SGR sequences and removes all others. A
// character that takes columns but shows nothing, such as the soft hyphen and the fillers of
// Hangul, becomes blanks, so that the text after it keeps its place.
func VisibleRow(row string) string {
	if isPlain(row) {
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

// isPlain reports whether s is printable ASCII and line feeds, as most rows are.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' && c != '\n') || c > '~' {
			return false
		}
	}
	return true
}

// isHidden reports whether r shows nothing on a screen. Most of these characters are in Unicode's
// list of what a renderer ignores (Default_Ignorable_Code_Point, of which Cf, the variation
// selectors and the fillers are the bulk).
func isHidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) ||
		unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) ||
		unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}

// hiddenWidth returns how many columns a hidden character takes, as counted by wcwidth(3) and the
// terminal model.
func hiddenWidth(r rune) int {
	switch {
	case r == '\u115f' || r == '\u3164':
		return 2
	case r == '\u00ad' || r == '\uffa0' ||
		r > unicode.MaxLatin1 && !unicode.IsControl(r) &&
			!unicode.In(r, unicode.Cf, unicode.M, unicode.Zl, unicode.Zp, unicode.Lo):
		return 1 // besides these two, what Unicode has reserved
	}
	return 0
}

const (
	zwnj = '\u200c'
	zwj  = '\u200d'
	vs15 = '\ufe0e'
	vs16 = '\ufe0f'
)

// isJoiner reports whether the hidden character at i changes the shape of its neighbours: a joiner
// between two letters of a script that uses joiners or between two emoji, or a presentation
// selector after a symbol.
func isJoiner(runes []rune, i int) bool {
	if i == 0 {
		return false
	}
	before := runes[i-1]
	switch runes[i] {
	case vs15, vs16:
		return isPictograph(before) ||
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
		return usesJoiners(before) && usesJoiners(after) ||
			runes[i] == zwj && isPictograph(before) && isPictograph(after)
	}
	return false
}

func isPictograph(r rune) bool {
	return r > 0xa8 && unicode.In(r, unicode.So, unicode.Sk, unicode.Sm)
}

func usesJoiners(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari,
		unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
		unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer,
		unicode.Myanmar, unicode.Tibetan)
}
