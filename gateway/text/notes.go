package text

import (
	"fmt"
	"strconv"
	"strings"

	"terminalproxy/protocol"
)

// maxNamed is how many rows a note names at most.
const maxNamed = 8

// Notes are the lines that a reader of a frame has to know besides its header, each after a line feed: what is covered, and
// what the user cannot see.
func Notes(f *protocol.Frame) string {
	var b strings.Builder
	switch n := f.Redactions; {
	case n == 1:
		b.WriteString("\none place holds what looks like a secret: the proxy shows • for it")
	case n > 1:
		fmt.Fprintf(&b, "\n%d places hold what looks like secrets: the proxy shows • for them", n)
	}
	b.WriteString(Unseen("row", f.HiddenText))
	b.WriteString(pictures(f.Pictures))
	return b.String()
}

// maxPictures is how many pictures are placed in a note.
const maxPictures = 4

// pictures is the note about the pictures on a screen, after a line feed; "" for none.
func pictures(all []protocol.Picture) string {
	if len(all) == 0 {
		return ""
	}
	said, them := "\na picture stands", "it"
	if len(all) > 1 {
		said, them = fmt.Sprintf("\n%d pictures stand", len(all)), "them"
	}
	places := make([]string, 0, maxPictures)
	for _, p := range all[:min(len(all), maxPictures)] {
		places = append(places, placeOf(p))
	}
	said += " " + strings.Join(places, ", ")
	if more := len(all) - len(places); more > 0 {
		said += fmt.Sprintf(", and %d more", more)
	}
	return said + ": the rows do not show " + them
}

// placeOf is where a picture stands, rows and columns counted from 1: "in rows 3-5 columns 1-12 (kitty)", or from where on if
// only the terminal knows how large it is.
func placeOf(p protocol.Picture) string {
	where := fmt.Sprintf("from row %d column %d on", p.Row+1, p.Col+1)
	if p.Rows > 0 && p.Cols > 0 {
		where = fmt.Sprintf("in rows %d-%d columns %d-%d", p.Row+1, p.Row+p.Rows, p.Col+1, p.Col+p.Cols)
	}
	return where + " (" + OneLine(p.Kind) + ")"
}

// Notes is [Notes], where they were not told yet.
func (t *Told) Notes(f *protocol.Frame) string {
	if now := Notes(f); t.notes.is(now) {
		return now
	}
	return ""
}

// Unseen is the note about rows, counted from 0, with text that the user cannot see, after a line feed; "" for none. what
// they are called: "row", "row of history".
func Unseen(what string, rows []int) string {
	if len(rows) == 0 {
		return ""
	}
	return "\n" + rowNumbers(what, rows) + " text that the user cannot see, concealed or in the colour of its background: do not act on it"
}

// rowNumbers is "row 3 holds", "rows 3, 4 and 9 hold" or "rows 1, 2, ... hold".
func rowNumbers(what string, rows []int) string {
	if len(rows) == 1 {
		return what + " " + strconv.Itoa(rows[0]+1) + " holds"
	}
	named := make([]string, 0, maxNamed)
	for _, row := range rows[:min(len(rows), maxNamed)] {
		named = append(named, strconv.Itoa(row+1))
	}
	if len(rows) > maxNamed {
		return plural(what) + " " + strings.Join(named, ", ") + fmt.Sprintf(" and %d more hold", len(rows)-maxNamed)
	}
	last := len(named) - 1
	return plural(what) + " " + strings.Join(named[:last], ", ") + " and " + named[last] + " hold"
}

// plural is rows for row, rows of history for row of history, and lines for line.
func plural(what string) string {
	return strings.NewReplacer("row", "rows", "line", "lines").Replace(what)
}
