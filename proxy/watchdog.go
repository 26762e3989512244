package proxy

import "terminalproxy/proxy/watchdog"

// guard starts the watchdog. No program waits for that: it runs by now.
func (l *life) guard() {
	s := l.s
	w, err := s.newWatchdog()
	if err != nil {
		s.log.Warn("the terminal is not guarded", "error", err)
	}
	if w == nil {
		return
	}
	if !s.copier.Guard(w) {
		w.Close()
		return
	}
	s.watchdog = w
	w.Watch(func(err error) { s.log.Warn("the terminal is not guarded", "error", err) })
}

// newWatchdog prepares a watchdog for the keyboard and the screen, nil where there is neither or none is wanted.
func (s *session) newWatchdog() (*watchdog.Watchdog, error) {
	conf := watchdog.Config{Path: s.conf.Watchdog, Keyboard: -1, Screen: -1}
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
	w, err := watchdog.New(conf)
	if err != nil {
		return nil, err
	}
	w.Lines(s.settings, s.term.Termios())
	return w, nil
}
