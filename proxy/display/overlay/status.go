// Package overlay shows the user the proxy's own texts over the program: a line with questions and
// remarks, the window's title and the bell. It composes them, decides which comes first, and makes
// the bytes that draw and remove them from the terminal model. It makes no decisions about control,
// writes nothing itself, and refers to agents only by name. Its user passes the state of control
// ([Status.ShowState]) and writes the bytes of [Painter.Paint].
package overlay

import (
	"sync"
	"sync/atomic"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/display/notice"
)

// How long a remark stays.
const (
	RemarkFor  = 3 * time.Second  // a plain remark
	NoteFor    = 8 * time.Second  // one with words of an agent or a person
	TroubleFor = 10 * time.Second // one about a problem
	UntilKey   = 24 * time.Hour   // one that waits for the user, or for a message
	welcomeFor = 2 * time.Second  // that a session is shared
	readFor    = time.Second      // until then the user's keys do not remove it
)

// Bounds of the texts.
const (
	maxTitle    = 200 // characters of the program's title
	remarkRows  = 3   // at most for a remark
	menuRows    = 5   // for the menu, on a narrow screen
	askRows     = 6   // for a request
	programRows = 10  // for a program's question
	slimCols    = 40  // columns; below, a remark gets menuRows, so that its key is not cut off
	narrowCols  = 30  // columns; below, a request covers what it needs
)

// Config describes the user's terminal and the user's preferences.
type Config struct {
	Name  string // of the session, for a program that sets no title
	Line  bool   // the line is wanted (no --no-notice)
	Title bool   // the terminal takes titles
	// OneProgram means that grants are for the foreground program.
	OneProgram bool
	Colors     Colors      // of the terminal
	ASCII      bool        // its locale has no UTF-8, see [TakesUTF8]
	Taste      Taste       // of the user
	Reclaim    string      // the label of the reclaim key
	Grant      string      // the label of the grant key where the session starts
	Leave      string      // in the menu: how to leave another person's session
	Repaint    func()      // requests a redraw; called on any goroutine
	Present    func() bool // whether a person can see the screen; nil means always
}

// Status holds the proxy's texts for the user: a line over the bottom row while something needs the
// user's attention, and the window's title, which names who has the keyboard. It may be used on any
// goroutine; a [Painter] draws it.
type Status struct {
	wording
	granted atomic.Bool // a grant was announced in full

	mu          sync.Mutex // guards the fields below, and the state of wording
	remark      string     // a passing remark
	remarkedAt  time.Time  // when it was made
	remarkEnd   time.Time  // when it disappears by itself
	timer       *time.Timer
	awayTimer   *time.Timer // remarks that the agent waits for its program
	bell        bool
	alert       alert     // waits to be written
	unreadable  bool      // the newest line had no room for the question
	unobserved  bool      // no gateway is connected, so no one can look
	lastRequest time.Time // when an agent last asked for something
	secretShown bool      // the present prompt for a secret has been announced
	begun       bool      // a grant began: unlock the terminal's keyboard, to be sure
	sign        sign      // that an agent drives
	inbox       inbox     // messages to the user
}

// New returns a status without texts.
func New(conf Config) *Status { return &Status{wording: wording{conf: conf}} }

// ShowState updates the texts for a new state of control.
func (s *Status) ShowState(state control.State) {
	s.mu.Lock()
	switch state.Question.Kind {
	case question.Keyboard, question.Input, question.Secret, question.Text, question.Confirm:
		s.bell = s.bell || state.Question.Turn != s.state.Question.Turn
	default:
	}
	if state.Hidden != s.state.Hidden {
		s.remarkHiddenLocked(state.Hidden)
	}
	if state.Muted != s.state.Muted {
		s.remarkMutedLocked(state.Muted)
	}
	if state.Phase == control.Granted && s.state.Phase != control.Granted {
		s.begun = true
	}
	if state.Asking > s.state.Asking {
		s.setRemarkLocked(s.askingRemark(state), NoteFor)
		s.bell = true
	}
	s.noteForegroundLocked(state)
	if s.state.Question.Kind == question.Menu && state.Question.Kind != question.Menu {
		s.inbox.noteMenuClosed(time.Now())
	}
	s.state = state
	s.mu.Unlock()
	s.conf.Repaint()
}

// ShowText shows a plain remark.
func (s *Status) ShowText(text string) { s.ShowRemark(text, RemarkFor) }

// ShowRemark shows a remark for a while.
func (s *Status) ShowRemark(text string, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setRemarkLocked(text, d)
	s.conf.Repaint()
}

func (s *Status) setRemarkLocked(text string, d time.Duration) {
	now := time.Now()
	s.remark, s.remarkedAt, s.remarkEnd = text, now, now.Add(d)
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(d, s.conf.Repaint)
}

// SetObserved notes whether a gateway is connected, through which agents look.
func (s *Status) SetObserved(yes bool) {
	s.mu.Lock()
	changed := s.unobserved == yes
	s.unobserved = !yes
	s.mu.Unlock()
	if changed {
		s.conf.Repaint()
	}
}

// DismissRemark removes a remark that could be read: the user types, and may be typing on the row
// that it covers. It holds no lock that the screen or the network could hold up.
func (s *Status) DismissRemark() {
	s.mu.Lock()
	read := s.remark != "" && time.Since(s.remarkedAt) >= readFor
	if read {
		s.remark = ""
	}
	now := time.Now()
	read = s.noteKeyLocked(now) || read
	read = s.hideSignLocked(now) || read
	s.mu.Unlock()
	if read {
		s.conf.Repaint()
	}
}

// Close stops the timers.
func (s *Status) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range []*time.Timer{s.timer, s.awayTimer, s.inbox.timer, s.sign.tick, s.sign.wake} {
		if t != nil {
			t.Stop()
		}
	}
}

// takeBegun reports once that a grant began.
func (s *Status) takeBegun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	begun := s.begun
	s.begun = false
	return begun
}

// composeNow returns what to show now on a terminal of this size: the line, the title (each may be
// ""), whether to ring, and the turn of the question that line or title ask, or 0.
func (s *Status) composeNow(
	now time.Time, cols, rows int, title string,
) (line, window string, ring bool, turn uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ring, s.bell = s.bell, false
	guarding := s.isGuarding(now)
	ring = ring || guarding && !s.secretShown
	s.secretShown = guarding
	before := s.inbox.onLine
	s.inbox.onLine = nil
	line, readable := s.lineLocked(now, cols, rows)
	if readable {
		turn = s.state.Question.Turn
	}
	s.unreadable = !readable && s.isAsking(now)
	if s.conf.Title {
		if title == "" {
			title = s.conf.Name
		}
		window = s.titleTag(now) + s.titleMessageLocked(now) + " " + notice.Clean(title, maxTitle)
	}
	ring = s.noteOnLineLocked(before) || ring
	return s.conf.encode(line), s.conf.encode(window), ring, turn
}

// isAsking reports whether the line, or the title, asks a question. A prompt of the program is one
// only if the user is told of it.
func (s *Status) isAsking(now time.Time) bool {
	switch s.state.Question.Kind {
	case question.None, question.Message:
		return false
	case question.Prompt:
		return s.isGuarding(now)
	default:
		return true
	}
}

// lineLocked returns the line, and whether it asks a question that the user can read.
func (s *Status) lineLocked(now time.Time, cols, rows int) (line string, readable bool) {
	switch st := s.state; {
	case !s.conf.Line:
		return "", s.isAsking(now) && (st.RuleGrant.Rule == "" || s.conf.Title)
	case s.isAsking(now), st.Question.Kind == question.Message:
		return s.questionLine(now, cols, rows)
	case s.isGuarding(now):
		line = notice.Line(cols, s.secretText(), "")
	case st.Pregrant:
		line = notice.Line(cols, s.pregrantLine(), s.conf.Reclaim+" takes that back")
	case s.remark != "" && now.Before(s.remarkEnd):
		most := remarkRows
		if cols < slimCols {
			most = menuRows
		}
		line = notice.Rows(cols, min(rows-1, most), s.remark, "")
	case s.nextMessageLocked(now):
		line = s.messageLine(cols, rows)
	}
	return line, false
}

// titleTag returns the part of the window's title that names who has the keyboard.
func (s *Status) titleTag(now time.Time) string {
	if asks := s.questionTitle(); asks != "" {
		return asks
	}
	switch st := s.state; {
	case st.Hidden:
		return "[hidden]"
	case s.isGuarding(now):
		return s.secretTag()
	case st.NeverRule != "":
		return "[" + st.Agent.Name + " waits: never in " + st.OtherProgram + "]"
	case st.OtherProgram != "":
		return "[" + st.Agent.Name + " waits for " + st.Program + "]"
	case st.Phase == control.Granted && st.Paused:
		return "[" + st.Agent.Name + " paused]"
	case st.Phase == control.Granted && st.Level == protocol.LevelType:
		return "[" + st.Agent.Name + " types]"
	case st.Phase == control.Granted:
		return "[" + st.Agent.Name + " drives]"
	case s.unobserved:
		return "[not observed]"
	}
	return "[observed]"
}
