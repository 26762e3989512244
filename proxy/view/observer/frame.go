package observer

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/screen"
)

// lineCache keeps the rows as shown between frames, so that a frame costs as much as has changed.
type lineCache struct {
	lines []string
	seq   uint64
	hash  string
}

// Frame returns the screen as agents may see it now.
func (o *Observer) Frame(now time.Time) *protocol.Frame {
	cols, rows := o.model.Size()
	if o.privacy.isHidden() {
		return o.hiddenFrame(now, cols, rows)
	}
	cursor, modes := o.shownCursor(), o.model.Modes()
	f := &protocol.Frame{
		Seq: o.model.Rev(),
		Screen: protocol.Screen{
			Cols:  cols,
			Rows:  rows,
			Lines: o.currentLines(),
			Cursor: protocol.Cursor{
				Row:     cursor.Row,
				Col:     cursor.Col,
				Visible: cursor.Visible,
				Shape:   protocol.CursorShape(cursor.Shape),
			},
			Alt:      o.model.Alt(),
			Title:    o.shownTitle(),
			Progress: wireProgress(o.model.Progress()),
			Modes: protocol.Modes{
				BracketedPaste: modes.BracketedPaste,
				AppCursor:      modes.AppCursor,
				Mouse:          modes.MouseProtocol != 0,
			},
			Scrollback: o.model.HistoryLen(),
		},
		Keyboard: o.agents.Session.Keyboard(),
		Settled:  o.exit != nil || o.throttle.Settled(now), // no change follows the end
		Starting: o.exit == nil && o.isSilentStart(now),
		Blackout: o.privacy.currentBlackout(now),
	}
	if last := o.throttle.LastChange(); !last.IsZero() {
		f.IdleMs = now.Sub(last).Milliseconds()
	}
	f.Screen.Hash = o.screenHash()
	f.Redactions, f.HiddenText = o.countSecrets(), o.hiddenText()
	return f
}

// wireProgress translates a progress to the wire, and the absence of one to nil.
func wireProgress(p screen.Progress) *protocol.Progress {
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

// hiddenFrame returns the blank frame of a screen that the user hides.
func (o *Observer) hiddenFrame(now time.Time, cols, rows int) *protocol.Frame {
	return &protocol.Frame{
		Seq:      o.model.Rev(),
		Screen:   protocol.Screen{Cols: cols, Rows: rows, Lines: make([]string, rows)},
		Keyboard: o.agents.Session.Keyboard(),
		Settled:  true,
		Blackout: o.privacy.currentBlackout(now),
	}
}

// shownCursor returns the cursor as agents see it.
func (o *Observer) shownCursor() screen.Cursor { return o.privacy.shownCursor(o.model.Cursor()) }

// currentLines returns the rows. Callers keep the slice, so a changed screen gets a new one.
func (v *shownScreen) currentLines() []string {
	c := &v.lines
	_, rows := v.model.Size()
	if seq := v.model.Rev(); c.seq == seq && len(c.lines) == rows {
		return c.lines
	}
	c.lines, c.seq, c.hash = v.refreshRows(c.lines), v.model.Rev(), ""
	return c.lines
}

// screenHash names the content of the screen: its size, rows and cursor.
func (o *Observer) screenHash() string {
	lines := o.currentLines()
	if o.lines.hash != "" {
		return o.lines.hash
	}
	cols, rows := o.model.Size()
	cursor := o.shownCursor()
	o.lines.hash = protocol.HashScreen(
		cols, rows, protocol.Cursor{Row: cursor.Row, Col: cursor.Col}, lines,
	)
	return o.lines.hash
}
