package proxy

import (
	"terminalproxy/proxy/guardian"
	"terminalproxy/proxy/modes"
)

// testament is what gives the user's terminal back: what takes away the line and the title that the proxy shows, then what
// resets the modes that the program changed. The copier keeps it up to date with what it writes, and leaves it to the
// guardian each time; at an orderly end it is executed by the session itself.
type testament struct {
	on       bool               // there is a screen
	modes    modes.Modes        // when all is written
	was      modes.Modes        // when as much is written as is known to be
	open     bool               // the two may differ
	guardian *guardian.Guardian // nil where there is none
	untitle  func() string      // gives the window its own title back; nil where the proxy sets none
	line     []byte             // takes the proxy's line away, nil while there is none
	titled   string
	buf      []byte
}

// begin notes what is about to be written. Until written says that it was, the will takes back what was changed before and
// what is changed afterwards: the terminal may have shown a chunk long before we get to run again.
func (t *testament) begin(chunk []byte) {
	if !t.on {
		return
	}
	t.was = t.modes
	t.modes.Scan(chunk)
	if t.open = t.modes.Changed(); t.open {
		t.leaveBoth()
	}
}

// written notes how much of the chunk the terminal took, and whether that was all.
func (t *testament) written(part []byte, all bool) {
	switch {
	case !t.open && all:
	case all:
		t.open = false
		t.leave()
	case t.on: // what lies between may have changed what is the same at both ends
		t.open = true
		t.was.Scan(part)
		t.leaveBoth()
	}
}

// leaveBoth leaves a will for the terminal as it was and as it will be.
func (t *testament) leaveBoth() {
	if t.guardian == nil {
		return
	}
	both := t.modes
	both.Join(&t.was)
	t.buf = append(both.AppendReset(t.buf[:0]), t.title()...)
	t.guardian.Bequeath(t.line, t.buf)
}

// shows notes that the proxy is about to show a line of its own, or a title, and what takes the line away.
func (t *testament) shows(line []byte) {
	title := t.title()
	if line == nil && t.line == nil && title == t.titled {
		return
	}
	t.line, t.titled = line, title
	if t.open {
		t.leaveBoth()
		return
	}
	t.leave()
}

func (t *testament) title() string {
	if t.untitle == nil {
		return ""
	}
	return t.untitle()
}

// leave hands the guardian the newest will.
func (t *testament) leave() {
	if t.guardian == nil {
		return
	}
	t.buf = t.append(t.buf[:0])
	t.guardian.Bequeath(t.line, t.buf)
}

// append appends the will but for the line. The window's title lies below those that the program put on the terminal's
// stack.
func (t *testament) append(dst []byte) []byte {
	return append(t.modes.AppendReset(dst), t.title()...)
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
		s.output.last.guardian = g
		s.output.last.leave()
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
