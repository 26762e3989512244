package observer

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/snapshot"
)

// viewEvery is the fastest rhythm of rows for those who look.
const viewEvery = 33 * time.Millisecond

// viewing is the rows for people who look at the screen from elsewhere. While nobody does, none are made and no timer runs. It
// belongs to the observer's goroutine.
type viewing struct {
	rhythm *snapshot.Throttle // nil while nobody looks
	count  uint64             // of the messages
	last   *protocol.Rows
	revs   []uint64 // in which the rows of last changed, as shown
	typed  *protocol.AgentTyped
}

// View says that somebody looks at the screen, who gets it at once, or that nobody does any more.
func (o *Observer) View(now time.Time, on bool) {
	v := &o.viewing
	v.rhythm, v.last, v.revs, v.typed = nil, nil, nil, nil
	if on {
		v.rhythm = snapshot.NewThrottle(viewEvery, 0)
		v.rhythm.Changed(now)
	}
}

// AgentTyped tells those who look what an agent typed just now, and nobody who comes later.
func (o *Observer) AgentTyped(now time.Time, agent, text string) {
	v := &o.viewing
	if v.rhythm == nil {
		return
	}
	next := &protocol.AgentTyped{AgentName: agent, Text: text, Count: 1}
	if v.typed != nil {
		next.Count = v.typed.Count + 1
	}
	v.typed = next
	v.rhythm.Changed(now)
}

// changed notes that who looks would see a difference.
func (o *Observer) changed(now time.Time) {
	o.throttle.Changed(now)
	if v := &o.viewing; v.rhythm != nil {
		v.rhythm.Changed(now)
	}
}

// hold says whether the program is in the middle of drawing.
func (o *Observer) hold(now time.Time, on bool) {
	o.throttle.Hold(now, on)
	if v := &o.viewing; v.rhythm != nil {
		v.rhythm.Hold(now, on)
	}
}

// viewed sends the rows if they are due and differ from what was sent last; the end is always due.
func (o *Observer) viewed(now time.Time) {
	v := &o.viewing
	if v.rhythm == nil || o.exit == nil && !v.rhythm.Due(now) {
		return
	}
	v.rhythm.Sent(now)
	m := o.rows(o.Frame(now))
	if v.last != nil {
		if m.SessionID, m.Seq = v.last.SessionID, v.last.Seq; reflect.DeepEqual(v.last, m) {
			return
		}
	}
	v.count++
	m.Seq = v.count
	v.last = m
	o.agents.Session.Viewed(m)
}

// rows is a frame for those who look.
func (o *Observer) rows(f *protocol.Frame) *protocol.Rows {
	v, s := &o.viewing, &f.Screen
	m := &protocol.Rows{
		Rev: f.Seq, Cols: s.Cols, Rows: s.Rows, Cursor: s.Cursor, Lines: s.Lines,
		State: &protocol.ViewState{Title: s.Title, Alt: s.Alt, Keyboard: f.Keyboard},
	}
	if f.Blackout != nil {
		w := *f.Blackout
		w.SinceMs = 0 // it grows by itself
		m.State.Blackout = &w
		v.typed = nil // it led here
	}
	m.State.Typed = v.typed
	if f.Blackout.ByUser() {
		v.revs = nil
		return m
	}
	modes := o.model.Modes()
	m.Line = o.line()
	m.State.Palette, m.State.Clusters, m.State.Reverse = o.palette(), modes.Graphemes, modes.Reverse
	o.paint(m)
	if tooLarge(m.Lines) {
		m.Lines, v.revs = s.Lines, nil
	}
	return m
}

// paint puts the rows of the screen with their colours into a message. Those that did not change are those of the message before.
func (o *Observer) paint(m *protocol.Rows) {
	v := &o.viewing
	known := v.last != nil && v.last.Cols == m.Cols && len(v.revs) == m.Rows
	m.Lines, v.revs = make([]string, m.Rows), slices.Grow(v.revs[:0], m.Rows)[:m.Rows]
	for i := range m.Lines {
		rev := o.rowRev(i)
		if known && v.revs[i] == rev {
			m.Lines[i] = v.last.Lines[i]
		} else {
			m.Lines[i] = o.colouredRow(i)
		}
		v.revs[i] = rev
	}
}

// roomForRows is how many bytes the rows of a message may take: a frame that is too large would end the connection. A picture in cells
// of 24-bit colours on a large terminal is more, and goes without its colours.
const roomForRows = protocol.MaxMessage - 64<<10

func tooLarge(lines []string) bool {
	size := 0
	for _, l := range lines {
		size += len(l) + len(`"",`) + 5*strings.Count(l, "\x1b") + strings.Count(l, `"`) + strings.Count(l, `\`) // as JSON has them
	}
	return size > roomForRows
}
