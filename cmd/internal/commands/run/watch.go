package run

import (
	"context"
	"errors"
	"time"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
	"terminalproxy/proxy/display/notice"
)

// watchEvery is the shortest interval between pictures.
const watchEvery = 100 * time.Millisecond

// attachment is a person attached to a session.
type attachment interface {
	Messages() <-chan protocol.Message
	Err() error
	Detach()
	Type(keys []byte) error
	Resize(cols, rows int) error
	RequestRepaint() error
}

// screenWatcher shows a session as agents see it: a picture of the screen for each change. It
// replaces the live output of a user's own terminal, which shows secrets and hidden screens: every
// process of the user, including an agent's, can connect as a viewer.
type screenWatcher struct {
	out    chan protocol.Message
	cancel context.CancelFunc
	err    error // set before out is closed
}

// watchScreen starts a watcher, which ends with ctx or with the session.
func watchScreen(ctx context.Context, c *client.Client, id string) (*screenWatcher, error) {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := c.View(ctx, id, watchEvery)
	if err != nil {
		cancel()
		return nil, err
	}
	o := &screenWatcher{out: make(chan protocol.Message), cancel: cancel}
	go func() { // ends with ctx, or with the session
		defer cancel()
		defer close(o.out)
		o.run(ctx, stream)
	}()
	return o, nil
}

func (o *screenWatcher) run(ctx context.Context, stream <-chan protocol.Message) {
	for m := range stream {
		if rows, ok := m.(*protocol.Rows); ok {
			m = &protocol.Output{
				SessionID: rows.SessionID,
				Repaint:   true,
				Cols:      rows.Cols,
				Rows:      rows.Rows,
				DataB64:   repaintOf(rows, time.Now()),
			}
		}
		o.forwardMessage(ctx, m)
		if _, last := m.(*protocol.SessionClose); last {
			return
		}
	}
	if ctx.Err() == nil {
		o.err = errors.New("the session cannot be reached")
	}
}

func (o *screenWatcher) forwardMessage(ctx context.Context, m protocol.Message) {
	select {
	case o.out <- m:
	case <-ctx.Done():
	}
}

// Messages returns the pictures, each a repaint, and the end of the session.
func (o *screenWatcher) Messages() <-chan protocol.Message { return o.out }

// Err returns why the view ended, nil if it did not fail.
func (o *screenWatcher) Err() error { return o.err }

// Detach ends the view.
func (o *screenWatcher) Detach() { o.cancel() }

// Type, Resize and RequestRepaint do nothing: a watcher changes nothing.
func (o *screenWatcher) Type([]byte) error { return nil }

// Resize implements attachment.
func (o *screenWatcher) Resize(int, int) error { return nil }

// RequestRepaint implements attachment.
func (o *screenWatcher) RequestRepaint() error { return nil }

// repaintOf returns the bytes that draw a screen on a terminal model of its size, in any state
// (RIS, CUP: ECMA-48; DECTCEM). The rows contain SGR sequences. The title names the holder of the
// keyboard; a notice replaces a hidden screen.
func repaintOf(f *protocol.Rows, now time.Time) []byte {
	p := []byte("\x1bc")
	for y, row := range f.Lines {
		p = append(moveTo(p, y, 0), row...)
		p = append(p, "\x1b[m"...)
	}
	if f.State.Blackout.ByUser() {
		p = append(append(moveTo(p, 0, 0), "\x1b[7m "...),
			notice.Fit("the user hides this screen", max(0, f.Cols-2))...)
		p = append(p, " \x1b[m"...)
	}
	title := "[" + text.Keyboard(f.State.Keyboard, "", now) + "] " +
		notice.Clean(f.State.Title, 200)
	p = notice.Title(p, title)
	p = moveTo(p, f.Cursor.Row, f.Cursor.Col)
	if !f.Cursor.Visible || f.State.Blackout.ByUser() {
		p = append(p, "\x1b[?25l"...)
	}
	return p
}

// attach attaches a person to a session: with its keyboard, or only to watch.
func attach(
	ctx context.Context, c *client.Client, s protocol.SessionInfo, cols, rows int, watch bool,
) (attachment, error) {
	if s.Headless {
		return c.Attach(ctx, s.SessionID, cols, rows, !watch)
	}
	if !watch {
		return nil, cli.Fail(
			cli.StatusForbidden,
			"attach: %s has a user at its own terminal",
			s.SessionID,
		).
			WithHint(
				"gateway attach --watch " + s.SessionID +
					" shows it as agents see it; gateway read " + s.SessionID +
					" prints its screen")
	}
	return watchScreen(ctx, c, s.SessionID)
}
