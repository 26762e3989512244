package proxy

import (
	"os"
	"syscall"

	"terminalproxy/proxy/attach"
	"terminalproxy/proxy/tty"
)

// wireAttached plugs the people who attach to a session without a user's terminal.
func (s *session) wireAttached() {
	s.attached = attach.New(attach.Config{
		SessionID: s.id, Terminal: attachedTerminal{s.term, s.windows}, Pump: s.pump, Control: s.authority, Copier: attachedCopier{s},
		Model: s.observer, Title: s.painter, Remarks: s.status, Link: s.link, Host: s.conf.headless,
	})
	s.detector.mute, s.detector.acted = true, s.attached.Acted
}

// attachedTerminal is the absent terminal, whose new size the session hears of as it does of a window's.
type attachedTerminal struct {
	*tty.Terminal
	windows chan<- os.Signal
}

func (t attachedTerminal) SetSize(cols, rows int) {
	t.Terminal.SetSize(cols, rows)
	select {
	case t.windows <- syscall.SIGWINCH:
	default: // one that waits does as well
	}
}

// attachedCopier is the copier, which is made with the people's output.
type attachedCopier struct{ s *session }

func (c attachedCopier) Repaint() { c.s.copier.Repaint() }
func (c attachedCopier) Renew()   { c.s.copier.Renew() }
