package observer

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/snapshot"
)

// viewEvery is the shortest time between two messages of rows to viewers.
const viewEvery = 33 * time.Millisecond

// rowsStream makes the rows for viewers, people who look at the screen from elsewhere. Without
// viewers it makes no rows and runs no timer. The observer's goroutine owns it.
type rowsStream struct {
	rhythm *snapshot.Throttle // nil without viewers
	count  uint64             // messages sent
	last   *protocol.Rows
	revs   []uint64 // revisions in which the rows of last changed, as shown
	typed  *protocol.AgentTyped
}

// SetViewed notes whether anyone views the screen. The first viewer gets it at once.
func (r *rhythm) SetViewed(now time.Time, on bool) {
	v := &r.viewing
	v.rhythm, v.last, v.revs, v.typed = nil, nil, nil, nil
	if on {
		v.rhythm = snapshot.NewThrottle(viewEvery, 0)
		v.rhythm.NoteChange(now)
	}
}

// NoteAgentTyped shows the present viewers what an agent typed just now. Later ones do not see it.
func (r *rhythm) NoteAgentTyped(now time.Time, agent, text string) {
	v := &r.viewing
	if v.rhythm == nil {
		return
	}
	next := &protocol.AgentTyped{AgentName: agent, Text: text, Count: 1}
	if v.typed != nil {
		next.Count = v.typed.Count + 1
	}
	v.typed = next
	v.rhythm.NoteChange(now)
}

// markChanged notes that subscribers and viewers would see a difference.
func (r *rhythm) markChanged(now time.Time) {
	r.throttle.NoteChange(now)
	if v := &r.viewing; v.rhythm != nil {
		v.rhythm.NoteChange(now)
	}
}

// setDrawing notes whether the program is in the middle of drawing.
func (r *rhythm) setDrawing(now time.Time, on bool) {
	r.throttle.SetHeld(now, on)
	if v := &r.viewing; v.rhythm != nil {
		v.rhythm.SetHeld(now, on)
	}
}

// sendRows sends the rows if they are due and differ from the last ones. The end is always due.
func (o *Observer) sendRows(now time.Time) {
	v := &o.viewing
	if v.rhythm == nil || o.exit == nil && !v.rhythm.Due(now) {
		return
	}
	v.rhythm.NoteSent(now)
	m := o.rowsMessage(o.Frame(now))
	if v.last != nil {
		if m.SessionID, m.Seq = v.last.SessionID, v.last.Seq; reflect.DeepEqual(v.last, m) {
			return
		}
	}
	v.count++
	m.Seq = v.count
	v.last = m
	o.agents.Session.SendRows(m)
}

// rowsMessage makes the message for viewers from a frame.
func (o *Observer) rowsMessage(f *protocol.Frame) *protocol.Rows {
	v, s := &o.viewing, &f.Screen
	m := &protocol.Rows{
		Rev: f.Seq, Cols: s.Cols, Rows: s.Rows, Cursor: s.Cursor, Lines: s.Lines,
		State: &protocol.ViewState{Title: s.Title, Alt: s.Alt, Keyboard: f.Keyboard},
	}
	if f.Blackout != nil {
		w := *f.Blackout
		w.SinceMs = 0 // it would differ in each message
		m.State.Blackout = &w
		v.typed = nil // the typing may have led to the prompt
	}
	m.State.Typed = v.typed
	if f.Blackout.ByUser() {
		v.revs = nil
		return m
	}
	modes := o.model.Modes()
	m.Line = o.firstScreenLine()
	m.State.Palette = o.changedColours()
	m.State.Clusters, m.State.Reverse = modes.Graphemes, modes.Reverse
	m.State.Mouse = mouseUse(modes, s.Alt)
	m.State.Wraps, m.State.Links = o.wrapsOf(m.Rows, 0), o.screenLinks(m.Rows)
	o.fillRows(m)
	if tooLarge(m.Lines) {
		m.Lines, v.revs = s.Lines, nil
	}
	return m
}

// mouseUse describes the program's use of a person's mouse.
func mouseUse(modes screen.Modes, alt bool) string {
	switch {
	case modes.MouseProtocol >= 1002:
		return protocol.MouseMotion
	case modes.MouseProtocol > 0:
		return protocol.MouseButtons
	case alt:
		return protocol.MouseScrolls
	}
	return ""
}

// fillRows puts the rows with their colours into a message. It reuses the unchanged rows of the
// message before.
func (o *Observer) fillRows(m *protocol.Rows) {
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

// roomForRows bounds the rows of a message in bytes: too large a frame would end the connection.
// Large terminals with 24-bit colours in each cell exceed it, and are sent without colours.
const roomForRows = protocol.MaxMessage - 64<<10

func tooLarge(lines []string) bool {
	size := 0
	for _, l := range lines {
		escapes := 5*strings.Count(l, "\x1b") + strings.Count(l, `"`) + strings.Count(l, `\`)
		size += len(l) + len(`"",`) + escapes // as in JSON
	}
	return size > roomForRows
}
