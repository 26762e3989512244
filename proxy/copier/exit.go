package copier

import (
	"terminalproxy/proxy/modes"
	"terminalproxy/proxy/vt"
)

// exitSequence is what gives the user's terminal back: what takes away the line and the title that the proxy shows, then what
// resets the modes that the program changed. It follows what the copier writes, and the watchdog is told each time.
type exitSequence struct {
	on       bool        // there is a screen
	modes    modes.Modes // when all is written
	was      modes.Modes // when what is known to be written is
	open     bool        // the two may differ
	watchdog Watchdog    // nil where there is none
	overlay  Restorer    // nil where the proxy shows nothing
	line     []byte      // takes the proxy's line away, nil while there is none
	titled   string
	buf      []byte
}

// begin notes what is about to be written. Until written says that it was, the sequence takes back what was changed before
// and what is changed afterwards: the terminal may have shown a chunk long before we get to run again.
func (e *exitSequence) begin(chunk vt.Chunk) {
	if !e.on {
		return
	}
	e.was = e.modes
	e.modes.Follow(chunk)
	if e.open = e.modes.Changed(); e.open {
		e.tellBoth()
	}
}

// written notes how much of the chunk the terminal took, and whether that was all.
func (e *exitSequence) written(part []byte, all bool) {
	switch {
	case !e.open && all:
	case all:
		e.open = false
		e.tell()
	case e.on: // what lies between may have changed what is the same at both ends
		e.open = true
		e.was.Scan(part)
		e.tellBoth()
	}
}

// tellBoth tells the watchdog what takes back the terminal as it was and as it will be.
func (e *exitSequence) tellBoth() {
	if e.watchdog == nil {
		return
	}
	both := e.modes
	both.Join(&e.was)
	e.buf = append(both.AppendReset(e.buf[:0]), e.title()...)
	e.watchdog.SetExit(e.line, e.buf)
}

// shows notes that the proxy is about to show a line of its own, or a title, and what takes the line away.
func (e *exitSequence) shows(line []byte) {
	title := e.title()
	if line == nil && e.line == nil && title == e.titled {
		return
	}
	e.line, e.titled = line, title
	if e.open {
		e.tellBoth()
		return
	}
	e.tell()
}

// title is what gives the window its own title back.
func (e *exitSequence) title() string {
	if e.overlay == nil {
		return ""
	}
	return e.overlay.Untitle()
}

// tell tells the watchdog the newest sequence.
func (e *exitSequence) tell() {
	if e.watchdog == nil {
		return
	}
	e.buf = e.append(e.buf[:0])
	e.watchdog.SetExit(e.line, e.buf)
}

// append appends the sequence but for the line. The window's title lies below those that the program put on the terminal's
// stack.
func (e *exitSequence) append(dst []byte) []byte {
	return append(e.modes.AppendReset(dst), e.title()...)
}
