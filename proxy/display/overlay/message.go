package overlay

import (
	"errors"
	"slices"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/display/notice"
)

// Bounds of messages to the user. Messages of all agents are counted together, since an agent may
// return under another id.
const (
	maxMessages = 8 // messages waiting, and as many that the user missed
	messageRows = 5 // rows that a message covers
	// messageFor is how long a message stays if the user does not type, and messageForEach how much
	// longer for each of its characters.
	messageFor      = 8 * time.Second
	messageForEach  = 40 * time.Millisecond
	maxTitleMessage = 60 // characters of a message in the window's title
	titleFor        = time.Minute
	// drawPatience is how long a message may take to reach the screen before its sender learns that
	// it waits.
	drawPatience = 1500 * time.Millisecond
)

// message is a text from an agent or a person to the user.
type message struct {
	control.Note
	rung bool // the bell has rung for it
}

// inbox holds messages until the user has seen them. Guarded by Status.mu.
type inbox struct {
	waiting  []*message
	current  *message // the one that is shown, or comes next
	drawn    time.Time
	until    time.Time           // when current disappears by itself, zero before it is drawn
	lastSeen control.SeenMessage // the agent's message that was drawn last
	missed   []*message          // shown while the user touched no key: they are in the menu
	onLine   *message            // the one on the newest line
	timer    *time.Timer
}

// QueueMessage queues a message for the user. Its errors are sentences for the sender: [ErrFull] or
// [ErrNoPlace].
func (s *Status) QueueMessage(n control.Note) error {
	w := &message{Note: n}
	s.mu.Lock()
	switch {
	case !s.conf.Line && !s.conf.Title:
		s.mu.Unlock()
		return ErrNoPlace
	case len(s.inbox.waiting) >= maxMessages:
		s.mu.Unlock()
		return ErrFull
	}
	if now := time.Now(); s.remarkEnd.Sub(now) > TroubleFor {
		s.remarkEnd = now
	}
	s.inbox.waiting = append(s.inbox.waiting, w)
	s.bell = s.bell || !s.conf.Line
	reason := s.waitReasonLocked(time.Now(), w)
	s.mu.Unlock()
	if reason != "" {
		s.answerSender(w, reason)
	} else {
		time.AfterFunc(drawPatience, func() { s.answerLate(w) })
	}
	s.conf.Repaint()
	return nil
}

// WithdrawMessage drops a message that its sender gave up before it reached the screen.
func (s *Status) WithdrawMessage(noteID string) {
	s.mu.Lock()
	m := &s.inbox
	isMeant := func(w *message) bool { return noteID != "" && w.ID == noteID }
	m.waiting = slices.DeleteFunc(m.waiting, isMeant)
	if m.current != nil && isMeant(m.current) && m.until.IsZero() {
		m.current, m.onLine = nil, nil
	}
	s.mu.Unlock()
	s.conf.Repaint()
}

// waitReasonLocked returns what a message has to wait for, or "".
func (s *Status) waitReasonLocked(now time.Time, w *message) protocol.Waiting {
	m := &s.inbox
	switch st := s.state; {
	case s.conf.Present != nil && !s.conf.Present():
		return protocol.WaitsForPerson
	case !s.conf.Line:
		return protocol.WaitsForTitle
	case s.isAsking(now), st.Question.Kind == question.Message, st.Pregrant:
		return protocol.WaitsForAnswer
	case s.isGuarding(now):
		return protocol.WaitsForSecret
	case s.remark != "" && now.Before(s.remarkEnd),
		m.current != nil && m.current != w,
		m.current == nil && len(m.waiting) > 0 && m.waiting[0] != w:
		return protocol.WaitsForTurn
	}
	return ""
}

// answerLate answers the sender of a message that has not reached the screen yet.
func (s *Status) answerLate(w *message) {
	s.mu.Lock()
	reason := s.waitReasonLocked(time.Now(), w)
	s.mu.Unlock()
	if reason == "" {
		reason = protocol.WaitsForProgram
	}
	s.answerSender(w, reason)
}

// answerSender reports to the sender, once, that the message is shown (""), or what it waits for.
func (s *Status) answerSender(w *message, reason protocol.Waiting) {
	s.mu.Lock()
	tell := w.Report
	w.Report = nil
	s.mu.Unlock()
	if tell != nil {
		tell(reason)
	}
}

// nextMessageLocked makes the next message the current one if its turn has come, and reports
// whether there is a current one.
func (s *Status) nextMessageLocked(now time.Time) bool {
	m := &s.inbox
	if m.current != nil && !m.until.IsZero() && !now.Before(m.until) {
		if s.conf.Line { // the user touched no key: it may not have been read
			m.missed = append(m.missed, m.current)
			m.missed = m.missed[max(0, len(m.missed)-maxMessages):]
		}
		m.current = nil
	}
	if m.current == nil && len(m.waiting) > 0 {
		m.current, m.waiting, m.until = m.waiting[0], m.waiting[1:], time.Time{}
	}
	return m.current != nil
}

// messageLine is the line with the current message.
func (s *Status) messageLine(cols, rows int) string {
	w, keys := s.inbox.current, ""
	if s.inbox.onLine = w; w.From.ID != "" {
		keys = pressAgain(s.state.Question.Ignored) + s.grantLabel() + " answers"
	}
	return notice.Quote(cols, min(rows-1, messageRows), w.Sender+": ", w.Text, keys)
}

// noteOnLineLocked notes which message the newest line holds after before, and reports whether to
// ring for it.
func (s *Status) noteOnLineLocked(before *message) (ring bool) {
	m := &s.inbox
	if m.onLine != before {
		m.drawn = time.Time{}
	}
	if m.onLine == nil || m.onLine.rung {
		return false
	}
	m.onLine.rung = true
	return s.conf.Line // otherwise it rang when the message came
}

// missedLine is the menu's line with the oldest message that the user may have missed.
func (m *inbox) missedLine(now time.Time, cols, rows int, keys string) string {
	w := m.missed[0]
	m.onLine = w
	return notice.Quote(
		cols,
		min(rows-1, messageRows+menuRows),
		w.Sender+", "+notice.Span(now.Sub(w.ReceivedAt))+" ago: ",
		w.Text,
		keys,
	)
}

// titleMessageLocked returns the part of the title that announces messages in the menu or, if the
// user wants no line, shows the current message.
func (s *Status) titleMessageLocked(now time.Time) string {
	m := &s.inbox
	switch {
	case !s.conf.Line && s.nextMessageLocked(now):
		text := []rune(m.current.Text)
		if m.onLine = m.current; len(text) > maxTitleMessage {
			text = append(text[:maxTitleMessage], '…')
		}
		return " [" + m.current.Sender + ": “" + string(text) + "”]"
	case len(m.missed) > 0:
		return " [message: " + s.conf.Reclaim + "]"
	}
	return ""
}

// noteDrawn notes that the newest line or title is on the user's screen. The copier's goroutine
// calls it.
func (s *Status) noteDrawn() {
	s.mu.Lock()
	m := &s.inbox
	w := m.onLine
	if w == nil || !m.drawn.IsZero() {
		s.mu.Unlock()
		return
	}
	m.drawn = time.Now()
	if w.From.ID != "" {
		m.lastSeen = control.SeenMessage{From: w.From, At: m.drawn}
	}
	if w == m.current {
		stay := messageFor + time.Duration(len([]rune(w.Text)))*messageForEach
		if !s.conf.Line {
			stay = titleFor
		}
		if m.until.IsZero() {
			m.until = m.drawn.Add(stay)
			if m.timer != nil {
				m.timer.Stop()
			}
			m.timer = time.AfterFunc(stay, s.conf.Repaint)
		}
	}
	s.mu.Unlock()
	s.answerSender(w, "")
}

// LastSeenMessage returns the agent's message that the user saw last, and whether it is on the line.
func (s *Status) LastSeenMessage() (control.SeenMessage, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &s.inbox
	w := m.onLine
	return m.lastSeen, w != nil && w == m.current && w.From.ID != "" && !m.drawn.IsZero()
}

// noteNotDrawn forgets that the newest line holds a message, because the line is not drawn for now.
func (s *Status) noteNotDrawn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conf.Line {
		s.inbox.onLine, s.inbox.drawn = nil, time.Time{}
	}
}

// noteKeyLocked notes that the user touched a key, and reports whether that removes a message that
// could be read.
func (s *Status) noteKeyLocked(now time.Time) bool {
	m := &s.inbox
	if m.onLine == nil || m.onLine != m.current || !s.conf.Line || m.drawn.IsZero() ||
		now.Sub(m.drawn) < readFor {
		return false
	}
	m.current, m.onLine, m.drawn = nil, nil, time.Time{}
	return true
}

// noteMenuClosed removes the message that the menu showed long enough to be read.
func (m *inbox) noteMenuClosed(now time.Time) {
	if len(m.missed) > 0 && m.onLine == m.missed[0] && !m.drawn.IsZero() &&
		now.Sub(m.drawn) >= readFor {
		m.missed = m.missed[1:]
	}
}

// Reasons why a message cannot be kept for the user.
var (
	ErrFull    = errors.New("the user has too many waiting messages already: the newest was not kept")
	ErrNoPlace = errors.New(
		"the user's terminal has no place for messages: neither a line nor a title is wanted",
	)
)
