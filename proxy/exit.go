package proxy

import (
	"terminalproxy/proxy/guardian"
	"terminalproxy/proxy/modes"
)

// exitSequence is what gives the user's terminal back: what takes away the line and the title that the proxy shows, then what
// resets the modes that the program changed. The copier keeps it up to date with what it writes and tells the guardian each
// time; at an orderly end the session writes it.
type exitSequence struct {
	on       bool               // there is a screen
	modes    modes.Modes        // when all is written
	was      modes.Modes        // when what is known to be written is
	open     bool               // the two may differ
	guardian *guardian.Guardian // nil where there is none
	untitle  func() string      // gives the window its own title back; nil where the proxy sets none
	line     []byte             // takes the proxy's line away, nil while there is none
	titled   string
	buf      []byte
}

// begin notes what is about to be written. Until written says that it was, the sequence takes back what was changed before
// and what is changed afterwards: the terminal may have shown a chunk long before we get to run again.
func (e *exitSequence) begin(chunk []byte) {
	if !e.on {
		return
	}
	e.was = e.modes
	e.modes.Scan(chunk)
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

// tellBoth tells the guardian what takes back the terminal as it was and as it will be.
func (e *exitSequence) tellBoth() {
	if e.guardian == nil {
		return
	}
	both := e.modes
	both.Join(&e.was)
	e.buf = append(both.AppendReset(e.buf[:0]), e.title()...)
	e.guardian.SetExit(e.line, e.buf)
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

func (e *exitSequence) title() string {
	if e.untitle == nil {
		return ""
	}
	return e.untitle()
}

// tell tells the guardian the newest sequence.
func (e *exitSequence) tell() {
	if e.guardian == nil {
		return
	}
	e.buf = e.append(e.buf[:0])
	e.guardian.SetExit(e.line, e.buf)
}

// append appends the sequence but for the line. The window's title lies below those that the program put on the terminal's
// stack.
func (e *exitSequence) append(dst []byte) []byte {
	return append(e.modes.AppendReset(dst), e.title()...)
}

// guard starts the guardian. It is none of the things that a program waits for to start: the program runs by now.
func (l *life) guard() {
	s := l.s
	g, err := s.newGuardian()
	if err != nil {
		s.log.Warn("the terminal is not guarded", "error", err)
	}
	if g == nil {
		return
	}
	done := make(chan struct{})
	if !l.copier(done, func() {
		s.copier.exit.guardian = g
		s.copier.exit.tell()
		close(done)
	}) {
		g.Close()
		return
	}
	s.guardian = g
	g.Watch(func(err error) { s.log.Warn("the terminal is not guarded", "error", err) })
}

// newGuardian prepares a guardian of what we have of the terminal, nil if that is nothing.
func (s *session) newGuardian() (*guardian.Guardian, error) {
	conf := guardian.Config{Path: s.conf.Guardian, Keyboard: -1, Screen: -1}
	keyboard, screen := s.term.Descriptors()
	if s.term.HasKeyboard() {
		conf.Keyboard = keyboard
	}
	if s.term.HasScreen() {
		conf.Screen = screen
	}
	if conf.Path == "" || conf.Keyboard < 0 && conf.Screen < 0 {
		return nil, nil
	}
	g, err := guardian.New(conf)
	if err != nil {
		return nil, err
	}
	g.Lines(s.settings, s.term.Termios())
	return g, nil
}
