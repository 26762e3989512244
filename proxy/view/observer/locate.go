package observer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"terminalproxy/proxy/terminal/mouse"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/redact"
	"terminalproxy/proxy/view/snapshot"
)

// Bounds of a message to an agent.
const (
	maxPlaces = 8  // listed places
	maxFound  = 99 // counted places
	maxQuoted = 80 // characters of the text
	maxWord   = 32 // characters of the word under the mouse
)

// match is a text in one row, in the columns from from to before to.
type match struct{ row, from, to int }

// clickCell returns the cell to click on.
func (s match) clickCell() mouse.Cell {
	return mouse.Cell{Row: s.row, Col: (s.from + s.to - 1) / 2}
}

// FindText finds the only match of a text on the screen as agents see it. An agent that names a
// text means one thing. If the text is missing, has several matches, or continues in the next row,
// the error tells the agent so, with the places.
func (v *shownScreen) FindText(text string) (mouse.Cell, error) {
	name := quoteText(text)
	text = snapshot.Normalize(text)
	var found []match
	for row, line := range v.currentLines() {
		if len(found) <= maxFound && strings.Contains(snapshot.Normalize(line), text) {
			like, columns := normalizeRow(line, v.columnStarts(row, line))
			found = appendMatches(found, row, like, text, columns)
		}
	}
	switch len(found) {
	case 1:
		return found[0].clickCell(), nil
	case 0:
		if row, across := v.matchAcrossRows(text); across {
			return mouse.Cell{}, fmt.Errorf(
				"%s begins in row %d and goes on in row %d: name a part of it within one row, "+
					"or its row and column", name, row+1, row+2,
			)
		}
		return mouse.Cell{}, errors.New(name + " is not on the screen (capital letters count)")
	}
	return mouse.Cell{}, severalPlacesError(name, found)
}

// severalPlacesError lists the places of a text that must occur only once.
func severalPlacesError(name string, found []match) error {
	places := make([]string, 0, maxPlaces)
	for _, s := range found[:min(len(found), maxPlaces)] {
		places = append(places, s.clickCell().String())
	}
	list := strings.Join(places[:len(places)-1], ", ") + " and " + places[len(places)-1]
	count := strconv.Itoa(len(found))
	switch more := len(found) - len(places); {
	case len(found) > maxFound:
		list = strings.Join(places, ", ") + " and elsewhere"
		count = "more than " + strconv.Itoa(maxFound)
	case more > 0:
		list = strings.Join(places, ", ") + fmt.Sprintf(" and %d more", more)
	}
	return fmt.Errorf(
		"%s is on the screen %s times, at %s: name more of the text around it, or the row and "+
			"column", name, count, list,
	)
}

// normalizeRow returns a row in the form in which texts are compared, with the column that begins
// at each byte of that form.
func normalizeRow(line string, columns []int) (string, []int) {
	if snapshot.Normalize(line) == line {
		return line, columns
	}
	var like strings.Builder
	var out []int
	for from := 0; from < len(line); {
		to := from + 1
		for to < len(line) && columns[to] < 0 {
			to++
		}
		cell := snapshot.Normalize(line[from:to])
		like.WriteString(cell)
		for i := range len(cell) {
			out = append(out, -1)
			if i == 0 {
				out[len(out)-1] = columns[from]
			}
		}
		from = to
	}
	return like.String(), append(out, columns[len(line)])
}

// appendMatches appends every match of text in a row. columns says which column begins at a byte of
// it, or -1 inside a cell: half a character is no match.
func appendMatches(dst []match, row int, line, text string, columns []int) []match {
	for at := 0; at+len(text) <= len(line); at++ {
		next := strings.Index(line[at:], text)
		if next < 0 {
			break
		}
		at += next
		if from, to := columns[at], columns[at+len(text)]; from >= 0 && to > from {
			dst = append(dst, match{row, from, to})
		}
	}
	return dst
}

// columnStarts returns for each byte of a row as shown, and for its end, which column's cell begins
// there, or -1.
func (v *shownScreen) columnStarts(row int, line string) []int {
	cols, _ := v.model.Size()
	return columnStartsOf(line, cols, func(col int) screen.Cell { return v.model.Cell(row, col) })
}

func columnStartsOf(line string, cols int, cell func(col int) screen.Cell) []int {
	out := make([]int, len(line)+1)
	for i := range out {
		out[i] = -1
	}
	at := 0
	for col := 0; col < cols; {
		out[at] = col
		c := cell(col)
		at += visiblePrefix(line[at:], c)
		col += max(1, c.Width)
		if at == len(line) {
			out[at] = col
			break
		}
	}
	return out
}

// visiblePrefix returns how many bytes at the start of line show a cell: its content without what a
// person cannot see, or what covers it.
func visiblePrefix(line string, c screen.Cell) int {
	if c.Content == "" {
		return leadingBlanks(line, c)
	}
	if cover := strings.Repeat(redact.Mark, c.Width); cover != c.Content &&
		strings.HasPrefix(line, cover) {
		return len(cover)
	}
	n := 0
	for _, r := range c.Content {
		if got, size := utf8.DecodeRuneInString(line[n:]); size > 0 && got == r {
			n += size
		}
	}
	if n == 0 { // it is invisible
		return leadingBlanks(line, c)
	}
	return n
}

// leadingBlanks returns how many bytes at the start of line are blanks for a cell.
func leadingBlanks(line string, c screen.Cell) (n int) {
	for n < max(1, c.Width) && n < len(line) && line[n] == ' ' {
		n++
	}
	return n
}

// matchAcrossRows finds a text that begins in one row and ends in the next.
func (v *shownScreen) matchAcrossRows(text string) (row int, ok bool) {
	lines := v.currentLines()
	cols, _ := v.model.Size()
	for i := range len(lines) - 1 {
		if (v.model.RowWrapped(i) || redact.ReachesEdge(lines[i], cols)) &&
			strings.Contains(snapshot.Normalize(lines[i]+blanks(v.model.RowBlanks(i))+lines[i+1]), text) {
			return i, true
		}
	}
	return 0, false
}

// WordAt returns the word that agents see in a cell, between blanks and frames. It is "" for a
// blank cell.
func (v *shownScreen) WordAt(c mouse.Cell) string {
	line := v.rowText(c.Row)
	at := -1
	for i, col := range v.columnStarts(c.Row, line)[:len(line)] {
		if col >= 0 && col <= c.Col {
			at = i
		}
	}
	if at < 0 {
		return ""
	}
	from := strings.LastIndexFunc(line[:at], isSeparator)
	if from >= 0 {
		_, size := utf8.DecodeRuneInString(line[from:])
		from += size
	}
	word := line[max(from, 0):]
	if end := strings.IndexFunc(word, isSeparator); end >= 0 {
		if max(from, 0)+end <= at {
			return "" // the cell itself
		}
		word = word[:end]
	}
	if r := []rune(word); len(r) > maxWord {
		word = string(r[:maxWord]) + "…"
	}
	return word
}

// isSeparator reports whether a character is no part of a word: blanks, and the lines and blocks of
// frames.
func isSeparator(r rune) bool { return r == ' ' || r == '\u00a0' || '\u2500' <= r && r <= '\u259f' }

// quoteText quotes a text that an agent sent, in a sentence for that agent.
func quoteText(text string) string {
	if r := []rune(text); len(r) > maxQuoted {
		text = string(r[:maxQuoted]) + "…"
	}
	return strconv.Quote(text)
}
