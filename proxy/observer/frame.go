package observer

import (
	"hash/fnv"
	"strconv"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/screen"
)

// lineCache keeps what is shown of the rows between frames: a frame costs what changed, not what is shown.
type lineCache struct {
	lines []string
	seq   uint64
	hash  string
}

// Frame is the screen as agents may see it now.
func (o *Observer) Frame(now time.Time) *protocol.Frame {
	cols, rows := o.model.Size()
	if o.privacy.isHidden() {
		return o.hiddenFrame(now, cols, rows)
	}
	cursor, modes := o.cursor(), o.model.Modes()
	f := &protocol.Frame{
		Seq: o.model.Rev(),
		Screen: protocol.Screen{
			Cols: cols, Rows: rows, Lines: o.currentLines(),
			Cursor: protocol.Cursor{Row: cursor.Row, Col: cursor.Col, Visible: cursor.Visible, Shape: shapeOf(cursor.Shape)},
			Alt:    o.model.Alt(), Title: o.title(), Progress: progressOf(o.model.Progress()),
			Modes: protocol.Modes{
				BracketedPaste: modes.BracketedPaste, AppCursor: modes.AppCursor, Mouse: modes.MouseProtocol != 0,
			},
			Scrollback: o.model.HistoryLen(),
		},
		Keyboard: o.agents.Session.Keyboard(),
		Settled:  o.exit != nil || o.throttle.Settled(now), // nothing follows the end
		Starting: o.exit == nil && o.starting(now),
		Blackout: o.privacy.blackout(now),
	}
	if last := o.throttle.LastChange(); !last.IsZero() {
		f.IdleMs = now.Sub(last).Milliseconds()
	}
	f.Screen.Hash = o.hash()
	f.Redactions, f.HiddenText = o.redactions(), o.hiddenText()
	return f
}

// shapeOf is the shape of a cursor on the wire, from the number of DECSCUSR.
func shapeOf(n int) string {
	switch n {
	case 3, 4:
		return protocol.CursorUnderline
	case 5, 6:
		return protocol.CursorBar
	}
	return ""
}

// progressOf is a progress on the wire, nil for none.
func progressOf(p screen.Progress) *protocol.Progress {
	word := ""
	switch p.State {
	case screen.NoProgress:
		return nil
	case screen.ProgressRuns:
		word = protocol.ProgressRuns
	case screen.ProgressFailed:
		word = protocol.ProgressFailed
	case screen.ProgressUnknown:
		word = protocol.ProgressUnknown
	case screen.ProgressPaused:
		word = protocol.ProgressPaused
	}
	return &protocol.Progress{State: word, Percent: p.Percent}
}

// hiddenFrame is the frame of a screen that the user hides: blank.
func (o *Observer) hiddenFrame(now time.Time, cols, rows int) *protocol.Frame {
	return &protocol.Frame{
		Seq: o.model.Rev(), Screen: protocol.Screen{Cols: cols, Rows: rows, Lines: make([]string, rows)},
		Keyboard: o.agents.Session.Keyboard(), Settled: true, Blackout: o.privacy.blackout(now),
	}
}

// cursor is the cursor as agents see it.
func (o *Observer) cursor() screen.Cursor { return o.privacy.cursor(o.model.Cursor()) }

// currentLines are the rows. Callers keep the slice, so a changed screen gets a new one.
func (o *Observer) currentLines() []string {
	c := &o.lines
	_, rows := o.model.Size()
	if seq := o.model.Rev(); c.seq == seq && len(c.lines) == rows {
		return c.lines
	}
	c.lines, c.seq, c.hash = o.show(c.lines), o.model.Rev(), ""
	return c.lines
}

// hash names the content of the screen: its size, its rows and the cursor.
func (o *Observer) hash() string {
	lines := o.currentLines()
	if o.lines.hash != "" {
		return o.lines.hash
	}
	h := fnv.New64a()
	cols, rows := o.model.Size()
	cursor := o.cursor()
	var head []byte
	for _, n := range []int{cols, rows, cursor.Row, cursor.Col} {
		head = strconv.AppendInt(append(head, ' '), int64(n), 10)
	}
	_, _ = h.Write(head)
	for _, line := range lines {
		_, _ = h.Write([]byte{'\n'})
		_, _ = h.Write([]byte(line))
	}
	o.lines.hash = strconv.FormatUint(h.Sum64(), 36)
	return o.lines.hash
}
