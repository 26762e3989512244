package observer

import (
	"slices"
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/redact"
)

// Bounds of the remembered screens.
const (
	maxSent   = 32
	sentBytes = 256 << 10
)

// sentScreens remembers the screens that agents were shown last, so that an answer can say what has
// changed since one of them. Rows are compared with what was sent, not with what the model once
// held. The observer's goroutine owns it.
type sentScreens struct {
	screens []sentScreen // oldest first
	bytes   int
}

// sentScreen is a screen that an agent was shown. It shares its rows with the frame, which must not
// change them.
type sentScreen struct {
	seq   uint64
	cols  int
	lines []string
	line  uint64 // history number of its first row
	bytes int
}

// remember adds a screen and drops the oldest ones over the limits.
func (r *sentScreens) remember(s sentScreen) {
	if r.findScreen(s.seq) != nil {
		return
	}
	for _, line := range s.lines {
		s.bytes += len(line) + 16
	}
	r.screens, r.bytes = append(r.screens, s), r.bytes+s.bytes
	for len(r.screens) > maxSent || r.bytes > sentBytes && len(r.screens) > 1 {
		r.bytes -= r.screens[0].bytes
		r.screens = slices.Delete(r.screens, 0, 1)
	}
}

// blank is the screen before the first output: everything is new to its reader. It has no rows,
// since the program may begin with blank ones.
var blank = sentScreen{seq: protocol.FirstSeq}

// findScreen returns the screen with a revision, or nil. It is valid until the next remember.
func (r *sentScreens) findScreen(seq uint64) *sentScreen {
	if seq == protocol.FirstSeq {
		return &blank
	}
	for i := range r.screens {
		if r.screens[i].seq == seq {
			return &r.screens[i]
		}
	}
	return nil
}

// completeFrame adds highlights, pictures, wrapped rows and the history number of the rows to a
// frame for an answer, and remembers it.
func (o *Observer) completeFrame(f *protocol.Frame) {
	f.Line = o.firstScreenLine()
	for _, h := range o.model.Highlights(nil, protocol.MaxHighlights) {
		if text := highlightText(f.Screen.Lines[h.Row], h); text != "" || h.Empty {
			f.Highlights = append(f.Highlights,
				protocol.Highlight{
					Row:  h.Row,
					Rows: pluralRows(h.Rows),
					Col:  h.Col,
					Cols: h.Cols,
					Text: text,
				})
		}
	}
	for _, p := range o.model.Pictures() {
		if len(f.Pictures) == protocol.MaxPictures {
			break
		}
		f.Pictures = append(f.Pictures,
			protocol.Picture{Kind: p.Kind, Row: p.Row, Col: p.Col, Rows: p.Rows, Cols: p.Cols})
	}
	for row := range f.Screen.Rows {
		if o.model.RowWrapped(row) {
			f.Wrapped = append(f.Wrapped, row)
		}
	}
	o.sent.remember(
		sentScreen{seq: f.Seq, cols: f.Screen.Cols, lines: f.Screen.Lines, line: f.Line},
	)
}

// pluralRows returns a number of rows, or 0 if it is one.
func pluralRows(rows int) int {
	if rows == 1 {
		return 0
	}
	return rows
}

// highlightText returns the text of a highlight in a row as shown, at most MaxHighlight characters.
func highlightText(row string, h screen.Highlight) string {
	from := redact.ByteAt(row, h.Col)
	if from < 0 {
		return ""
	}
	row = row[from:]
	if to := redact.ByteAt(row, h.Cols); to >= 0 {
		row = row[:to]
	}
	row = strings.TrimSpace(row)
	if r := []rune(row); len(r) > protocol.MaxHighlight {
		row = string(r[:protocol.MaxHighlight])
	}
	return row
}

// shrinkToDelta replaces the rows of f by the changes since the screen that its reader has seen, if
// those are shorter. moves means that the reader understands moved rows: it gets them, and Since is
// set even if all rows are sent. seen may be nil.
func shrinkToDelta(f *protocol.Frame, seen *sentScreen, moves bool) {
	switch {
	case seen == &blank && moves:
		if f.Since = blank.seq; f.Seq == blank.seq {
			f.Screen.Lines = nil
		}
		return
	case seen == nil || seen.cols != f.Screen.Cols || len(seen.lines) != f.Screen.Rows:
		return
	}
	moved, changed, shorter := protocol.Delta(seen.lines, f.Screen.Lines, moves)
	if shorter || moves {
		f.Since = seen.seq
	}
	if shorter {
		f.Moved, f.Changed, f.Screen.Lines = moved, changed, nil
	}
}
