// Package cells fits text into columns of a terminal. It must not know what the text means.
package cells

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Cut shortens a text to a width.
func Cut(text string, width int) string {
	if displaywidth.String(text) <= width {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if width -= displaywidth.Rune(r); width < 1 {
			break
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return ""
	}
	return b.String() + "…"
}

// Fit is a text in exactly so many columns.
func Fit(text string, width int) string {
	text = Cut(text, width)
	return text + strings.Repeat(" ", max(0, width-displaywidth.String(text)))
}

// Wrap is a text in rows of at most a width, which end between two words. What is longer than a row is cut where the row ends.
func Wrap(text string, width int) (rows []string) {
	row := ""
	for _, word := range strings.Fields(text) {
		if row != "" && displaywidth.String(row)+1+displaywidth.String(word) > width {
			rows = append(rows, row)
			row = ""
		}
		if row != "" {
			row += " "
		}
		for _, r := range word {
			if row != "" && displaywidth.String(row)+displaywidth.Rune(r) > width {
				rows = append(rows, row)
				row = ""
			}
			row += string(r)
		}
	}
	return append(rows, row)
}
