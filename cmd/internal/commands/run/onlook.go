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

// onlookEvery is the fastest rhythm of the pictures.
const onlookEvery = 100 * time.Millisecond

// attachment is a person attached to a session.
type attachment interface {
	Messages() <-chan protocol.Message
	Err() error
	Detach()
	Type(keys []byte) error
	Resize(cols, rows int) error
	RequestRepaint() error
}

// onlooker shows a session as agents see it: a picture of the screen for each change. It stands in
// for the live output on a user's own terminal, which no one redacts or hides: every process of the
// user, an agent's too, can connect as a viewer.
type onlooker struct {
	out    chan protocol.Message
	cancel context.CancelFunc
	err    error // set before out is closed
}

// lookOn begins to look. It ends with ctx, or with the session.
func lookOn(ctx context.Context, c *client.Client, id string) (*onlooker, error) {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := c.View(ctx, id, onlookEvery)
	if err != nil {
		cancel()
		return nil, err
	}
	o := &onlooker{out: make(chan protocol.Message), cancel: cancel}
	go func() { // ends with ctx, or with the session
		defer cancel()
		defer close(o.out)
		o.run(ctx, stream)
	}()
	return o, nil
}

func (o *onlooker) run(ctx context.Context, stream <-chan protocol.Message) {
	for m := range stream {
		if rows, ok := m.(*protocol.Rows); ok {
			m = &protocol.Output{
				SessionID: rows.SessionID,
				Repaint:   true,
				Cols:      rows.Cols,
				Rows:      rows.Rows,
				DataB64:   portrait(rows, time.Now()),
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

func (o *onlooker) forwardMessage(ctx context.Context, m protocol.Message) {
	select {
	case o.out <- m:
	case <-ctx.Done():
	}
}

// Messages are pictures, each a repaint, and the end of the session.
func (o *onlooker) Messages() <-chan protocol.Message { return o.out }

// Err is why the view ended, nil if it did not fail.
func (o *onlooker) Err() error { return o.err }

// Detach ends them.
func (o *onlooker) Detach() { o.cancel() }

// Type, Resize and Look do nothing: who looks on changes nothing.
func (o *onlooker) Type([]byte) error { return nil }

// Resize is described with Type.
func (o *onlooker) Resize(int, int) error { return nil }

// RequestRepaint is described with Type.
func (o *onlooker) RequestRepaint() error { return nil }

// portrait returns the bytes that show a screen on a terminal model of its size, in any state (RIS,
// CUP: ECMA-48; DECTCEM). The rows carry SGR sequences. The title names the holder of the keyboard;
// a hidden screen is covered by a notice.
func portrait(f *protocol.Rows, now time.Time) []byte {
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
	ctx context.Context,
	c *client.Client,
	s protocol.SessionInfo,
	cols, rows int,
	watch bool,
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
	return lookOn(ctx, c, s.SessionID)
}
