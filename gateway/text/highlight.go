package text

import (
	"fmt"
	"strings"

	"terminalproxy/protocol"
)

// Bounds of what is said about highlights.
const (
	maxHighlights = 8
	maxHighlight  = 40 // characters of one text
)

// Highlights names the parts of a screen that stand out, "" for none: `row 5 columns 3-20 "Save"`. The texts are the
// program's.
func Highlights(f *protocol.Frame) string {
	if f.Blackout.Hidden() || len(f.Highlights) == 0 {
		return ""
	}
	named := make([]string, 0, maxHighlights)
	for _, h := range f.Highlights[:min(len(f.Highlights), maxHighlights)] {
		rows := fmt.Sprintf("row %d", h.Row+1)
		if h.Rows > 1 {
			rows = fmt.Sprintf("rows %d-%d", h.Row+1, h.Row+h.Rows)
		}
		text := short(h.Text, maxHighlight)
		named = append(named, fmt.Sprintf("%s columns %d-%d %q", rows, h.Col+1, h.Col+h.Cols, text))
	}
	out := strings.Join(named, ", ")
	if more := len(f.Highlights) - len(named); more > 0 {
		out += fmt.Sprintf(", and %d more", more)
	}
	return out
}

// Fenced is Fence with what stands out on the screen, "" for nothing, on a last line that begins with the mark: the program
// does not know that, and cannot write such a line.
func Fenced(mark, rows, highlights string) string {
	if highlights != "" {
		if rows != "" {
			rows += "\n"
		}
		rows += mark + " highlighted: " + highlights
	}
	return Fence(mark, rows)
}
