// Package top shows all sessions in one screen of a person's terminal, where they answer agents' questions and take keyboards back. It
// must not know how the gateway is reached, nor what an owner signs with: what is decided goes out by a function.
package top

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

const (
	// framesPerSecond bounds how often it draws. Nothing is drawn while nothing changes.
	framesPerSecond = 20
	// clock is how often the time that grants have left is shown anew, while there are any.
	clock = 30 * time.Second
)

// Config says what is shown, and where.
type Config struct {
	// Changes is the list of sessions and what changes in it: *[protocol.SessionsChanged]. Its end is the end of the gateway.
	Changes <-chan protocol.Message
	// Give gives the keyboard of a session to the agent that asked for it when the person was shown s, and Take takes it back or refuses
	// the question. Both are called on goroutines of their own, and are to end with ctx.
	Give, Take func(ctx context.Context, s protocol.SessionInfo) error
	// In and Out are the terminal.
	In, Out *os.File
}

// ErrGone says that the gateway went away and none came back.
var ErrGone = errors.New("the gateway is gone")

// Run shows sessions until the person leaves, or ctx ends, and leaves the terminal as it was.
func Run(ctx context.Context, c Config) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m := newModel(ctx, c)
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(c.In), tea.WithOutput(c.Out), tea.WithFPS(framesPerSecond), tea.WithoutSignalHandler())
	m.work.Go(func() { feed(ctx, c.Changes, p) })
	_, err := p.Run()
	stop()
	m.work.Wait()
	switch {
	case m.gone:
		return ErrGone
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("a fault: %w", err)
	case err != nil && ctx.Err() == nil:
		return fmt.Errorf("the terminal: %w", err)
	}
	return nil
}

// feed hands the changes over. It ends with ctx, or with them.
func feed(ctx context.Context, changes <-chan protocol.Message, p *tea.Program) {
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

// gone says that no more changes come, done what became of a decision, tick that it is later.
type (
	gone struct{}
	done struct {
		said string
		err  error
	}
	tick struct{}
)

// model is what is shown. It belongs to the goroutine of the program.
type model struct {
	ctx  context.Context //nolint:containedctx // Update has no parameter for it
	conf Config
	work sync.WaitGroup
	gone bool
	now  func() time.Time

	cols, rows int
	all        []*row               // in the order in which they came
	lacks      *protocol.Incomplete // what is missing among them, nil for nothing
	chosen     string               // the session under the cursor, whatever moves around it
	top        int                  // the first row that is shown
	said       string               // what came of the last decision
	ticking    bool
	asked      *question // that is open
}

// row is a session.
type row struct {
	protocol.SessionInfo
	left bool // it is gone, and stays until the cursor leaves it
}

// question is what the person is asked before an agent gets a keyboard, as it was when it was opened.
type question struct {
	about protocol.SessionInfo
	yes   bool
}

func newModel(ctx context.Context, c Config) *model {
	return &model{ctx: ctx, conf: c, now: time.Now}
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.cols, m.rows = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m, m.press(msg.String())
	case *protocol.SessionsChanged:
		m.change(msg)
		return m, m.tick()
	case tick:
		m.ticking = false
		return m, m.tick()
	case gone:
		m.gone = true
		return m, tea.Quit
	case done:
		if m.said = msg.said; msg.err != nil {
			m.said = text.OneLine(msg.err.Error())
		}
	}
	return m, nil
}

// tick waits until the time that a grant has left is to be shown anew.
func (m *model) tick() tea.Cmd {
	if m.ticking || !slices.ContainsFunc(m.all, func(r *row) bool { return r.Keyboard.ExpiresAt != 0 && !r.left }) {
		return nil
	}
	m.ticking = true
	return tea.Tick(clock, func(time.Time) tea.Msg { return tick{} })
}

// change takes what is new. Rows keep their order, and new ones come last: what stands under a finger stays there.
func (m *model) change(c *protocol.SessionsChanged) {
	m.lacks = c.Incomplete
	was := make(map[string]*row, len(m.all))
	for _, r := range m.all {
		was[r.SessionID] = r
		r.left = r.left || c.Full
	}
	for _, s := range c.Sessions {
		if s.State == protocol.StateExited {
			c.Gone = append(c.Gone, s.SessionID)
			continue
		}
		if r := was[s.SessionID]; r != nil {
			*r = row{SessionInfo: s}
		} else {
			m.all = append(m.all, &row{SessionInfo: s})
		}
	}
	for _, id := range c.Gone {
		if r := was[id]; r != nil {
			r.left = true
		}
	}
	m.sweep()
	m.recheck()
}

// sweep takes those out that are gone. The one under the cursor stays, so that no other comes under it.
func (m *model) sweep() {
	m.all = slices.DeleteFunc(m.all, func(r *row) bool { return r.left && r.SessionID != m.chosen })
	if m.at() < 0 && len(m.all) > 0 {
		m.chosen = m.all[0].SessionID
	}
}

// recheck closes a question that is no longer the one that the person read.
func (m *model) recheck() {
	if m.asked == nil {
		return
	}
	r, was := m.row(), m.asked.about.Keyboard
	if r == nil || r.left || r.Keyboard.Epoch != was.Epoch || r.Keyboard.Asking != was.Asking ||
		r.Keyboard.AskingSince != was.AskingSince || r.Keyboard.AskingLevel != was.AskingLevel || r.Keyboard.AskingReason != was.AskingReason {
		m.asked, m.said = nil, "the question has changed, or was answered elsewhere: nothing was given"
	}
}

// at is the number of the chosen row, negative for none.
func (m *model) at() int {
	return slices.IndexFunc(m.all, func(r *row) bool { return r.SessionID == m.chosen })
}

// row is the chosen one, nil for none.
func (m *model) row() *row {
	if at := m.at(); at >= 0 {
		return m.all[at]
	}
	return nil
}

// asks reports whether an agent waits for an answer.
func (r *row) asks() bool { return !r.left && r.Keyboard.Asking != "" }

// driven reports whether an agent has the keyboard.
func (r *row) driven() bool { return !r.left && r.Keyboard.Holder == protocol.HolderAgent }
