package snapshot

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Normalize returns s in the form in which texts that look alike are equal: composed (Unicode NFC),
// with a blank for every kind of space. An agent that searches for a text has typed it, or copied
// it from a screen through a model, and neither keeps these apart. Nearly every text is in that
// form already, and is returned unchanged.
func Normalize(s string) string {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return norm.NFC.String(strings.Map(blankFor, s))
		}
	}
	return s
}

// blankFor returns a blank for every space, also for those that do not break or have other widths.
func blankFor(r rune) rune {
	if unicode.Is(unicode.Zs, r) {
		return ' '
	}
	return r
}
