package proxy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"terminalproxy/proxy/authority"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/child"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/screen"
)

// beside is the driver of a program that has its own interface in the session's terminal, nil for none.
func (s *session) beside() chat.Beside {
	if s.conf.Agent == nil || s.conf.Agent.Chat == nil {
		return nil
	}
	return s.conf.Agent.Chat.Beside
}

// wireBeside gives the driver of the program the terminal.
func (s *session) wireBeside() {
	if b := s.beside(); b != nil {
		b.Attach(chatTerminal{s})
	}
}

// exitBeside tells the driver how the program ended.
func (s *session) exitBeside(exit child.Exit) {
	b := s.beside()
	if b == nil {
		return
	}
	why := ""
	switch {
	case exit.Signal != "":
		why = "was killed: " + exit.Signal
	case exit.Code != 0:
		why = fmt.Sprintf("ended with exit status %d", exit.Code)
	}
	var rows []string
	s.observer.Call(func(time.Time) {
		last, _ := chatScreen(s.observer.Model())
		for _, r := range last.Rows {
			rows = append(rows, r.Text)
		}
	})
	b.Exited(why, rows)
	select {
	case <-s.conf.Agent.Chat.Session.Over(): // else it would end as one that we closed
	case <-time.After(lastPatience):
	}
}

// dialogGuard keeps agents' keys from a dialog that only a person may answer. What is typed for a person has no agent.
type dialogGuard struct {
	*authority.Authority
	open func() bool
}

// Admit implements [input.Control].
func (g dialogGuard) Admit(now time.Time, agent string, epoch uint64) error {
	if agent != "" && g.open() {
		return control.ErrDialog
	}
	return g.Authority.Admit(now, agent, epoch)
}

// guardedControl is what the pump asks.
func (s *session) guardedControl() input.Control {
	if b := s.beside(); b != nil && !s.conf.Agent.Chat.AgentsMayApprove {
		return dialogGuard{s.authority, b.Dialog}
	}
	return s.authority
}

// chatWatch has the driver know of a person's keys, too.
type chatWatch struct {
	input.Watch
	beside chat.Beside
}

// User implements [input.Watch].
func (w chatWatch) User(keys []byte) {
	w.beside.Pressed(keys)
	w.Watch.User(keys)
}

// watchKeys is what the pump tells of keys.
func (s *session) watchKeys() input.Watch {
	if b := s.beside(); b != nil {
		return chatWatch{s.tracker, b}
	}
	return s.tracker
}

// chatTerminal is the session's terminal as the driver of its program has it.
type chatTerminal struct{ s *session }

// Look implements [chat.Terminal].
func (t chatTerminal) Look() (out chat.Screen, ok bool) {
	whole := false
	ok = t.s.observer.Call(func(time.Time) { out, whole = chatScreen(t.s.observer.Model()) })
	return out, ok && whole
}

// chatScreen is what stands on the screen, and whether that is a whole picture.
func chatScreen(m *screen.Screen) (out chat.Screen, whole bool) {
	cols, rows := m.Size()
	out = chat.Screen{Rows: make([]chat.Row, rows), Pastes: m.Modes().BracketedPaste}
	for y := range rows {
		out.Rows[y] = chatRow(m, y, cols)
	}
	return out, !m.Modes().Sync
}

func chatRow(m *screen.Screen, y, cols int) chat.Row {
	var text, plain strings.Builder
	caret, n := -1, 0
	for x := range cols {
		c := m.Cell(y, x)
		content := c.Content
		switch {
		case c.Width == 0 && x > 0 && content == "" && m.Cell(y, x-1).Width == 2:
			continue
		case content == "":
			content = " "
		}
		if caret < 0 && c.Style.Attrs&screen.Inverse != 0 {
			caret = n
		}
		text.WriteString(content)
		if c.Style.Fg == 0 && c.Style.Attrs&screen.Faint == 0 {
			plain.WriteString(content)
		} else {
			plain.WriteString(strings.Repeat(" ", len([]rune(content))))
		}
		n += len([]rune(content))
	}
	return chat.Row{Text: strings.TrimRight(text.String(), " "), Plain: strings.TrimRight(plain.String(), " "), Caret: caret}
}

const (
	// chatQuiet is how long the user must not have typed before something is typed for a person elsewhere: what they typed is on the
	// screen by then.
	chatQuiet = 300 * time.Millisecond
	// chatGap is how long the program sees a piece alone, and chatLook the time between two looks at the screen.
	chatGap  = 50 * time.Millisecond
	chatLook = 30 * time.Millisecond
)

// Type implements [chat.Terminal]. It goes through the pump's queue as agents' input does, so that not a byte comes between the user's,
// or after the keyboard changed hands.
func (t chatTerminal) Type(c chat.Typing) {
	typing := &chatTyping{Typing: c, s: t.s}
	size := 0
	for _, p := range c.Pieces {
		size += len(p)
	}
	t.s.pump.Offer(input.Job{
		Epoch: t.s.authority.Newest().Epoch, Size: size, Excuse: func(error) bool { return true },
		Prepare: typing.prepare, Hold: typing.hold, Done: typing.finished,
	})
}

// Stand implements [chat.Terminal]. What a typing asks on the pump's goroutine is exact: the queue is dropped whenever control changes.
func (t chatTerminal) Stand() (still func() bool) {
	then, reclaims := t.s.authority.Newest(), t.s.reclaims.Load()
	return func() bool {
		return t.s.reclaims.Load() == reclaims && (then.Phase != control.Granted || t.s.authority.Newest().Epoch == then.Epoch)
	}
}

// chatTyping follows a typing to its end. Its fields belong to the pump's goroutine, but for over.
type chatTyping struct {
	chat.Typing
	s    *session
	base uint64 // the user's keys before the first piece, from 1; 0 while that waits
	over atomic.Bool
}

// prepare looks at the screen until the next piece may go. It is called on the pump's goroutine.
func (c *chatTyping) prepare(left []input.Piece, answer func([]input.Piece, error)) {
	if left == nil {
		for i, b := range c.Pieces {
			left = append(left, input.Piece{Bytes: slices.Clone(b), Gap: chatGap, Acts: i == len(c.Pieces)-1, Step: i + 1})
		}
	}
	next := len(c.Pieces) - len(left)
	var look func()
	look = func() {
		ok := c.s.observer.Post(func(time.Time) {
			now, whole := chatScreen(c.s.observer.Model())
			err := chat.ErrNotYet
			if whole {
				err = c.May(next, now)
			}
			if errors.Is(err, chat.ErrNotYet) && !c.over.Load() {
				time.AfterFunc(chatLook, look)
				return
			}
			answer(left, err)
		})
		if !ok {
			answer(nil, errors.New("the program has ended"))
		}
	}
	look()
}

// hold refuses what would follow keys of the user's.
func (c *chatTyping) hold(now time.Time, _ []input.Piece, line input.Line) (held bool, err error) {
	keys := uint64(line.User) + 1
	switch {
	case !c.Still():
		return false, chat.ErrTaken
	case c.base != 0 && c.base != keys, c.base == 0 && c.Keys != 0 && c.Keys != keys,
		c.base == 0 && now.Sub(c.s.tracker.Pressed()) < chatQuiet:
		return false, chat.ErrUserTyped
	}
	c.base = keys
	return false, nil
}

func (c *chatTyping) finished(r input.Receipt) {
	c.over.Store(true)
	out := chat.Typed{Keys: c.base, Err: r.Err}
	for written := r.Written; out.Pieces < len(c.Pieces) && written >= len(c.Pieces[out.Pieces]); out.Pieces++ {
		written -= len(c.Pieces[out.Pieces])
	}
	switch r.Fate {
	case input.Written, input.Refused:
	case input.Dropped:
		out.Err = chat.ErrTaken
	case input.NotReading:
		out.Err = errors.New("the program does not read its keyboard")
	default:
		out.Err = errors.New("the program has ended")
	}
	c.Done(out)
}
