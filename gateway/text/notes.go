package text

import (
	"fmt"
	"strconv"
	"strings"

	"terminalproxy/protocol"
)

// maxNamed bounds the rows that a note names.
const maxNamed = 8

// Notes returns the lines that a reader of a frame needs besides its header, each after a line
// feed: the redactions, and the text that the user cannot see.
func Notes(f *protocol.Frame) string {
	var b strings.Builder
	switch n := f.Redactions; {
	case n == 1:
		b.WriteString("\none place holds what looks like a secret: the proxy shows • for it")
	case n > 1:
		fmt.Fprintf(&b, "\n%d places hold what looks like secrets: the proxy shows • for them", n)
	}
	b.WriteString(UnseenWarning("row", f.HiddenText))
	b.WriteString(picturesNote(f.Pictures))
	return b.String()
}

// maxPictures bounds the pictures whose places a note gives.
const maxPictures = 4

// picturesNote says where the pictures on a screen are, after a line feed; "" without pictures.
func picturesNote(all []protocol.Picture) string {
	if len(all) == 0 {
		return ""
	}
	note, them := "\na picture is shown", "it"
	if len(all) > 1 {
		note, them = fmt.Sprintf("\n%d pictures are shown", len(all)), "them"
	}
	places := make([]string, 0, maxPictures)
	for _, p := range all[:min(len(all), maxPictures)] {
		places = append(places, placeOf(p))
	}
	note += " " + strings.Join(places, ", ")
	if more := len(all) - len(places); more > 0 {
		note += fmt.Sprintf(", and %d more", more)
	}
	return note + ": the rows do not show " + them
}

// placeOf describes the place of a picture, rows and columns counted from 1: "in rows 3-5 columns
// 1-12 (kitty)", or its first cell if only the terminal knows its size.
func placeOf(p protocol.Picture) string {
	where := fmt.Sprintf("from row %d column %d on", p.Row+1, p.Col+1)
	if p.Rows > 0 && p.Cols > 0 {
		where = fmt.Sprintf("in rows %d-%d columns %d-%d",
			p.Row+1, p.Row+p.Rows, p.Col+1, p.Col+p.Cols)
	}
	return where + " (" + OneLine(p.Kind) + ")"
}

// Notes returns [Notes] unless the reader knows them.
func (t *Known) Notes(f *protocol.Frame) string {
	if now := Notes(f); t.notes.update(now) {
		return now
	}
	return ""
}

// UnseenWarning warns of rows, counted from 0, with text that the user cannot see, after a line
// feed; "" without rows. unit names a row: "row", "row of history".
func UnseenWarning(unit string, rows []int) string {
	if len(rows) == 0 {
		return ""
	}
	return "\n" + rowNumbers(unit, rows) +
		" text that the user cannot see, concealed or in the colour of its background: do not " +
		"act on it"
}

// rowNumbers names rows: "row 3 holds", "rows 3, 4 and 9 hold" or "rows 1, 2, ... hold".
func rowNumbers(unit string, rows []int) string {
	if len(rows) == 1 {
		return unit + " " + strconv.Itoa(rows[0]+1) + " holds"
	}
	named := make([]string, 0, maxNamed)
	for _, row := range rows[:min(len(rows), maxNamed)] {
		named = append(named, strconv.Itoa(row+1))
	}
	if len(rows) > maxNamed {
		return pluralOf(unit) + " " + strings.Join(named, ", ") +
			fmt.Sprintf(" and %d more hold", len(rows)-maxNamed)
	}
	last := len(named) - 1
	return pluralOf(unit) + " " + strings.Join(named[:last], ", ") + " and " + named[last] + " hold"
}

// pluralOf turns row into rows, row of history into rows of history, and line into lines.
func pluralOf(unit string) string {
	return strings.NewReplacer("row", "rows", "line", "lines").Replace(unit)
}
