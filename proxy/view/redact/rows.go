package redact

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

// Rows are consecutive rows of a screen or of its history.
type Rows struct {
	Text []string
	Cols int
	// Wrapped reports whether row i continues in the next one.
	Wrapped func(i int) bool
	// Print and At are the row and the byte offset where the program is printing. At is -1 if it is
	// printing elsewhere.
	Print, At int
	// Own holds the user's rules. It may be nil.
	Own *Own
}

// CoverOf is a hidden part of a row, in bytes. A secret has one for each of its rows, and Begins
// with the first.
type CoverOf struct {
	Row, From, To int
	Begins        bool
}

// ANSI returns a row that holds SGR sequences with its part covered. text is the row without them.
func (c CoverOf) ANSI(row, text string) string {
	from, to := displaywidth.String(text[:c.From]), displaywidth.String(text[:c.To])
	return ANSI(row, func(col int) bool { return from <= col && col < to })
}

// AppendCovers appends the parts to cover in the rows from first on. Row first is row 0 of the
// result.
func (r *Rows) AppendCovers(dst []CoverOf, first int) []CoverOf {
	lines, starts := make([]string, 0, len(r.Text)), make([]int, 0, len(r.Text)) // starts are rows
	place := Nowhere
	for row := 0; row < len(r.Text); {
		last := row
		for last+1 < len(r.Text) && (r.Wrapped(last) || ReachesEdge(r.Text[last], r.Cols)) {
			last++
		}
		if r.At >= 0 && row <= r.Print && r.Print <= last {
			place = Place{Line: len(lines), Offset: r.At}
			for i := row; i < r.Print; i++ {
				place.Offset += len(r.rowPiece(i, last))
			}
		}
		lines, starts = append(lines, r.joinRows(row, last)), append(starts, row)
		row = last + 1
	}
	for _, span := range r.Own.Find(nil, lines, place, nil) {
		dst = r.splitSpan(dst, span, starts[span.Line], first)
	}
	return dst
}

// joinRows makes one line of the rows from row to last. A blank at the end of a row that wraps is
// text.
func (r *Rows) joinRows(row, last int) string {
	if row == last {
		return r.Text[row]
	}
	var b strings.Builder
	for i := row; i <= last; i++ {
		b.WriteString(r.rowPiece(i, last))
	}
	return b.String()
}

// rowPiece returns row i as a part of a line that ends with row last.
func (r *Rows) rowPiece(i, last int) string {
	if text := r.Text[i]; i == last || ReachesEdge(text, r.Cols) {
		return text
	}
	return r.Text[i] + " "
}

// splitSpan appends the parts of a span, one for each of its rows. Its line begins in row.
func (r *Rows) splitSpan(dst []CoverOf, span Span, row, first int) []CoverOf {
	from, to, begins := span.From, span.To, true
	for ; to > 0 && row < len(r.Text); row++ {
		size := len(r.rowPiece(row, -1))
		if from < len(r.Text[row]) && row >= first {
			dst = append(dst, CoverOf{row - first, max(from, 0), min(to, len(r.Text[row])), begins})
			begins = false
		}
		from, to = from-size, to-size
	}
	return dst
}

// ReachesEdge reports whether the text of a row reaches the right edge. If a program breaks a line
// there itself, as editors do, the line goes on in the next row. A wide character without room in
// the last column leaves that column empty.
func ReachesEdge(text string, cols int) bool {
	if len(text) < cols-1 {
		return false
	}
	switch w := displaywidth.String(text); {
	case w >= cols:
		return true
	default:
		return w == cols-1 && len(text) > w
	}
}

// ByteAt returns the byte offset of column col in a row, or -1 if the row ends before it.
func ByteAt(row string, col int) int {
	at := 0
	for g := graphemes.FromString(row); col > 0; col -= displaywidth.String(g.Value()) {
		if !g.Next() {
			return -1
		}
		at += len(g.Value())
	}
	return at
}
