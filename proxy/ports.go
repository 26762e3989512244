package proxy

import (
	"errors"
	"sync/atomic"
	"time"

	"terminalproxy/proxy/child"
	"terminalproxy/proxy/input"
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
