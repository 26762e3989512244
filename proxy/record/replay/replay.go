// Package replay shows recordings: it plays an asciicast to a terminal model and tells what stands
// on it from moment to moment, as a live session is shown to those who look: rows with SGR
// sequences and no others, what looks like a secret covered, and nothing that a person cannot see.
// It must not know who asks, nor where recordings lie.
package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/record"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/redact"
)

const (
	// most is how many bytes of frames one answer has, unless a single frame has more; some room is
	// for what stands around them.
	most = 60 << 10
	// patience bounds the time for one answer: a flood is shown piece by piece.
	patience = 300 * time.Millisecond
	// scrollback is how many rows are kept above the screen: a secret may begin there. above is how
	// many of them are looked at.
	scrollback, above = 128, 64
	// everyLeast is the least time between two frames.
	everyLeast = 33 * time.Millisecond
	// looks is after how many events it is looked whether anybody still waits.
	looks = 256
)

// Player plays one recording. It holds a terminal and one event, however long the recording is. One
// goroutine may use it.
type Player struct {
	file  io.ReaderAt
	own   *redact.Own
	tape  *record.Tape // nil before the first read, and after a failure
	model *screen.Screen
	now   time.Duration // of the recording: what was before, and then, is on the model
	next  *record.Event // read from the tape and still to come
	// patience is the constant; tests have more.
	patience time.Duration
}

// New plays a file. own holds the user's rules about secrets, and may be nil.
func New(file io.ReaderAt, own *redact.Own) *Player {
	return &Player{file: file, own: own, patience: patience}
}

// changesScreen reports whether events with a code change the screen.
func changesScreen(code byte) bool { return code == record.CodeOutput || code == record.CodeResize }

// Read adds to r the screens that m asks for. The error says that the recording cannot be read on,
// or why ctx ended.
func (p *Player) Read(ctx context.Context, m *protocol.RecordsRead, r *protocol.RecordsReadResult) error {
	from := time.Duration(m.FromMs) * time.Millisecond
	every := max(time.Duration(m.EveryMs)*time.Millisecond, everyLeast)
	more, err := p.seek(ctx, from)
	if err != nil {
		return err
	}
	last := p.addFrame(r, nil)
	size := sizeOf(&r.Frames[0])
	for until := time.Now().Add(p.patience); more && time.Now().Before(until); {
		at := p.next.At
		if more, err = p.playUntil(ctx, at+every-1); err != nil {
			p.tape = nil
			return err
		}
		n := len(r.Frames)
		if last = p.addFrame(r, last); len(r.Frames) == n {
			continue
		}
		if size += sizeOf(&r.Frames[n]); size > most {
			break
		}
	}
	r.NextMs, r.End = p.now.Milliseconds(), !more
	return nil
}

// seek plays to a time, or goes back to it, and reports whether there is more behind it. The error
// is as that of Read.
func (p *Player) seek(ctx context.Context, to time.Duration) (more bool, err error) {
	if p.tape == nil || to.Milliseconds() < p.now.Milliseconds() {
		if err := p.startAgain(); err != nil {
			return false, err
		}
	}
	if more, err = p.playUntil(ctx, to); err != nil {
		p.tape = nil
		return false, err
	}
	if more {
		p.now = max(p.now, to)
	}
	return more, nil
}

// sizeOf returns how many bytes a frame takes.
func sizeOf(f *protocol.RecordFrame) int {
	b, err := json.Marshal(f)
	if err != nil {
		return most
	}
	return len(b)
}

// startAgain opens the tape at its beginning, with an empty model.
func (p *Player) startAgain() (err error) {
	if p.tape, err = record.NewTape(p.file); err != nil {
		return err
	}
	p.now, p.next = 0, nil
	header := p.tape.Header
	p.model = screen.New(screen.Config{Cols: header.Cols, Rows: header.Rows, Scrollback: scrollback})
	return nil
}

// playUntil feeds the model with the recording up to a time, and reports whether there is more.
func (p *Player) playUntil(ctx context.Context, until time.Duration) (more bool, err error) {
	for n := 0; ; n++ {
		if n%looks == 0 && ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if p.next == nil {
			e, err := p.tape.Next(changesScreen)
			if errors.Is(err, io.EOF) {
				return false, nil
			}
			if err != nil {
				return false, err
			}
			p.next = &e
		}
		if p.next.At > until {
			return true, nil
		}
		p.feedModel(p.next)
		p.now, p.next = p.next.At, nil
	}
}

func (p *Player) feedModel(e *record.Event) {
	switch e.Code {
	case record.CodeOutput:
		p.model.Feed([]byte(e.Data))
	case record.CodeResize:
		var cols, rows int
		if n, _ := fmt.Sscanf(e.Data, "%dx%d", &cols, &rows); n == 2 {
			p.model.Resize(cols, rows)
		}
	}
}

// addFrame adds the screen to r as a difference to the last one, which may be nil, unless it is the
// same. It returns the screen.
func (p *Player) addFrame(r *protocol.RecordsReadResult, last *protocol.Rows) *protocol.Rows {
	m := p.shownRows(r.RecordID)
	if last != nil {
		m.Seq = last.Seq
		if reflect.DeepEqual(last, m) {
			return last
		}
	}
	m.Seq++
	frame := protocol.RecordFrame{AtMs: p.now.Milliseconds(), Rows: m.Difference(last)}
	r.Frames = append(r.Frames, frame)
	return m
}

// shownRows returns the screen as it is shown.
func (p *Player) shownRows(id string) *protocol.Rows {
	s, modes, c := p.model, p.model.Modes(), p.model.Cursor()
	m := &protocol.Rows{
		SessionID: id,
		Rev:       s.Rev(),
		Cursor:    protocol.Cursor{Row: c.Row, Col: c.Col, Visible: c.Visible, Shape: protocol.CursorShape(c.Shape)},
		State:     &protocol.ViewState{Alt: s.Alt(), Clusters: modes.Graphemes, Reverse: modes.Reverse},
	}
	m.State.Title, _ = p.own.Text(protocol.Visible(s.Title()), -1)
	s.EachPaletteChange(func(name string, r, g, b uint8) {
		rgb := fmt.Sprintf("#%02x%02x%02x", r, g, b)
		m.State.Palette = append(m.State.Palette, protocol.Color{Name: name, RGB: rgb})
	})
	m.Cols, m.Rows = s.Size()
	m.Lines = make([]string, m.Rows)
	for i := range m.Lines {
		m.Lines[i] = protocol.VisibleRow(string(s.AppendRowANSI(nil, i)))
		if s.RowWrapped(i) {
			m.State.Wraps = append(m.State.Wraps, protocol.Wrap{Row: i, Blanks: s.RowBlanks(i)})
		}
	}
	p.coverSecrets(m.Lines)
	return m
}

// coverSecrets covers text that looks like a secret.
func (p *Player) coverSecrets(lines []string) {
	s := p.model
	cols, _ := s.Size()
	length := s.HistoryLen()
	start := length
	for !s.Alt() && start > 0 && length-start < above && s.HistoryWrapped(start-1) {
		start--
	}
	before := length - start
	var text []string
	for i := start; i < length; i++ {
		text = append(text, protocol.VisibleRow(s.HistoryText(i)))
	}
	for i := range lines {
		text = append(text, protocol.VisibleRow(s.RowText(i)))
	}
	c := s.Cursor() // the text being printed there may become a secret
	col := c.Col
	if c.Pending {
		col++
	}
	at := redact.ByteAt(text[before+c.Row], col)
	set := redact.Rows{Own: p.own, Text: text, Cols: cols, Print: before + c.Row, At: at, Wrapped: func(i int) bool {
		if i < before {
			return s.HistoryWrapped(start + i)
		}
		return s.RowWrapped(i - before)
	}}
	for _, c := range set.AppendCovers(nil, before) {
		lines[c.Row] = c.ANSI(lines[c.Row], text[before+c.Row])
	}
}
