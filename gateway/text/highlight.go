package text

import (
	"fmt"
	"strings"

	"terminalproxy/protocol"
)

// Bounds of a list of highlights.
const (
	maxHighlights = 8
	maxHighlight  = 40 // characters of one text
	// maxEntries is the largest number of highlights on a menu's row. A row at the bottom with more
	// is a bar with the names of keys.
	maxEntries = 3
	// edge is the number of rows at the bottom of a screen that may be bars.
	edge = 3
)

// Highlights names the parts of a screen that stand out, or returns "": `row 5 columns 3-20
// "Save"`. The texts are the program's. It leaves out title bars, status lines and bars of keys,
// which do not show the selection.
func Highlights(f *protocol.Frame) string {
	if f.Blackout.ByUser() {
		return ""
	}
	perRow := make(map[int]int)
	for _, h := range f.Highlights {
		perRow[h.Row]++
	}
	named, more := make([]string, 0, maxHighlights), 0
	for _, h := range f.Highlights {
		switch bottom := h.Row >= f.Screen.Rows-edge; {
		case h.Rows <= 1 && (h.Row == 0 || bottom) && h.Cols >= f.Screen.Cols-2:
		case bottom && perRow[h.Row] > maxEntries:
		case len(named) == maxHighlights:
			more++
		default:
			named = append(named, nameHighlight(h))
		}
	}
	out := strings.Join(named, ", ")
	if more > 0 {
		out += fmt.Sprintf(", and %d more", more)
	}
	return out
}

func nameHighlight(h protocol.Highlight) string {
	rows := fmt.Sprintf("row %d", h.Row+1)
	if h.Rows > 1 {
		rows = fmt.Sprintf("rows %d-%d", h.Row+1, h.Row+h.Rows)
	}
	return fmt.Sprintf("%s columns %d-%d %q",
		rows, h.Col+1, h.Col+h.Cols, shorten(h.Text, maxHighlight))
}

// Highlights describes a screen's highlights: "highlighted: ...", "" if the reader knows them or
// the screen has none.
func (t *Known) Highlights(f *protocol.Frame) string {
	now := Highlights(f)
	if t == nil {
		t = new(Known)
	}
	if !t.highlights.update(now) || now == "" {
		return ""
	}
	return "highlighted: " + now
}
