package proxy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/attach"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/host"
	"terminalproxy/proxy/link"
	"terminalproxy/proxy/tty"
)

// Times of a session that a host starts.
const (
	hostedYield    = time.Second
	hostedInterval = 500 * time.Millisecond
)

// NewHost makes a host, which starts sessions like those of [Run] on terminals of their own.
func NewHost(conf host.Config, taste Taste) *host.Host { return NewChatHost(conf, taste, nil) }

// NewChatHost makes a host for one program, and with is the conversation with that; nil for none.
func NewChatHost(conf host.Config, taste Taste, with *Chat) *host.Host {
	return host.New(conf, runHosted(conf, taste, with))
}

// runHosted makes what runs a host's sessions.
func runHosted(conf host.Config, taste Taste, with *Chat) host.Runner {
	return func(ctx context.Context, h *host.Session) (host.Result, error) {
		s := newSession(Config{
			Command: h.Command, Args: h.Args, Log: conf.Log, Cols: h.Cols, Rows: h.Rows, headless: h,
			Agent: &AgentConfig{
				Taste: taste, Name: h.Name, Parent: os.Getenv(SessionVariable), Dial: conf.Dial, Join: conf.Join, URL: conf.URL, Header: conf.Header,
				Yield: hostedYield, Interval: hostedInterval, Owner: conf.Owner, RemoteKeys: true, Chat: with,
			},
		})
		s.term = tty.Absent(h.Cols, h.Rows, func(p []byte) { s.attached.Output.Write(p) })
		defer s.term.Close()
		result, err := s.run(ctx)
		return host.Result{ID: result.ID, Code: result.Code, Agent: result.Agent}, sentence(err)
	}
}

// sentence is an error with what to do about it.
func sentence(err error) error {
	if refused, ok := errors.AsType[*UserError](err); ok && refused.Hint != "" {
		return fmt.Errorf("%w: %s", err, refused.Hint)
	}
	return err
}

// hostedLink is c with what a session without a user's terminal needs beside others: its agent's keyboard follows the link,
// and so do the people who are attached.
func (s *session) hostedLink(c link.Config) link.Config {
	up, down := c.Up, c.Down
	reached := sync.OnceFunc(func() { close(s.linked) })
	c.Up = func() { up(); reached(); s.pump.Post(s.own) }
	c.Down = func() { down(); s.pump.Post(s.attached.DetachAll) }
	c.Behind = func() { s.copier.Renew() }
	return c
}

// wireHosted has the pump begin with the agent's keyboard, and then tell the host.
func (s *session) wireHosted() {
	s.pump.Post(func(now time.Time) {
		s.own(now)
		s.conf.headless.Began(s.id)
	})
}

// own gives the agent the keyboard of its own terminal, unless somebody decided otherwise: at the start, and after the way
// to it was lost. It runs on the pump's goroutine.
func (s *session) own(now time.Time) {
	owner, end := s.conf.headless.Agent(), s.authority.LastEnd()
	if owner.ID != "" && (end.Reason == "" || end.Reason == protocol.ReasonLink && !end.Absent) {
		s.authority.Own(now, control.Request{Agent: owner, Level: protocol.LevelDrive})
	}
}

// awaitLink waits until a gateway was reached once, for a moment: a program that ends at once shall leave its last screen
// there all the same.
func (s *session) awaitLink() {
	if s.linked == nil {
		return
	}
	select {
	case <-s.linked:
	case <-time.After(lastPatience):
	}
}

// wireAttached plugs the people who attach to a session without a user's terminal.
func (s *session) wireAttached() {
	s.attached = attach.New(attach.Config{
		SessionID: s.id, Terminal: attachedTerminal{s.term, s.signals.C}, Pump: s.pump, Control: s.authority, Copier: attachedCopier{s},
		Model: s.observer, Title: s.painter, Remarks: s.status, Link: s.link, Host: s.conf.headless,
	})
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

// CaughtUp implements attach.Copier.
func (c attachedCopier) CaughtUp() { c.s.copier.CaughtUp() }
