package proxy

import "terminalproxy/proxy/guardian"

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
	if !s.copier.Guard(g) {
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
