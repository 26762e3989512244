package proxy

import (
	"os"

	"golang.org/x/sys/unix"

	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/terminal/tty"
)

// openTerminal opens the user's terminal: standard input and output, and for one of them that leads
// elsewhere, the terminal that this process belongs to. Streams that lead to no terminal go to the
// program.
func (s *surroundings) openTerminal() (err error) {
	c := s.conf
	s.streams = make([]*os.File, 3)
	for i, f := range []*os.File{c.In, c.Out, c.Err} {
		if f != nil && !tty.IsTerminal(f) {
			s.streams[i] = f
		}
	}
	in, out := c.In, c.Out
	if s.streams[0] != nil || s.streams[1] != nil {
		around, shut := tty.FindTerminal(c.In, c.Out, c.Err)
		defer shut()
		if around == nil {
			cols, rows := s.defaultSize()
			s.term = tty.NewAbsent(cols, rows, func([]byte) {}) // it has no viewers
			return nil
		}
		if s.streams[0] != nil {
			in = around
		}
		if s.streams[1] != nil {
			out = around
		}
	}
	s.term, err = tty.Open(in, out)
	return err
}

// letStreamsGo leaves to the program alone what was handed to it, with these descriptors: the other
// end of a pipe learns at once when the program has closed its own. Standard error stays, for the
// proxy's own messages.
func (s *surroundings) letStreamsGo(given []int) {
	for _, fd := range given {
		_ = unix.Close(fd)
	}
	for _, f := range s.streams[:min(2, len(s.streams))] {
		if f == nil {
			continue
		}
		if err := tty.PointAtNull(f); err != nil {
			s.log.Info("standard streams", "error", err)
		}
	}
}

// settleBegin decides whether the session begins behind. It does in the background of the user's
// shell. If input or output is no terminal, the keyboard stays aside, as sudo leaves it
// (exec_pty.c): the terminal may belong to another program of the same pipeline, which edits lines
// there or shows pages. The program starts in the background of its own terminal. When it reads or
// sets something there it is stopped, and then the keyboard is taken.
func (s *surroundings) settleBegin() {
	if !s.term.HasKeyboard() {
		return
	}
	s.aside = s.streams != nil && (s.streams[0] != nil || s.streams[1] != nil)
	s.behind = s.aside || !s.inFront()
}

// lineSettings returns the program's first line settings: the terminal's, unless a shell has set
// them for editing a line by now.
func (s *surroundings) lineSettings() *unix.Termios {
	if s.behind && !s.inFront() {
		return nil
	}
	return s.settings
}

// requestKeyboard takes a keyboard that was left aside when an agent asks for it: the user can
// answer then, and take it back.
func (s *session) requestKeyboard(state control.State) {
	if !s.aside || state.Phase == control.Observing {
		return
	}
	select {
	case s.called <- struct{}{}:
	default: // it is on its way
	}
}

// isWish reports whether a signal stops a program because it wants the terminal that it does not
// have.
func isWish(sig unix.Signal) bool { return sig == unix.SIGTTIN || sig == unix.SIGTTOU }

// cooksOutput reports whether the user's terminal makes a new line of each line feed. In a
// pipeline, whose other programs write there too, it first sets that as on the program's own
// terminal, as it would be without us.
func (s *session) cooksOutput(away bool) bool {
	switch {
	case away:
		return s.term.TranslatesNewlines()
	case !s.aside:
		return false
	}
	on := s.child.TranslatesNewlines()
	if on != s.term.TranslatesNewlines() {
		if err := s.term.SetNewlineTranslation(on); err != nil {
			s.log.Info("line settings", "error", err)
		}
	}
	return on
}
