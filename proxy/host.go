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
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/detached/attach"
	"terminalproxy/proxy/detached/headless"
	"terminalproxy/proxy/link"
	"terminalproxy/proxy/terminal/tty"
)

// Times of a session that a host starts.
const (
	hostedYield    = time.Second
	hostedInterval = 500 * time.Millisecond
)

// NewChatHost makes a host, which starts sessions like those of [Run] on terminals of their own.
// With a conversation it is for one program; with may be nil.
func NewChatHost(conf headless.Config, taste Taste, with *Chat) *headless.Host {
	return headless.New(conf, runHosted(conf, taste, with))
}

// runHosted makes what runs a host's sessions.
func runHosted(conf headless.Config, taste Taste, with *Chat) headless.Runner {
	return func(ctx context.Context, h *headless.Session) (headless.Result, error) {
		s := newSession(Config{
			Command:  h.Command,
			Args:     h.Args,
			Log:      conf.Log,
			Cols:     h.Cols,
			Rows:     h.Rows,
			headless: h,
			Agent: &AgentConfig{
				Taste:      taste,
				Name:       h.Name,
				Parent:     os.Getenv(SessionVariable),
				Dial:       conf.Dial,
				Join:       conf.Join,
				URL:        conf.URL,
				Header:     conf.Header,
				Yield:      hostedYield,
				Interval:   hostedInterval,
				Owner:      conf.Owner,
				RemoteKeys: true,
				Chat:       with,
			},
		})
		s.term = tty.NewAbsent(h.Cols, h.Rows, func(p []byte) { s.attached.Output.Write(p) })
		defer s.term.Close()
		result, err := s.run(ctx)
		return headless.Result{ID: result.ID, Code: result.Code, Agent: result.Agent}, sentence(err)
	}
}

// sentence adds to an error what to do about it.
func sentence(err error) error {
	if refused, ok := errors.AsType[*UserError](err); ok && refused.Hint != "" {
		return fmt.Errorf("%w: %s", err, refused.Hint)
	}
	return err
}

// hostedLink adds to c what a session without a user's terminal needs: its agent's keyboard follows
// the link, and so do the people who are attached.
func (s *session) hostedLink(c link.Config) link.Config {
	up, down := c.Up, c.Down
	reached := sync.OnceFunc(func() { close(s.linked) })
	c.Up = func() { up(); reached(); s.pump.Post(s.giveAgentKeyboard) }
	c.Down = func() { down(); s.pump.Post(s.attached.DetachAll) }
	c.Behind = func() { s.copier.ResendScreen() }
	return c
}

// wireHosted has the pump begin with the agent's keyboard, and then tell the host.
func (s *session) wireHosted() {
	s.pump.Post(func(now time.Time) {
		s.giveAgentKeyboard(now)
		s.conf.headless.NoteStarted(s.id)
	})
}

// giveAgentKeyboard gives the agent the keyboard of its own terminal, at the start and after the
// link was lost, unless a person decided otherwise. It runs on the pump's goroutine.
func (s *session) giveAgentKeyboard(now time.Time) {
	owner, end := s.conf.headless.Agent(), s.authority.LastEnd()
	if owner.ID != "" && (end.Reason == "" || end.Reason == protocol.ReasonLink && !end.Absent) {
		s.authority.GrantOwnTerminal(now, control.Request{Agent: owner, Level: protocol.LevelDrive})
	}
}

// awaitLink waits a moment for the first gateway: a program that ends at once leaves its last
// screen there all the same.
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
		SessionID: s.id,
		Terminal:  attachedTerminal{s.term, s.signals.C},
		Pump:      s.pump,
		Control:   s.authority,
		Copier:    attachedCopier{s},
		Model:     s.observer,
		Title:     s.painter,
		Remarks:   s.status,
		Link:      s.link,
		Host:      s.conf.headless,
	})
}

// attachedTerminal is the absent terminal. The session learns its new size as it does a window's.
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

// attachedCopier reaches the copier, which is made after the people's output.
type attachedCopier struct{ s *session }

func (c attachedCopier) Repaint()      { c.s.copier.Repaint() }
func (c attachedCopier) ResendScreen() { c.s.copier.ResendScreen() }

// NoteCaughtUp implements attach.Copier.
func (c attachedCopier) NoteCaughtUp() { c.s.copier.NoteCaughtUp() }
