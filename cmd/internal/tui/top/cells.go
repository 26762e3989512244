package top

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// cutText shortens a text to at most width columns.
func cutText(text string, width int) string {
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

// fitText cuts or pads a text to exactly width columns.
func fitText(text string, width int) string {
	text = cutText(text, width)
	return text + strings.Repeat(" ", max(0, width-displaywidth.String(text)))
}

// wrapText breaks a text into rows of at most width columns, between two words. A word longer than
// a row is cut at the end of the row.
func wrapText(text string, width int) (rows []string) {
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
