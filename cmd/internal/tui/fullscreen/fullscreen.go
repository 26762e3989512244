// Package fullscreen shows views of a whole terminal to a person, and reads their keys. It must not
// know what a view shows.
package fullscreen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"terminalproxy/proxy/terminal/tty"
)

// Msg is a message to a model: a [Resize], a [Key], or one of its own.
type Msg any

// Cmd is work that takes time. It runs on a goroutine of its own. Its message goes to the model.
type Cmd func() Msg

// Resize says which size the terminal has, in cells: first of all, and when it changes.
type Resize struct{ Cols, Rows int }

// Key is a key: a character, or a name as "enter", "pgup" or "ctrl+c".
type Key string

// Model is what a person sees and operates. One goroutine calls its methods.
type Model interface {
	Init() Cmd
	Update(msg Msg) Cmd
	View() View
}

// View is a whole screen. Rows may hold SGR sequences, which end with the row.
type View struct {
	Rows   []string
	Title  string  // of the window
	Cursor *Cursor // nil hides it
}

// Cursor is a cell, counted from 0.
type Cursor struct{ Col, Row int }

// Leaving ends the program.
type Leaving struct{}

// Leave is the command that ends the program.
func Leave() Msg { return Leaving{} }

// delayed is a message that comes later.
type delayed struct {
	after time.Duration
	msg   Msg
}

// After returns the command that sends msg to the model after a while.
func After(d time.Duration, msg Msg) Cmd { return func() Msg { return delayed{d, msg} } }

// ErrFault is a panic of the model. The terminal is restored before it is reported.
var ErrFault = errors.New("a fault")

type fault struct{ err error }

// Program runs a model in a terminal.
type Program struct {
	model   Model
	in, out *os.File
	every   time.Duration // the shortest time between two drawings
	msgs    chan Msg
	ended   chan struct{}
}

// New returns a program that draws at most so often a second.
func New(m Model, in, out *os.File, perSecond int) *Program {
	return &Program{
		model: m, in: in, out: out, every: time.Second / time.Duration(perSecond),
		msgs: make(chan Msg), ended: make(chan struct{}),
	}
}

// Send sends a message to the model. Any goroutine may call it. It returns when the model has the
// message, or the program has ended.
func (p *Program) Send(msg Msg) {
	select {
	case p.msgs <- msg:
	case <-p.ended:
	}
}

// Run runs the program until the model leaves, or ctx ends, and restores the terminal. It is called
// once.
func (p *Program) Run(ctx context.Context) error {
	t, err := tty.Open(p.in, p.out)
	if err != nil {
		close(p.ended)
		return err
	}
	defer t.Close()
	var reader sync.WaitGroup
	keyboard, _ := t.Descriptors()
	poller, err := t.Poller(keyboard, -1)
	if err == nil {
		err = t.EnterRawMode()
	}
	if err != nil {
		close(p.ended)
		return err
	}
	d := newDisplay(t)
	defer func() {
		close(p.ended)
		poller.Wake()
		reader.Wait()
		d.resetModes()
		_ = t.Restore() // the error before it is worth more
	}()
	reader.Go(func() { p.readKeys(t, poller) })
	d.setModes()
	return p.serveMessages(ctx, d)
}

// serveMessages passes messages to the model, and draws, until the end.
func (p *Program) serveMessages(ctx context.Context, d *display) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = faultOf(cause).err
		}
	}()
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, unix.SIGWINCH)
	defer signal.Stop(resized)
	p.startCommand(p.model.Init())
	p.startCommand(p.model.Update(d.measureTerminal()))
	frame := time.NewTimer(0)
	defer frame.Stop()
	for waits := true; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-resized:
			p.startCommand(p.model.Update(d.measureTerminal()))
		case msg := <-p.msgs:
			switch msg := msg.(type) {
			case Leaving:
				return nil
			case fault:
				return msg.err
			case delayed:
				time.AfterFunc(msg.after, func() { p.Send(msg.msg) })
				continue
			default:
				p.startCommand(p.model.Update(msg))
			}
		case <-frame.C:
			waits = false
			if err := d.drawView(p.model.View()); err != nil {
				return err
			}
			d.drawnAt = time.Now()
			continue
		}
		if !waits {
			frame.Reset(max(0, p.every-time.Since(d.drawnAt)))
			waits = true
		}
	}
}

// startCommand runs a command.
func (p *Program) startCommand(cmd Cmd) {
	if cmd == nil {
		return
	}
	go func() { // ends with the command
		defer func() {
			if cause := recover(); cause != nil {
				p.Send(faultOf(cause))
			}
		}()
		if msg := cmd(); msg != nil {
			p.Send(msg)
		}
	}()
}

func faultOf(cause any) fault {
	return fault{fmt.Errorf("%w: %v\n%s", ErrFault, cause, debug.Stack())}
}

// readKeys reads keys until the program has ended.
func (p *Program) readKeys(t *tty.Terminal, poller *tty.Poller) {
	var keys keyReader
	var buf [256]byte
	for {
		timeout := time.Duration(-1)
		if keys.isWithin() {
			timeout = escapePatience
		}
		got, err := poller.Wait(tty.Readable, timeout)
		if err != nil || got&tty.Woken != 0 {
			p.Send(Leaving{})
			return
		}
		var typed []byte
		if got&tty.Readable != 0 {
			n, err := t.Read(buf[:])
			switch {
			case errors.Is(err, tty.ErrAgain):
				continue
			case err != nil || n == 0: // the terminal is gone
				p.Send(Leaving{})
				return
			}
			typed = buf[:n]
		}
		for _, key := range keys.decodeKeys(typed, got == 0) {
			p.Send(Key(key))
		}
	}
}
