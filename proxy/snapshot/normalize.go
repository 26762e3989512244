package snapshot

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Normalize is s in the one form in which texts are compared that look alike: composed (Unicode NFC), and with a blank for
// every kind of space. Who looks for a text has typed it, or has it from a screen through a model: neither keeps these
// apart. s itself is returned where it is in that form, as nearly all is.
func Normalize(s string) string {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return norm.NFC.String(strings.Map(space, s))
		}
	}
	return s
}

// space is a blank for every space: the one that does not break, and those of other widths.
func space(r rune) rune {
	if unicode.Is(unicode.Zs, r) {
		return ' '
	}
	return r
}
