package proxy

import (
	"strings"
	"time"

	"github.com/acarl005/stripansi"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
)

// Bounds of what others may say to the user. Agents are free to come under another id, so they are counted together.
const (
	wordsMost  = protocol.MaxShown
	wordsKept  = 8 // messages that wait to be shown, and as many that the user missed
	wordsRows  = 5 // that one covers
	wordsBurst = 4 // messages at once
	wordsEvery = 15 * time.Second
	// wordsFor is how long a message stands, and wordsForEach how much longer for each character, if the user does not type.
	wordsFor     = 8 * time.Second
	wordsForEach = 40 * time.Millisecond
	wordsTitle   = 60 // characters of one in the window's title
	titleFor     = time.Minute
	// drawPatience is how long a message may take to stand on the screen before its sender is told that it waits.
	drawPatience = 1500 * time.Millisecond
)

// word is a message to the user.
type word struct {
	who  string        // the proxy's own words for who says it: what stands before it
	text string        // cleaned by words
	from control.Agent // who said it, zero for the proxy
	came time.Time
	// tell says what becomes of it, once: it is on the screen (""), or waits. It may be nil.
	tell func(protocol.Waiting)
	rung bool // the bell was
}

// words is a message as the user reads it: on one line, without what cannot be seen or looks like nothing, between
// quotation marks that it cannot end. "" is one that holds nothing to read.
func words(text string) string {
	text = protocol.Visible(strings.NewReplacer("\r", " ", "\u2800", " ").Replace(stripansi.Strip(text)))
	return unquote.Replace(notice.Clean(strings.Join(strings.Fields(text), " "), wordsMost+1))
}

// mouth holds what others say to the user until the user has seen it. It belongs to the status's lock.
type mouth struct {
	waiting []*word
	now     *word // is shown, or comes next
	drawn   time.Time
	until   time.Time     // when now goes by itself, zero before it was drawn
	heard   control.Heard // the newest one of an agent's that was drawn
	missed  []*word       // nobody touched a key while they were shown: they are in the menu
	onLine  *word         // that the newest line holds, nil for none
	timer   *time.Timer
}

// hear takes a message for the user. The error is a sentence for who sent it.
func (s *status) hear(w *word) error {
	s.mu.Lock()
	switch {
	case !s.line && !s.title:
		s.mu.Unlock()
		return errNoPlace
	case len(s.mouth.waiting) >= wordsKept:
		s.mu.Unlock()
		return errMouthFull
	}
	s.mouth.waiting = append(s.mouth.waiting, w)
	s.bell = s.bell || !s.line
	why := s.holdsUp(time.Now(), w)
	s.mu.Unlock()
	if why != "" {
		s.answer(w, why)
	} else {
		time.AfterFunc(drawPatience, func() { s.late(w) })
	}
	s.repaint()
	return nil
}

// holdsUp says what a message has to wait for, "" for nothing. The lock is held.
func (s *status) holdsUp(now time.Time, w *word) protocol.Waiting {
	m := &s.mouth
	switch st := s.state; {
	case s.present != nil && !s.present():
		return protocol.WaitsForPerson
	case !s.line:
		return protocol.WaitsForTitle
	case st.Draft.Open, st.Asks(), st.Pregrant:
		return protocol.WaitsForAnswer
	case s.guarding(now):
		return protocol.WaitsForSecret
	case s.told != "" && now.Before(s.until), m.now != nil && m.now != w, m.now == nil && len(m.waiting) > 0 && m.waiting[0] != w:
		return protocol.WaitsForTurn
	}
	return ""
}

// late answers for a message that does not stand on the screen yet.
func (s *status) late(w *word) {
	s.mu.Lock()
	why := s.holdsUp(time.Now(), w)
	s.mu.Unlock()
	if why == "" {
		why = protocol.WaitsForProgram
	}
	s.answer(w, why)
}

// answer tells a message's sender what becomes of it, if nobody has.
func (s *status) answer(w *word, why protocol.Waiting) {
	s.mu.Lock()
	tell := w.tell
	w.tell = nil
	s.mu.Unlock()
	if tell != nil {
		tell(why)
	}
}

// speaks reports whether there is a message to show, and makes the next one the present one. The lock is held.
func (s *status) speaks(now time.Time) bool {
	m := &s.mouth
	if m.now != nil && !m.until.IsZero() && !now.Before(m.until) {
		if s.line { // nobody touched a key: it may not have been read
			m.missed = append(m.missed, m.now)
			m.missed = m.missed[max(0, len(m.missed)-wordsKept):]
		}
		m.now = nil
	}
	if m.now == nil && len(m.waiting) > 0 {
		m.now, m.waiting, m.until = m.waiting[0], m.waiting[1:], time.Time{}
	}
	return m.now != nil
}

// speech is the line with the present message. The lock is held.
func (s *status) speech(cols, rows int) string {
	w := s.mouth.now
	s.mouth.onLine = w
	return notice.Quote(cols, min(rows-1, wordsRows), w.who+": ", w.text, "")
}

// spoke notes which message the newest line holds, where before held another, and reports whether to ring for it. The lock is
// held.
func (s *status) spoke(before *word) (ring bool) {
	m := &s.mouth
	if m.onLine != before {
		m.drawn = time.Time{}
	}
	if m.onLine == nil || m.onLine.rung {
		return false
	}
	m.onLine.rung = true
	return s.line // else it rang as it came
}

// recall is the menu's line with the oldest message that the user may have missed. The lock is held.
func (s *status) recall(now time.Time, cols, rows int, keys string) string {
	w := s.mouth.missed[0]
	s.mouth.onLine = w
	return notice.Quote(cols, min(rows-1, wordsRows+menuRows), w.who+", "+span(now.Sub(w.came))+" ago: ", w.text, keys)
}

// missing says how many messages the menu has for the user, for the window's title; where no line is wanted, it is the
// present one. The lock is held.
func (s *status) missing(now time.Time) string {
	m := &s.mouth
	switch {
	case !s.line && s.speaks(now):
		text := []rune(m.now.text)
		if m.onLine = m.now; len(text) > wordsTitle {
			text = append(text[:wordsTitle], '…')
		}
		return " [" + m.now.who + ": “" + string(text) + "”]"
	case len(m.missed) > 0:
		return " [message: " + s.key + "]"
	}
	return ""
}

// stands notes that the newest line, or title, is on the user's screen. It belongs to the copier's goroutine.
func (s *status) stands() {
	s.mu.Lock()
	m := &s.mouth
	w := m.onLine
	if w == nil || !m.drawn.IsZero() {
		s.mu.Unlock()
		return
	}
	m.drawn = time.Now()
	if w.from.ID != "" {
		m.heard = control.Heard{From: w.from, At: m.drawn}
	}
	if w == m.now {
		stay := wordsFor + time.Duration(len([]rune(w.text)))*wordsForEach
		if !s.line {
			stay = titleFor
		}
		if m.until.IsZero() {
			m.until = m.drawn.Add(stay)
			if m.timer != nil {
				m.timer.Stop()
			}
			m.timer = time.AfterFunc(stay, s.repaint)
		}
	}
	s.mu.Unlock()
	s.answer(w, "")
}

// heardLast is the agent's message that the user saw last: the one on the line, where there is one.
func (s *status) heardLast() control.Heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mouth.heard
}

// unsaid takes back that the newest line holds a message: it is not drawn for now.
func (s *status) unsaid() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line {
		s.mouth.onLine, s.mouth.drawn = nil, time.Time{}
	}
}

// noticed notes that the user touched a key, and reports whether a message goes with that: one that could be read. The lock is
// held.
func (s *status) noticed(now time.Time) bool {
	m := &s.mouth
	if m.onLine == nil || m.onLine != m.now || !s.line || m.drawn.IsZero() || now.Sub(m.drawn) < readFor {
		return false
	}
	m.now, m.onLine, m.drawn = nil, nil, time.Time{}
	return true
}

// recalled notes that the menu is closed: what it held long enough to be read is no longer missed. The lock is held.
func (s *status) recalled(now time.Time) {
	m := &s.mouth
	if len(m.missed) > 0 && m.onLine == m.missed[0] && !m.drawn.IsZero() && now.Sub(m.drawn) >= readFor {
		m.missed = m.missed[1:]
	}
}
