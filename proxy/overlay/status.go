// Package overlay is what the proxy shows the user over the program: its line with questions and remarks, the window's
// title and the bell. It words them, decides which comes first, and makes the bytes that draw and remove them out of the
// terminal model. It decides nothing about control, writes nothing itself, and knows no agent but by name: whoever plugs
// it says what control is ([Status.Show]) and writes what [Painter.Paint] makes.
package overlay

import (
	"sync"
	"sync/atomic"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
)

// How long a remark stays.
const (
	TellFor    = 3 * time.Second  // one that only tells something
	NoteFor    = 8 * time.Second  // one with words of somebody else's
	TroubleFor = 10 * time.Second // one that tells of a trouble
	readFor    = time.Second      // until then a key of the user's does not take it away
)

// Bounds of what is shown.
const (
	titleMost = 200 // characters of the program's title
	tellRows  = 3   // the most that a remark covers
	menuRows  = 5   // and the menu, on a narrow screen
	askRows   = 6   // and a request
	slim      = 40  // columns: on less a remark covers as much as the menu, so that its end, the key, is not cut off
	narrow    = 30  // columns: on less a request covers what it needs
)

// Config says what a user's terminal can show and what the user wants of it.
type Config struct {
	Name  string // of the session, for a program that sets no title
	Line  bool   // the line is wanted (no --no-notice)
	Title bool   // the terminal takes titles
	// OneProgram says that grants are for the program in front.
	OneProgram bool
	Colors     Colors      // of the terminal
	Taste      Taste       // of the user
	Reclaim    string      // what people press to take the keyboard back, as they write it
	Grant      string      // and what to give it, where the session starts
	Leave      string      // how to leave a session of somebody else's, in the menu
	Repaint    func()      // asks whoever draws to do so; any goroutine calls it
	Present    func() bool // somebody can see the screen; nil for always
}

// Status is what the proxy has to say to the user: a line over the bottom row while something needs the user, and who
// has the keyboard in the window's title. It may be used from any goroutine; a [Painter] draws it.
type Status struct {
	conf  Config
	grant atomic.Pointer[string] // what people press to give the keyboard where the session is now, nil where it started

	mu    sync.Mutex
	state control.State
	told  string    // a passing remark
	said  time.Time // when it was made
	until time.Time // when it goes by itself
	timer *time.Timer
	away  *time.Timer // tells that the agent waits for its program
	bell  bool
	alert alert     // that waits to be written
	small bool      // there was no room for the question on the newest line
	alone bool      // no gateway is reached: nobody can look
	seen  time.Time // when an agent asked for something last
	rung  bool      // the user has been told of the present prompt for a secret
	begun bool      // a grant began: the terminal's keyboard is unlocked, to be sure
	sign  sign      // that an agent drives
	inbox inbox     // what others say to the user
}

// New makes a status that has nothing to say.
func New(conf Config) *Status { return &Status{conf: conf} }

// LabelGrant says what people press to give the keyboard from now on: the session is at another
// terminal.
func (s *Status) LabelGrant(label string) { s.grant.Store(&label) }

// grantLabel is what people press to give the keyboard.
func (s *Status) grantLabel() string {
	if label := s.grant.Load(); label != nil {
		return *label
	}
	return s.conf.Grant
}

// Show takes a new state of control.
func (s *Status) Show(state control.State) {
	s.mu.Lock()
	s.bell = s.bell || state.Question != s.state.Question && (state.Phase == control.Asked || state.Pending.Keys != "")
	if state.Hidden != s.state.Hidden {
		s.hidden(state.Hidden)
	}
	if state.Muted != s.state.Muted {
		s.muted(state.Muted)
	}
	if state.Phase == control.Granted && s.state.Phase != control.Granted {
		s.begun = true
	}
	s.fronted(state)
	if s.state.Menu && !state.Menu {
		s.recalled(time.Now())
	}
	s.state = state
	s.mu.Unlock()
	s.conf.Repaint()
}

// Tell shows a remark that only tells something.
func (s *Status) Tell(text string) { s.Say(text, TellFor) }

// Say shows a remark for a while.
func (s *Status) Say(text string, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.told, s.said, s.until = text, now, now.Add(d)
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(d, s.conf.Repaint)
	s.conf.Repaint()
}

// Observed says whether a gateway is reached, through which agents look.
func (s *Status) Observed(yes bool) {
	s.mu.Lock()
	changed := s.alone == yes
	s.alone = !yes
	s.mu.Unlock()
	if changed {
		s.conf.Repaint()
	}
}

// Dismiss takes a remark away that could be read: the user types, and may be typing on the row that it covers. It holds no
// lock that the screen or the network could hold up.
func (s *Status) Dismiss() {
	s.mu.Lock()
	read := s.told != "" && time.Since(s.said) >= readFor
	if read {
		s.told = ""
	}
	now := time.Now()
	read = s.noticed(now) || read
	read = s.unsign(now) || read
	s.mu.Unlock()
	if read {
		s.conf.Repaint()
	}
}

// Close ends the timers.
func (s *Status) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range []*time.Timer{s.timer, s.away, s.inbox.timer, s.sign.tick, s.sign.wake} {
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

// compose is what to show now on a terminal of this size: the line ("" for none), the title ("" for none), whether to
// ring, and the number of the question that the line or title puts, 0 for none.
func (s *Status) compose(now time.Time, cols, rows int, title string) (line, window string, ring bool, question uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ring, s.bell = s.bell, false
	guarding := s.guarding(now)
	if s.state.Asks() || guarding && s.state.Dismissible && !s.state.Message.Open {
		question = s.state.Question
	}
	if guarding && !s.rung {
		ring = true
	}
	s.rung = guarding
	before := s.inbox.onLine
	s.inbox.onLine = nil
	if s.conf.Line {
		line = s.sentence(now, cols, rows)
	}
	asks := question != 0
	if asks && !s.answerable(line, cols, rows) {
		line, question = s.lacksRoom(line, question, cols, rows)
	}
	s.small = asks && question == 0
	if s.conf.Title {
		if title == "" {
			title = s.conf.Name
		}
		window = s.tag(now) + s.missing(now) + " " + notice.Clean(title, titleMost)
	}
	ring = s.spoke(before) || ring
	return line, window, ring, question
}

func (s *Status) sentence(now time.Time, cols, rows int) string {
	st := s.state
	switch {
	case st.Message.Open:
		return s.composing(cols)
	case st.Pending.Keys != "":
		return s.approval(cols, rows)
	case st.Occupied:
		return s.occupied(cols, rows)
	case st.Phase == control.Asked:
		keys := pressAgain(st.Again && cols >= narrow) + s.allows() + " · " + s.conf.Reclaim + " refuses"
		if st.Ahead.Rule != "" {
			keys = s.conf.Reclaim + " refuses"
		}
		return notice.Rows(cols, askMost(cols, rows), s.asks(), keys)
	case st.Menu:
		return s.menu(cols, rows)
	case s.guarding(now):
		return s.secret(cols)
	case st.Pregrant:
		return notice.Line(cols, s.promise(), s.conf.Reclaim+" takes that back")
	case s.told != "" && now.Before(s.until):
		most := tellRows
		if cols < slim {
			most = menuRows
		}
		return notice.Rows(cols, min(rows-1, most), s.told, "")
	case s.speaks(now):
		return s.speech(cols, rows)
	}
	return ""
}

// askMost is how many rows a request may cover.
func askMost(cols, rows int) int {
	if cols < narrow {
		return rows - 1
	}
	return min(rows-1, askRows)
}

// asks is the question for control. The name stands in quotation marks, as what the agent chose to say.
func (s *Status) asks() string {
	if s.state.Ahead.Rule != "" {
		return s.announces()
	}
	return s.wish() + ": “" + s.state.Reason + "”"
}

// wish is that question without the agent's own words.
func (s *Status) wish() string {
	return s.asker("“"+s.state.Agent.Name+"”") + " asks to " + s.wanted()
}

// allows is what the key that gives control does about a request.
func (s *Status) allows() string { return s.grantLabel() + " allows" }

// asker is the agent with a name that asks: whoever read another one's question has to see that it is not that one.
func (s *Status) asker(name string) string {
	if s.state.Another {
		return "another agent, " + name + ","
	}
	return name
}

// wanted is what an agent asks for: level, scope, and the time that it would get.
func (s *Status) wanted() string {
	what := "drive"
	if s.state.Level == protocol.LevelType {
		what = "type"
	}
	if s.conf.OneProgram {
		what += " this program"
	}
	return what + term(s.state.For)
}

// term says how long control lasts that is given: 0 is without end.
func term(d time.Duration) string {
	if d == 0 {
		return " until you take it back"
	}
	return " for " + lasts(d)
}

// tag is the word in the window's title for who has the keyboard.
func (s *Status) tag(now time.Time) string {
	switch st := s.state; {
	case st.Hidden:
		return "[hidden]"
	case s.guarding(now):
		return s.secretTag()
	case st.Pending.Keys != "" && !s.conf.Line:
		return s.approvalTitle()
	case st.Pending.Keys != "":
		return "[agent asks]"
	case st.Occupied && !s.conf.Line:
		return "[" + st.Agent.Name + " waits for your line: " + pressAgain(st.Again) + s.grantLabel() + " lets it type]"
	case st.Occupied:
		return "[" + st.Agent.Name + " waits for your line]"
	case st.Never != "":
		return "[" + st.Agent.Name + " waits: never in " + st.Away + "]"
	case st.Away != "":
		return "[" + st.Agent.Name + " waits for " + st.Program + "]"
	case st.Phase == control.Granted && st.Paused:
		return "[" + st.Agent.Name + " paused]"
	case st.Phase == control.Granted && st.Level == protocol.LevelType:
		return "[" + st.Agent.Name + " types]"
	case st.Phase == control.Granted:
		return "[" + st.Agent.Name + " drives]"
	case st.Phase == control.Asked && !s.conf.Line && st.Ahead.Rule != "":
		return "[" + s.asker(st.Agent.Name) + s.getsSoon() + ": " + s.conf.Reclaim + " refuses]"
	case st.Phase == control.Asked && !s.conf.Line:
		return "[" + s.asker(st.Agent.Name) + " asks to " + s.wanted() + ": " + pressAgain(st.Again) + s.grantLabel() + " allows, " + s.conf.Reclaim + " refuses]"
	case st.Phase == control.Asked:
		return "[agent asks]"
	case s.alone:
		return "[not observed]"
	}
	return "[observed]"
}

// promise says who will get the keyboard without a question.
func (s *Status) promise() string {
	g := s.state.RemotePregrant
	who, what, by := "the next agent that asks", " will drive", ""
	if g.Agent != "" {
		who = g.Agent + ", once it asks,"
	}
	if g.Level == protocol.LevelType {
		what = " will type"
	}
	if g.By != "" {
		by = " (allowed by " + g.By + ")"
	}
	return who + what + term(s.state.For) + by
}
