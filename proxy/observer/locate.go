package observer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"terminalproxy/proxy/mouse"
	"terminalproxy/proxy/redact"
	"terminalproxy/proxy/screen"
	"terminalproxy/proxy/snapshot"
)

// Longest forms in a sentence.
const (
	maxPlaces = 8  // places that are listed
	maxFound  = 99 // places that are counted
	maxQuoted = 80 // characters of the text
	maxWord   = 32 // characters of the word under the mouse
)

// spot is a text in one row: the columns from, inclusive, to to, exclusive.
type spot struct{ row, from, to int }

// middle is the cell of a spot that is clicked on.
func (s spot) middle() mouse.Cell { return mouse.Cell{Row: s.row, Col: (s.from + s.to - 1) / 2} }

// Locate finds the only place of a text on the screen as agents see it. An agent that names a text means one thing: where
// there is none, or several, or it goes on in the next row, the error tells the agent so, with the places.
func (o *Observer) Locate(text string) (mouse.Cell, error) {
	what := quoted(text)
	text = snapshot.Normalize(text)
	var found []spot
	for row, line := range o.currentLines() {
		if len(found) <= maxFound && strings.Contains(snapshot.Normalize(line), text) {
			like, columns := normalized(line, o.columns(row, line))
			found = spots(found, row, like, text, columns)
		}
	}
	switch len(found) {
	case 1:
		return found[0].middle(), nil
	case 0:
		if row, torn := o.torn(text); torn {
			return mouse.Cell{}, fmt.Errorf(
				"%s begins in row %d and goes on in row %d: name a part of it that stands in one row, or its row and column", what, row+1, row+2)
		}
		return mouse.Cell{}, errors.New(what + " does not stand on the screen (capital letters count)")
	}
	places := make([]string, 0, maxPlaces)
	for _, s := range found[:min(len(found), maxPlaces)] {
		places = append(places, s.middle().String())
	}
	list, count := strings.Join(places[:len(places)-1], ", ")+" and "+places[len(places)-1], strconv.Itoa(len(found))
	switch more := len(found) - len(places); {
	case len(found) > maxFound:
		list, count = strings.Join(places, ", ")+" and elsewhere", "more than "+strconv.Itoa(maxFound)
	case more > 0:
		list = strings.Join(places, ", ") + fmt.Sprintf(" and %d more", more)
	}
	return mouse.Cell{}, fmt.Errorf(
		"%s stands %s times on the screen, at %s: name more of the text around it, or the row and column", what, count, list)
}

// normalized is a row in the form in which texts are compared, and its columns, which keep to their cells.
func normalized(line string, columns []int) (string, []int) {
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

// spots appends every place of text in a row. columns says which column begins at a byte of it, -1 inside a cell: half a
// character is no place.
func spots(dst []spot, row int, line, text string, columns []int) []spot {
	for at := 0; at+len(text) <= len(line); at++ {
		next := strings.Index(line[at:], text)
		if next < 0 {
			break
		}
		at += next
		if from, to := columns[at], columns[at+len(text)]; from >= 0 && to > from {
			dst = append(dst, spot{row, from, to})
		}
	}
	return dst
}

// columns says for each byte of a row as shown, and for its end, which column's cell begins there, -1 for none.
func (o *Observer) columns(row int, line string) []int {
	cols, _ := o.model.Size()
	return columnsOf(line, cols, func(col int) screen.Cell { return o.model.Cell(row, col) })
}

func columnsOf(line string, cols int, cell func(col int) screen.Cell) []int {
	out := make([]int, len(line)+1)
	for i := range out {
		out[i] = -1
	}
	at := 0
	for col := 0; col < cols; {
		out[at] = col
		c := cell(col)
		at += shownOf(line[at:], c)
		col += max(1, c.Width)
		if at == len(line) {
			out[at] = col
			break
		}
	}
	return out
}

// shownOf is how many bytes of line, at its begin, are what is shown of a cell: itself without what a person cannot see, or
// what covers it.
func shownOf(line string, c screen.Cell) int {
	if c.Content == "" {
		return blanks(line, c)
	}
	if cover := strings.Repeat(redact.Mark, c.Width); cover != c.Content && strings.HasPrefix(line, cover) {
		return len(cover)
	}
	n := 0
	for _, r := range c.Content {
		if got, size := utf8.DecodeRuneInString(line[n:]); size > 0 && got == r {
			n += size
		}
	}
	if n == 0 { // nobody sees it
		return blanks(line, c)
	}
	return n
}

// blanks is how many bytes of line, at its begin, are blanks for a cell.
func blanks(line string, c screen.Cell) (n int) {
	for n < max(1, c.Width) && n < len(line) && line[n] == ' ' {
		n++
	}
	return n
}

// torn finds a text that begins in one row and ends in the next.
func (o *Observer) torn(text string) (row int, yes bool) {
	lines := o.currentLines()
	cols, _ := o.model.Size()
	for i := range len(lines) - 1 {
		if (o.model.RowWrapped(i) || redact.Full(lines[i], cols)) && strings.Contains(snapshot.Normalize(lines[i]+lines[i+1]), text) {
			return i, true
		}
	}
	return 0, false
}

// WordAt is the word that agents see in a cell, "" where it is blank: what lies between blanks and frames.
func (o *Observer) WordAt(c mouse.Cell) string {
	line := o.rowText(c.Row)
	at := -1
	for i, col := range o.columns(c.Row, line)[:len(line)] {
		if col >= 0 && col <= c.Col {
			at = i
		}
	}
	if at < 0 {
		return ""
	}
	from := strings.LastIndexFunc(line[:at], separates)
	if from >= 0 {
		_, size := utf8.DecodeRuneInString(line[from:])
		from += size
	}
	word := line[max(from, 0):]
	if end := strings.IndexFunc(word, separates); end >= 0 {
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

// separates reports whether a character is no part of a word: blanks, and the lines and blocks of frames.
func separates(r rune) bool { return r == ' ' || r == '\u00a0' || '\u2500' <= r && r <= '\u259f' }

// quoted is a text that an agent sent, in a sentence for it.
func quoted(text string) string {
	if r := []rune(text); len(r) > maxQuoted {
		text = string(r[:maxQuoted]) + "…"
	}
	return strconv.Quote(text)
}
