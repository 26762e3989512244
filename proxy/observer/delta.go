package observer

import (
	"slices"
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/redact"
	"terminalproxy/proxy/screen"
)

// Bounds of the screens that are remembered.
const (
	sentMost  = 32
	sentBytes = 256 << 10
)

// sentScreens keeps the screens that agents were shown last, so that an answer can say what has changed since one of them: rows
// are compared with what was sent, not with what the model once held. It belongs to the observer's goroutine.
type sentScreens struct {
	screens []sentScreen // oldest first
	bytes   int
}

// sentScreen is a screen as an agent was shown it. The rows are shared with the frame, which nobody changes.
type sentScreen struct {
	seq   uint64
	cols  int
	lines []string
	line  uint64 // the lasting number of its first row
	bytes int
}

// keep remembers a screen, at the cost of the oldest ones.
func (r *sentScreens) keep(s sentScreen) {
	if r.at(s.seq) != nil {
		return
	}
	for _, line := range s.lines {
		s.bytes += len(line) + 16
	}
	r.screens, r.bytes = append(r.screens, s), r.bytes+s.bytes
	for len(r.screens) > sentMost || r.bytes > sentBytes && len(r.screens) > 1 {
		r.bytes -= r.screens[0].bytes
		r.screens = slices.Delete(r.screens, 0, 1)
	}
}

// blank is the screen before anything was printed, from which on everything is new. It has no rows: the program may have begun
// with blank ones.
var blank = sentScreen{seq: protocol.FirstSeq}

// at is the screen with a revision, nil if it is not remembered. It is good until the next keep.
func (r *sentScreens) at(seq uint64) *sentScreen {
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

// mark completes a frame for an answer, with what stands out, which pictures there are and where its rows are in the history, and remembers it.
func (o *Observer) mark(f *protocol.Frame) {
	f.Line = o.line()
	for _, h := range o.model.Highlights(nil, protocol.MaxHighlights) {
		if text := highlighted(f.Screen.Lines[h.Row], h); text != "" {
			f.Highlights = append(f.Highlights, protocol.Highlight{Row: h.Row, Rows: several(h.Rows), Col: h.Col, Cols: h.Cols, Text: text})
		}
	}
	for _, p := range o.model.Pictures() {
		if len(f.Pictures) == protocol.MaxPictures {
			break
		}
		f.Pictures = append(f.Pictures, protocol.Picture{Kind: p.Kind, Row: p.Row, Col: p.Col, Rows: p.Rows, Cols: p.Cols})
	}
	o.sent.keep(sentScreen{seq: f.Seq, cols: f.Screen.Cols, lines: f.Screen.Lines, line: f.Line})
}

// several is a number of rows where there is more than one.
func several(rows int) int {
	if rows == 1 {
		return 0
	}
	return rows
}

// highlighted is the text of a highlight in a row as shown, at most MaxHighlight characters.
func highlighted(row string, h screen.Highlight) string {
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

// reduce replaces the rows of f by what changed for who has seen a screen, where that is shorter: by how they moved, too, for a
// reader who knows of that (moves). To such a one it says in f that the screen is known. seen may be nil.
func (o *Observer) reduce(f *protocol.Frame, seen *sentScreen, moves bool) {
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
