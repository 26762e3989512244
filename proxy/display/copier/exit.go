package copier

import (
	"terminalproxy/proxy/terminal/modes"
	"terminalproxy/proxy/terminal/vt"
)

// exitSequence restores the user's terminal: it removes the proxy's line and title, then resets the
// modes that the program changed. It tracks everything that the copier writes, and updates the
// watchdog each time.
type exitSequence struct {
	on       bool        // the session has a screen
	modes    modes.Modes // once all is written
	before   modes.Modes // once the part that is known to be written is
	open     bool        // the two may differ
	watchdog Watchdog    // may be nil
	overlay  Restorer    // nil without an overlay
	line     []byte      // removes the proxy's line; nil without a line
	titled   string
	buf      []byte
}

// noteWriting notes a chunk that is about to be written. Until noteWritten confirms it, the
// sequence undoes the changes before and after the chunk: the terminal may have shown it long
// before this process runs again.
func (e *exitSequence) noteWriting(chunk vt.Chunk) {
	if !e.on {
		return
	}
	e.before = e.modes
	e.modes.FollowChunk(chunk)
	if e.open = e.modes.CheckChanged(); e.open {
		e.setBothExits()
	}
}

// noteWritten notes which part of the chunk the terminal accepted; all means the whole chunk.
func (e *exitSequence) noteWritten(part []byte, all bool) {
	switch {
	case !e.open && all:
	case all:
		e.open = false
		e.setExit()
	case e.on: // a mode with one value before and after the chunk may have changed in between
		e.open = true
		e.before.FollowBytes(part)
		e.setBothExits()
	}
}

// setBothExits gives the watchdog the bytes that restore the terminal as it was and as it will be.
func (e *exitSequence) setBothExits() {
	if e.watchdog == nil {
		return
	}
	both := e.modes
	both.MergeChanges(&e.before)
	e.buf = append(both.AppendReset(e.buf[:0]), e.restoreTitle()...)
	e.watchdog.SetExit(e.line, e.buf)
}

// noteShown notes that the proxy is about to show its line or title. line removes the line.
func (e *exitSequence) noteShown(line []byte) {
	title := e.restoreTitle()
	if line == nil && e.line == nil && title == e.titled {
		return
	}
	e.line, e.titled = line, title
	if e.open {
		e.setBothExits()
		return
	}
	e.setExit()
}

// restoreTitle returns the bytes that restore the window's own title.
func (e *exitSequence) restoreTitle() string {
	if e.overlay == nil {
		return ""
	}
	return e.overlay.RestoreTitle()
}

// setExit gives the watchdog the newest sequence.
func (e *exitSequence) setExit() {
	if e.watchdog == nil {
		return
	}
	e.buf = e.appendReset(e.buf[:0])
	e.watchdog.SetExit(e.line, e.buf)
}

// appendReset appends the sequence without the line. The window's title lies below those that the
// program put on the terminal's stack.
func (e *exitSequence) appendReset(dst []byte) []byte {
	return append(e.modes.AppendReset(dst), e.restoreTitle()...)
}
