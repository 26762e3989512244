package overlay

import (
	"errors"
	"slices"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
)

// Bounds of what others may say to the user. Agents are free to come under another id, so they are counted together.
const (
	messagesKept = 8 // messages that wait to be shown, and as many that the user missed
	messageRows  = 5 // that one covers
	// messageFor is how long a message stands, and messageForEach how much longer for each character, if the user does not type.
	messageFor     = 8 * time.Second
	messageForEach = 40 * time.Millisecond
	titlePart      = 60 // characters of one in the window's title
	titleFor       = time.Minute
	// drawPatience is how long a message may take to stand on the screen before its sender is told that it waits.
	drawPatience = 1500 * time.Millisecond
)

// message is what somebody says to the user.
type message struct {
	control.Note
	rung bool // the bell was
}

// inbox holds what others say to the user until the user has seen it. It belongs to the status's lock.
type inbox struct {
	waiting []*message
	now     *message // is shown, or comes next
	drawn   time.Time
	until   time.Time     // when now goes by itself, zero before it was drawn
	heard   control.Heard // the newest one of an agent's that was drawn
	missed  []*message    // nobody touched a key while they were shown: they are in the menu
	onLine  *message      // that the newest line holds, nil for none
	timer   *time.Timer
}

// Hear takes a message for the user. The error is a sentence for who sent it: [ErrFull] or [ErrNoPlace].
func (s *Status) Hear(n control.Note) error {
	w := &message{Note: n}
	s.mu.Lock()
	switch {
	case !s.conf.Line && !s.conf.Title:
		s.mu.Unlock()
		return ErrNoPlace
	case len(s.inbox.waiting) >= messagesKept:
		s.mu.Unlock()
		return ErrFull
	}
	s.inbox.waiting = append(s.inbox.waiting, w)
	s.bell = s.bell || !s.conf.Line
	why := s.holdsUp(time.Now(), w)
	s.mu.Unlock()
	if why != "" {
		s.answer(w, why)
	} else {
		time.AfterFunc(drawPatience, func() { s.late(w) })
	}
	s.conf.Repaint()
	return nil
}

// Withdraw drops a message that does not stand on the screen yet: its sender gave it up.
func (s *Status) Withdraw(noteID string) {
	s.mu.Lock()
	m := &s.inbox
	meant := func(w *message) bool { return noteID != "" && w.ID == noteID }
	m.waiting = slices.DeleteFunc(m.waiting, meant)
	if m.now != nil && meant(m.now) && m.until.IsZero() {
		m.now, m.onLine = nil, nil
	}
	s.mu.Unlock()
	s.conf.Repaint()
}

// holdsUp says what a message has to wait for, "" for nothing. The lock is held.
func (s *Status) holdsUp(now time.Time, w *message) protocol.Waiting {
	m := &s.inbox
	switch st := s.state; {
	case s.conf.Present != nil && !s.conf.Present():
		return protocol.WaitsForPerson
	case !s.conf.Line:
		return protocol.WaitsForTitle
	case st.Message.Open, st.Asks(), st.Pregrant:
		return protocol.WaitsForAnswer
	case s.guarding(now):
		return protocol.WaitsForSecret
	case s.told != "" && now.Before(s.until), m.now != nil && m.now != w, m.now == nil && len(m.waiting) > 0 && m.waiting[0] != w:
		return protocol.WaitsForTurn
	}
	return ""
}

// late answers for a message that does not stand on the screen yet.
func (s *Status) late(w *message) {
	s.mu.Lock()
	why := s.holdsUp(time.Now(), w)
	s.mu.Unlock()
	if why == "" {
		why = protocol.WaitsForProgram
	}
	s.answer(w, why)
}

// answer tells a message's sender what becomes of it, if nobody has.
func (s *Status) answer(w *message, why protocol.Waiting) {
	s.mu.Lock()
	tell := w.Tell
	w.Tell = nil
	s.mu.Unlock()
	if tell != nil {
		tell(why)
	}
}

// speaks reports whether there is a message to show, and makes the next one the present one. The lock is held.
func (s *Status) speaks(now time.Time) bool {
	m := &s.inbox
	if m.now != nil && !m.until.IsZero() && !now.Before(m.until) {
		if s.conf.Line { // nobody touched a key: it may not have been read
			m.missed = append(m.missed, m.now)
			m.missed = m.missed[max(0, len(m.missed)-messagesKept):]
		}
		m.now = nil
	}
	if m.now == nil && len(m.waiting) > 0 {
		m.now, m.waiting, m.until = m.waiting[0], m.waiting[1:], time.Time{}
	}
	return m.now != nil
}

// speech is the line with the present message. The lock is held.
func (s *Status) speech(cols, rows int) string {
	w := s.inbox.now
	s.inbox.onLine = w
	return notice.Quote(cols, min(rows-1, messageRows), w.Who+": ", w.Text, "")
}

// spoke notes which message the newest line holds, where before held another, and reports whether to ring for it. The lock is
// held.
func (s *Status) spoke(before *message) (ring bool) {
	m := &s.inbox
	if m.onLine != before {
		m.drawn = time.Time{}
	}
	if m.onLine == nil || m.onLine.rung {
		return false
	}
	m.onLine.rung = true
	return s.conf.Line // else it rang as it came
}

// recall is the menu's line with the oldest message that the user may have missed. The lock is held.
func (s *Status) recall(now time.Time, cols, rows int, keys string) string {
	w := s.inbox.missed[0]
	s.inbox.onLine = w
	return notice.Quote(cols, min(rows-1, messageRows+menuRows), w.Who+", "+notice.Span(now.Sub(w.Came))+" ago: ", w.Text, keys)
}

// missing says how many messages the menu has for the user, for the window's title; where no line is wanted, it is the
// present one. The lock is held.
func (s *Status) missing(now time.Time) string {
	m := &s.inbox
	switch {
	case !s.conf.Line && s.speaks(now):
		text := []rune(m.now.Text)
		if m.onLine = m.now; len(text) > titlePart {
			text = append(text[:titlePart], '…')
		}
		return " [" + m.now.Who + ": “" + string(text) + "”]"
	case len(m.missed) > 0:
		return " [message: " + s.conf.Reclaim + "]"
	}
	return ""
}

// stands notes that the newest line, or title, is on the user's screen. It belongs to the copier's goroutine.
func (s *Status) stands() {
	s.mu.Lock()
	m := &s.inbox
	w := m.onLine
	if w == nil || !m.drawn.IsZero() {
		s.mu.Unlock()
		return
	}
	m.drawn = time.Now()
	if w.From.ID != "" {
		m.heard = control.Heard{From: w.From, At: m.drawn}
	}
	if w == m.now {
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
	s.answer(w, "")
}

// Heard is the agent's message that the user saw last: the one on the line, where there is one.
func (s *Status) Heard() control.Heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inbox.heard
}

// unsaid takes back that the newest line holds a message: it is not drawn for now.
func (s *Status) unsaid() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conf.Line {
		s.inbox.onLine, s.inbox.drawn = nil, time.Time{}
	}
}

// noticed notes that the user touched a key, and reports whether a message goes with that: one that could be read. The lock is
// held.
func (s *Status) noticed(now time.Time) bool {
	m := &s.inbox
	if m.onLine == nil || m.onLine != m.now || !s.conf.Line || m.drawn.IsZero() || now.Sub(m.drawn) < readFor {
		return false
	}
	m.now, m.onLine, m.drawn = nil, nil, time.Time{}
	return true
}

// recalled notes that the menu is closed: what it held long enough to be read is no longer missed. The lock is held.
func (s *Status) recalled(now time.Time) {
	m := &s.inbox
	if len(m.missed) > 0 && m.onLine == m.missed[0] && !m.drawn.IsZero() && now.Sub(m.drawn) >= readFor {
		m.missed = m.missed[1:]
	}
}

// Why a message cannot be kept for the user.
var (
	ErrFull    = errors.New("the user has too many messages that wait already: the newest was not kept")
	ErrNoPlace = errors.New("the user's terminal has no place for messages: neither a line nor a title is wanted")
)
