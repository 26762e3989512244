package proxy

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

// frame is the screen as it is now.
func (l *screenLoop) frame(now time.Time) *protocol.Frame {
	cols, rows := l.model.Size()
	if l.privacy.isHidden() {
		return l.hiddenFrame(now, cols, rows)
	}
	cursor, modes := l.cursor(), l.model.Modes()
	f := &protocol.Frame{
		Seq: l.model.Rev(),
		Screen: protocol.Screen{
			Cols: cols, Rows: rows, Lines: l.currentLines(),
			Cursor: protocol.Cursor{Row: cursor.Row, Col: cursor.Col, Visible: cursor.Visible, Shape: shapeOf(cursor.Shape)},
			Alt:    l.model.Alt(), Title: l.title(),
			Modes: protocol.Modes{
				BracketedPaste: modes.BracketedPaste, AppCursor: modes.AppCursor, Mouse: modes.MouseProtocol != 0,
			},
			Scrollback: l.model.HistoryLen(),
		},
		Keyboard: l.keyboard(),
		Settled:  l.pace.Settled(now),
		Blackout: l.privacy.withheld(now),
	}
	if last := l.pace.LastChange(); !last.IsZero() {
		f.IdleMs = now.Sub(last).Milliseconds()
	}
	f.Screen.Hash = l.hash()
	f.Redactions, f.HiddenText = l.redactions(), l.hiddenText()
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

// hiddenFrame is the frame of a screen that the user hides: blank.
func (l *screenLoop) hiddenFrame(now time.Time, cols, rows int) *protocol.Frame {
	return &protocol.Frame{
		Seq: l.model.Rev(), Screen: protocol.Screen{Cols: cols, Rows: rows, Lines: make([]string, rows)},
		Keyboard: l.keyboard(), Settled: true, Blackout: l.privacy.withheld(now),
	}
}

// cursor is the cursor as agents see it.
func (l *screenLoop) cursor() screen.Cursor { return l.privacy.cursor(l.model.Cursor()) }

// answer is the frame that goes into an answer: with what the program is doing, which takes a look at /proc.
func (l *screenLoop) answer(now time.Time) *protocol.Frame {
	l.privacy.look(now)
	f := l.frame(now)
	if !f.Blackout.Hidden() {
		f.Activity = l.activity(now, f.IdleMs)
		if f.Blackout != nil {
			f.Activity.UnreadBytes = 0 // how long a password is
		}
		l.mark(f)
	}
	return f
}

// activity is what the program is doing, as facts with their evidence.
func (l *screenLoop) activity(now time.Time, idleMs int64) *protocol.Activity {
	a := &protocol.Activity{State: "busy", SinceMs: idleMs}
	if l.exit != nil {
		a.State = "exited"
		return a
	}
	a.Foreground = protocol.Visible(l.child.Foreground())
	l.inputWait.report(now, l.model.Rev(), a)
	a.UnreadBytes = l.child.Unread()
	return a
}

// currentLines are the rows. Callers keep the slice, so a changed screen gets a new one.
func (l *screenLoop) currentLines() []string {
	c := &l.lines
	_, rows := l.model.Size()
	if seq := l.model.Rev(); c.seq == seq && len(c.lines) == rows {
		return c.lines
	}
	c.lines, c.seq, c.hash = l.show(c.lines), l.model.Rev(), ""
	return c.lines
}

// hash names the content of the screen: its size, its rows and the cursor.
func (l *screenLoop) hash() string {
	lines := l.currentLines()
	if l.lines.hash != "" {
		return l.lines.hash
	}
	h := fnv.New64a()
	cols, rows := l.model.Size()
	cursor := l.cursor()
	var head []byte
	for _, n := range []int{cols, rows, cursor.Row, cursor.Col} {
		head = strconv.AppendInt(append(head, ' '), int64(n), 10)
	}
	_, _ = h.Write(head)
	for _, line := range lines {
		_, _ = h.Write([]byte{'\n'})
		_, _ = h.Write([]byte(line))
	}
	l.lines.hash = strconv.FormatUint(h.Sum64(), 36)
	return l.lines.hash
}

// view is the loop as the waits and conditions see it.
type view struct{ l *screenLoop }

func (l *screenLoop) view() view { return view{l} }

func (v view) Rev() uint64             { return v.l.model.Rev() }
func (v view) Size() (cols, rows int)  { return v.l.model.Size() }
func (v view) RowText(row int) string  { return v.l.rowText(row) }
func (v view) RowRev(row int) uint64   { return v.l.rowRev(row) }
func (v view) RowWrapped(row int) bool { return v.l.model.RowWrapped(row) }
func (v view) Hash() string            { return v.l.hash() }
func (v view) Foreground() string      { return v.l.child.Foreground() }

func (v view) Cursor() (row, col int) {
	c := v.l.cursor()
	return c.Row, c.Col
}

func (v view) Exited() (code int, yes bool) {
	if v.l.exit == nil {
		return 0, false
	}
	return v.l.exit.Code, true
}

func (v view) Waiting(now time.Time) string {
	if v.l.exit != nil || v.l.privacy.lingers(now) {
		return "" // what the program waits for now cannot be typed
	}
	return v.l.inputWait.word(now, v.l.model.Rev(), now.Sub(v.l.pace.LastChange()))
}
