// Package top shows all sessions in one screen of a person's terminal, where they answer agents'
// questions and take keyboards back. It is independent of the connection to the gateway and of
// the owner's key: [Config] has functions for decisions.
package top

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"terminalproxy/cmd/internal/tui/fullscreen"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

const (
	// framesPerSecond bounds how often it draws. Nothing is drawn while nothing changes.
	framesPerSecond = 20
	// clock is how often the remaining time of grants is updated.
	clock = 30 * time.Second
)

// Config says which sessions to show, and in which terminal.
type Config struct {
	// Changes delivers the list of sessions and its changes: *[protocol.SessionsChanged]. Its end
	// is the end of the gateway.
	Changes <-chan protocol.Message
	// Give gives the keyboard of a session to the agent that asked for it when the person saw s.
	// Take takes it back or refuses the question. Both are called on goroutines of their own, and
	// must end with ctx.
	Give, Take func(ctx context.Context, s protocol.SessionInfo) error
	// In and Out are the terminal.
	In, Out *os.File
}

// ErrGone is the error for a gateway that ended and was not replaced.
var ErrGone = errors.New("the gateway is gone")

// Run shows sessions until the person leaves, or ctx ends, and restores the terminal.
func Run(ctx context.Context, c Config) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m := newModel(ctx, c)
	p := fullscreen.New(m, c.In, c.Out, framesPerSecond)
	m.work.Go(func() { forwardChanges(ctx, c.Changes, p) })
	err := p.Run(ctx)
	stop()
	m.work.Wait()
	switch {
	case m.gone:
		return ErrGone
	case errors.Is(err, fullscreen.ErrFault):
		return err
	case err != nil && ctx.Err() == nil:
		return fmt.Errorf("the terminal: %w", err)
	}
	return nil
}

// forwardChanges sends the changes to the program. It ends with ctx, or with them.
func forwardChanges(ctx context.Context, changes <-chan protocol.Message, p *fullscreen.Program) {
	for {
		select {
		case m, ok := <-changes:
			if !ok {
				p.Send(gone{})
				return
			}
			if m, ok := m.(*protocol.SessionsChanged); ok {
				p.Send(m)
			}
		case <-ctx.Done():
			return
		}
	}
}

// gone ends the changes, done reports a decision, and tick says that time has passed.
type (
	gone struct{}
	done struct {
		status string
		err    error
	}
	tick struct{}
)

// model is the state of the screen. It belongs to the goroutine of the program.
type model struct {
	ctx  context.Context //nolint:containedctx // Update has no parameter for it
	conf Config
	work sync.WaitGroup
	gone bool
	now  func() time.Time

	cols, rows int
	all        []*row               // in the order in which they came
	incomplete *protocol.Incomplete // why sessions are missing in the list, or nil
	chosen     string               // the session under the cursor, even when rows move
	top        int                  // the first shown row
	status     string               // the result of the last decision
	ticking    bool
	asked      *question // the open one, or nil
}

// row is a session.
type row struct {
	protocol.SessionInfo
	left bool // it is gone, and stays until the cursor leaves it
}

// question is the question to the person before an agent gets a keyboard, as it was when it was
// opened.
type question struct {
	about protocol.SessionInfo
	yes   bool
}

func newModel(ctx context.Context, c Config) *model {
	return &model{ctx: ctx, conf: c, now: time.Now}
}

// Init implements fullscreen.Model.
func (m *model) Init() fullscreen.Cmd { return nil }

// Update implements fullscreen.Model.
func (m *model) Update(msg fullscreen.Msg) fullscreen.Cmd {
	switch msg := msg.(type) {
	case fullscreen.Resize:
		m.cols, m.rows = msg.Cols, msg.Rows
	case fullscreen.Key:
		return m.handleKey(string(msg))
	case *protocol.SessionsChanged:
		m.applyChanges(msg)
		return m.scheduleTick()
	case tick:
		m.ticking = false
		return m.scheduleTick()
	case gone:
		m.gone = true
		return fullscreen.Leave
	case done:
		if m.status = msg.status; msg.err != nil {
			m.status = text.OneLine(msg.err.Error())
		}
	}
	return nil
}

// scheduleTick schedules the next update of a grant's remaining time.
func (m *model) scheduleTick() fullscreen.Cmd {
	if m.ticking ||
		!slices.ContainsFunc(m.all, func(r *row) bool {
			return r.Keyboard.ExpiresAt != 0 && !r.left
		}) {
		return nil
	}
	m.ticking = true
	return fullscreen.After(clock, tick{})
}

// applyChanges applies changes to the list. Rows keep their order, and new ones come last, so that
// the cursor's row stays in place.
func (m *model) applyChanges(c *protocol.SessionsChanged) {
	m.incomplete = c.Incomplete
	rows := make(map[string]*row, len(m.all))
	for _, r := range m.all {
		rows[r.SessionID] = r
		r.left = r.left || c.Full
	}
	for _, s := range c.Sessions {
		if s.State == protocol.StateExited {
			c.Gone = append(c.Gone, s.SessionID)
			continue
		}
		if r := rows[s.SessionID]; r != nil {
			*r = row{SessionInfo: s}
		} else {
			m.all = append(m.all, &row{SessionInfo: s})
		}
	}
	for _, id := range c.Gone {
		if r := rows[id]; r != nil {
			r.left = true
		}
	}
	m.removeGone()
	m.closeStaleQuestion()
}

// removeGone removes the rows that are gone. The row under the cursor stays, so that no other comes
// under it.
func (m *model) removeGone() {
	m.all = slices.DeleteFunc(m.all, func(r *row) bool { return r.left && r.SessionID != m.chosen })
	if m.chosenIndex() < 0 && len(m.all) > 0 {
		m.chosen = m.all[0].SessionID
	}
}

// closeStaleQuestion closes a question that differs from the one that the person read.
func (m *model) closeStaleQuestion() {
	if m.asked == nil {
		return
	}
	r, before := m.chosenRow(), m.asked.about.Keyboard
	if r == nil || r.left || r.Keyboard.Epoch != before.Epoch ||
		r.Keyboard.Asking != before.Asking ||
		r.Keyboard.AskingSince != before.AskingSince ||
		r.Keyboard.AskingLevel != before.AskingLevel ||
		r.Keyboard.AskingReason != before.AskingReason {
		m.asked, m.status = nil, "the question has changed, or was answered elsewhere: "+
			"nothing was given"
	}
}

// chosenIndex returns the index of the chosen row, or a negative number.
func (m *model) chosenIndex() int {
	return slices.IndexFunc(m.all, func(r *row) bool { return r.SessionID == m.chosen })
}

// chosenRow returns the chosen row, or nil.
func (m *model) chosenRow() *row {
	if at := m.chosenIndex(); at >= 0 {
		return m.all[at]
	}
	return nil
}

// hasQuestion reports whether an agent waits for an answer.
func (r *row) hasQuestion() bool { return !r.left && r.Keyboard.Asking != "" }

// isDriven reports whether an agent has the keyboard.
func (r *row) isDriven() bool { return !r.left && r.Keyboard.Holder == protocol.HolderAgent }
