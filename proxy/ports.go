package proxy

import (
	"errors"
	"sync/atomic"
	"time"

	"terminalproxy/proxy/child"
	"terminalproxy/proxy/copier"
	"terminalproxy/proxy/host"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/observer"
	"terminalproxy/proxy/tty"
)

// keyboard is the user's terminal as the pump reads it. What was typed before the session began comes first.
type keyboard struct {
	term  *tty.Terminal
	typed []byte
	heard func(p []byte) // sees what is read; nil when nobody asks
}

func (k *keyboard) Read(p []byte) (int, error) {
	if len(k.typed) > 0 {
		n := copy(p, k.typed)
		k.typed = k.typed[n:]
		return n, nil
	}
	n, err := k.term.Read(p)
	if n > 0 && k.heard != nil {
		k.heard(p[:n])
	}
	if errors.Is(err, tty.ErrAgain) {
		err = input.ErrAgain
	}
	return n, err
}

// program is the child as the pump writes to it. It counts the writes.
type program struct {
	*child.Child
	begun, ended atomic.Uint64
}

func (p *program) Write(b []byte) (int, error) {
	p.begun.Add(1) // before: what it answers comes after
	n, err := p.Child.Write(b)
	p.ended.Add(1)
	if errors.Is(err, child.ErrAgain) {
		err = input.ErrAgain
	}
	return n, err
}

// Writes counts how often something was written, or has begun to be, and how often that has ended. Anybody may ask.
func (p *program) Writes() (begun, ended uint64) { return p.begun.Load(), p.ended.Load() }

// readiness is a poller as the pump waits with it. While typed input is left over, the keyboard counts as ready.
type readiness struct {
	*tty.Poller
	kbd *keyboard
}

func (r readiness) Wait(want input.Events, timeout time.Duration) (input.Events, error) {
	if r.kbd != nil && len(r.kbd.typed) > 0 && want&input.Readable != 0 {
		return input.Readable | input.Woken, nil
	}
	got, err := r.Poller.Wait(tty.Events(want), timeout)
	return input.Events(got), err
}

// printed is the observer as the copier feeds it. What a program prints keeps a session without a user from being idle.
type printed struct {
	*observer.Observer
	headless *host.Session
}

func (p printed) Feed(chunk []byte) (queued int) { p.headless.Touch(); return p.Observer.Feed(chunk) }

// findCursor is where the user's cursor is, for the model. Sessions that no agent observes need none of this.
func (s *session) findCursor(rows int) copier.Cursor {
	if s.conf.Agent == nil || !s.term.HasKeyboard() || !s.term.HasScreen() {
		return copier.Cursor{}
	}
	poll, err := tty.NewPoller(s.term.Descriptors())
	if err != nil {
		return copier.Cursor{}
	}
	defer poll.Close()
	return copier.FindCursor(s.term, poll, rows)
}
