package protocol

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// Bounds of a history that outlives its program.
const (
	// MaxPageBytes is the longest text of one page.
	MaxPageBytes = 256 << 10
	// MaxOlderBytes bounds all older pages of a history together, compressed. With them a
	// SessionClose is one message.
	MaxOlderBytes = 512 << 10
	maxPages      = 256
	// maxPastSeen bounds the screens of a history whose following lines are known.
	maxPastSeen = 64
)

// Past holds the rows of a history, as agents may see them. A gateway answers reads from it after
// the program has ended.
type Past struct {
	// Text holds the newest rows, separated by line feeds. FirstLine and NextLine are the lasting
	// numbers of the first of them and of the line after the last, which is the first row of the
	// main screen.
	Text      string `json:"text"`
	FirstLine uint64 `json:"firstLine"`
	NextLine  uint64 `json:"nextLine"`
	// HiddenText lists the rows of Text that hold text which a person cannot see.
	HiddenText []int `json:"hiddenText,omitempty"`
	// Wraps lists the rows that continue in the next one: those of Text, then those of the last
	// screen, if it is the main one.
	Wraps []Wrap `json:"wraps,omitempty"`
	// Seen lists the screens that agents were shown last.
	Seen []Seen `json:"seen,omitempty"`
	// Older holds the rows before FirstLine, the oldest page first. Gateways of earlier versions
	// ignore it.
	Older []Page `json:"older,omitempty"`
	// Gone is how many rows before those are no longer kept.
	Gone uint64 `json:"gone,omitempty"`
}

// Seen is a screen that an agent was shown: Line is the first line after it that it has not seen.
type Seen struct {
	Seq  uint64 `json:"seq"`
	Line uint64 `json:"line"`
}

// Page holds rows of a history, compressed: those from FirstLine to before NextLine, at most
// MaxHistory of them.
type Page struct {
	FirstLine uint64 `json:"firstLine"`
	NextLine  uint64 `json:"nextLine"`
	// HiddenText lists the rows, from 0, that hold text which a person cannot see.
	HiddenText []int `json:"hiddenText,omitempty"`
	// Wraps are the rows that continue in the next one.
	Wraps []Wrap `json:"wraps,omitempty"`
	// TextB64 holds the rows, separated by line feeds, as raw DEFLATE (RFC 1951).
	TextB64 []byte `json:"textB64"`
}

// NewPage makes a page of rows.
func NewPage(e Excerpt) Page {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err == nil {
		_, _ = io.WriteString(w, strings.Join(e.Rows, "\n")) // a buffer takes everything
		_ = w.Close()
	}
	return Page{
		FirstLine:  e.First,
		NextLine:   e.First + uint64(len(e.Rows)),
		HiddenText: e.Hidden,
		Wraps:      e.Wraps,
		TextB64:    b.Bytes(),
	}
}

// Size estimates the bytes that p takes.
func (p *Page) Size() int {
	return len(p.TextB64) + 8*len(p.HiddenText) + wrapSize*len(p.Wraps) + 64
}

// wrapSize is the typical length of a [Wrap] in JSON.
const wrapSize = 12

// Rows returns the rows of p. It fails if they do not match p's other fields.
func (p *Page) Rows() ([]string, error) {
	inflated := flate.NewReader(bytes.NewReader(p.TextB64))
	text, err := io.ReadAll(io.LimitReader(inflated, MaxPageBytes+1))
	switch {
	case err != nil:
		return nil, errors.New("is not DEFLATE data")
	case len(text) > MaxPageBytes:
		return nil, errors.New("is over the limit of a page")
	case !utf8.Valid(text):
		return nil, errors.New("is not UTF-8")
	case p.NextLine <= p.FirstLine || p.NextLine-p.FirstLine > MaxHistory ||
		uint64(bytes.Count(text, []byte{
			'\n',
		})) != p.NextLine-p.FirstLine-1: //nolint:gosec // not negative
		return nil, errors.New("has another number of rows than its line numbers say, or too many")
	}
	return strings.Split(string(text), "\n"), nil
}

// Oldest returns the number of the oldest row that p holds, or of the next one if p is empty.
func (p *Past) Oldest() uint64 {
	if len(p.Older) > 0 {
		return p.Older[0].FirstLine
	}
	return p.FirstLine
}

// Size estimates the bytes that p takes.
func (p *Past) Size() int {
	if p == nil {
		return 0
	}
	n := len(p.Text) + 8*len(p.HiddenText) + wrapSize*len(p.Wraps) + 16*len(p.Seen)
	for i := range p.Older {
		n += p.Older[i].Size()
	}
	return n
}

// Rows returns the rows from line from to before line to; p must hold both. If to is NextLine, the
// result's Wraps include those of the screen that follows. A page that was not checked and is
// damaged counts as blank rows.
func (p *Past) Rows(from, to uint64) Excerpt {
	out := Excerpt{First: from}
	add := func(page *Page, after int, text func() []string) {
		low, high := max(from, page.FirstLine), min(to, page.NextLine)
		if low > high || low == high && after == 0 {
			return
		}
		at := func(row int) (int, bool) {
			line := page.FirstLine + uint64(max(0, row))                      //nolint:gosec // not negative
			return int(line - from), low <= line && line < high+uint64(after) //nolint:gosec // rows of a message
		}
		for _, row := range page.HiddenText {
			if i, ok := at(row); ok {
				out.Hidden = append(out.Hidden, i)
			}
		}
		for _, w := range page.Wraps {
			if i, ok := at(w.Row); ok {
				out.Wraps = append(out.Wraps, Wrap{Row: i, Blanks: w.Blanks})
			}
		}
		if low < high {
			out.Rows = append(out.Rows, text()[low-page.FirstLine:high-page.FirstLine]...)
		}
	}
	for i := range p.Older {
		page := &p.Older[i]
		add(page, 0, func() []string {
			all, err := page.Rows()
			if err != nil {
				all = make([]string, page.NextLine-page.FirstLine)
			}
			return all
		})
	}
	newest := &Page{FirstLine: p.FirstLine, NextLine: p.NextLine, HiddenText: p.HiddenText, Wraps: p.Wraps}
	after := 0
	if to == p.NextLine {
		after = MaxSize
	}
	add(newest, after, func() []string { return strings.Split(p.Text, "\n") })
	return out
}

// Unseen returns the first line that an agent has not seen if the last screen that it was shown has
// the revision seq; known is false if p does not have that screen.
func (p *Past) Unseen(seq uint64) (line uint64, known bool) {
	if seq == FirstSeq {
		return 0, true
	}
	for _, seen := range p.Seen {
		if seen.Seq == seq {
			return min(seen.Line, p.NextLine), true
		}
	}
	return 0, false
}

// checkPast checks a history: its rows must be as many as its line numbers say.
func (c *checks) checkPast(p *Past) *checks {
	if p == nil {
		return c
	}
	rows := 0
	if p.NextLine > p.FirstLine && p.NextLine-p.FirstLine <= MaxHistory {
		rows = strings.Count(p.Text, "\n") + 1
	}
	if p.FirstLine+uint64(rows) != p.NextLine ||
		rows == 0 && p.Text != "" { //nolint:gosec // not negative
		c.fail(CodeBadMessage, "past",
			"its lines from %d to before %d are not what its text holds, or over the limit of %d",
			p.FirstLine, p.NextLine, MaxHistory)
	}
	if len(p.Seen) > maxPastSeen {
		c.fail(CodeTooLarge, "past.seen", "%d screens are over the limit of %d",
			len(p.Seen), maxPastSeen)
	}
	return c.checkHidden("past.hiddenText", p.HiddenText, rows).
		checkWraps("past.wraps", p.Wraps, rows+MaxSize).checkOlder(p)
}

// checkWraps checks that the rows are in order, each once, and below all.
func (c *checks) checkWraps(field string, wraps []Wrap, all int) *checks {
	least := 0
	for _, w := range wraps {
		c.between(field+".row", w.Row, least, all-1).
			between(field+".blanks", w.Blanks, 0, MaxSize)
		least = w.Row + 1
	}
	return c
}

// checkOlder checks the pages of a history: each must begin where the previous one ends, and the
// last one must end where p begins.
func (c *checks) checkOlder(p *Past) *checks {
	if len(p.Older) > maxPages {
		c.fail(CodeTooLarge, "past.older", "%d pages are over the limit of %d",
			len(p.Older), maxPages)
		return c
	}
	size := 0
	for i := range p.Older {
		page, next := &p.Older[i], p.FirstLine
		if i+1 < len(p.Older) {
			next = p.Older[i+1].FirstLine
		}
		rows, err := page.Rows()
		switch size += len(page.TextB64); {
		case err != nil:
			c.fail(CodeBadMessage, "past.older.textB64", "%s", err)
		case page.NextLine != next:
			c.fail(CodeBadMessage, "past.older.nextLine",
				"is %d, and the rows after it begin with line %d",
				page.NextLine, next)
		case size > MaxOlderBytes:
			c.fail(CodeTooLarge, "past.older", "is over the limit of %d bytes", MaxOlderBytes)
			return c
		}
		c.checkHidden("past.older.hiddenText", page.HiddenText, len(rows)).
			checkWraps("past.older.wraps", page.Wraps, len(rows))
	}
	return c
}

// MaxAnswerBytes bounds the rows of history in one answer, which must fit into a single message: an
// agent asks for the rest by line number.
const MaxAnswerBytes = 256 << 10

// FitRows returns how many rows fit into most bytes with their line ends: of the first ones if
// first is set, else of the last ones.
func FitRows(rows []string, first bool, most int) (n int) {
	for size := 0; n < len(rows); n++ {
		row := rows[len(rows)-1-n]
		if first {
			row = rows[n]
		}
		if size += len(row) + 1; size > most {
			break
		}
	}
	return n
}
