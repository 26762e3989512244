package proxy

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
)

// How long the line stays that only tells something, and that tells of a trouble.
const (
	tellFor    = 3 * time.Second
	readFor    = time.Second // until then a key of the user's does not take it away
	troubleFor = 10 * time.Second
	titleMost  = 200 // characters of the program's title
	tellRows   = 3   // the most that a remark covers
	menuRows   = 5   // and the menu, on a narrow screen
	askRows    = 6   // and a request
)

// status is what the proxy has to say to the user: a line over the bottom row while something needs the user, and who
// has the keyboard in the window's title. It may be used from any goroutine; the copier draws it.
type status struct {
	name  string // of the session, for a program that sets no title
	line  bool   // the line is wanted (no --no-notice)
	title bool   // the terminal takes titles
	// oneProgram says that grants are for the program in front.
	oneProgram bool
	key        string // name of the reclaim key, as people write it
	repaint    func() // asks the copier to draw

	mu    sync.Mutex
	state control.State
	told  string    // a passing remark
	said  time.Time // when it was made
	until time.Time // when it goes by itself
	timer *time.Timer
	away  *time.Timer // tells that the agent waits for its program
	bell  bool
	alone bool      // no gateway is reached: nobody can look
	aside bool      // the line is the one about a secret, which must not cover its prompt
	seen  time.Time // when an agent asked for something last
	rung  bool      // the user has been told of the present prompt for a secret
	begun bool      // a grant began: the terminal's keyboard is unlocked, to be sure
	leave string    // how to leave a session of somebody else's, in the menu
	mouth mouth     // what others say to the user

	present func() bool // somebody can see the screen; nil for always
}

// show takes a new state of control.
func (s *status) show(state control.State) {
	s.mu.Lock()
	s.bell = s.bell || state.Question != s.state.Question && (state.Phase == control.Asked || state.Held.Keys != "")
	if state.Hidden != s.state.Hidden {
		s.hidden(state.Hidden)
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
	s.repaint()
}

// say shows a remark for a while.
func (s *status) say(text string, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.told, s.said, s.until = text, now, now.Add(d)
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(d, s.repaint)
	s.repaint()
}

// observed says whether a gateway is reached, through which agents look.
func (s *status) observed(yes bool) {
	s.mu.Lock()
	changed := s.alone == yes
	s.alone = !yes
	s.mu.Unlock()
	if changed {
		s.repaint()
	}
}

// dismiss takes a remark away that could be read: the user types, and may be typing on the row that it covers. It holds no
// lock that the screen or the network could hold up.
func (s *status) dismiss() {
	s.mu.Lock()
	read := s.told != "" && time.Since(s.said) >= readFor
	if read {
		s.told = ""
	}
	read = s.noticed(time.Now()) || read
	s.mu.Unlock()
	if read {
		s.repaint()
	}
}

// close ends the timer of a remark.
func (s *status) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range []*time.Timer{s.timer, s.away, s.mouth.timer} {
		if t != nil {
			t.Stop()
		}
	}
}

// controlled remarks on a change of control. note is the agent's own word as it gives the keyboard back.
func (s *status) controlled(e control.Event, unsubmitted int, note string) {
	left := ""
	if unsubmitted > 0 {
		left = fmt.Sprintf("; %d typed bytes are not submitted and may stand on its line", unsubmitted)
	}
	lasts := ""
	if !e.Until.IsZero() {
		lasts = " for " + span(time.Until(e.Until))
	}
	switch {
	case e.Granted && e.By != "":
		verb := "drive"
		if e.Level == control.Type {
			verb = "type"
		}
		s.say(e.By+" lets "+e.Agent.Name+" "+verb+lasts+". "+s.key+" takes the keyboard back at once; your own keys pause it", noteFor)
	case e.Granted && e.Level == control.Type:
		s.say(e.Agent.Name+" may type"+lasts+"; Enter and the like are yours to let through. "+s.key+" takes the keyboard back at once", tellFor)
	case e.Granted:
		s.say(e.Agent.Name+" drives"+lasts+". "+s.key+" takes the keyboard back at once; your own keys pause it", tellFor)
	case e.Reason == control.Reclaimed && e.By != "":
		s.say("the keyboard is yours: "+e.By+" stopped "+e.Agent.Name+left, tellFor)
	case e.Reason == control.Refused && e.By != "":
		s.say(e.By+" refused "+e.Agent.Name, tellFor)
	case e.Reason == control.Reclaimed:
		s.say("the keyboard is yours: "+e.Agent.Name+" is stopped"+left, tellFor)
	case e.Reason == control.Refused:
		s.say(e.Agent.Name+" is refused", tellFor)
	case e.Reason == control.Released && note != "":
		s.say(e.Agent.Name+" gives the keyboard back: “"+note+"”"+left, noteFor)
	case e.Reason == control.Released:
		s.say(e.Agent.Name+" gives the keyboard back"+left, tellFor)
	case e.Reason == control.Expired:
		s.say("time is over: "+e.Agent.Name+" no longer has or asks for the keyboard"+left, tellFor)
	case e.Reason == control.Link:
		s.say(e.Agent.Name+" is gone: the keyboard is yours"+left, tellFor)
	}
}

// takeBegun reports once that a grant began.
func (s *status) takeBegun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	begun := s.begun
	s.begun = false
	return begun
}

// compose is what to show now on a terminal of this size: the line ("" for none), the title ("" for none), whether to
// ring, and the number of the question that the line or title puts, 0 for none.
func (s *status) compose(now time.Time, cols, rows int, title string) (line, window string, ring bool, question uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ring, s.bell = s.bell, false
	guarding := s.guarding(now)
	if s.state.Asks() || guarding && s.state.Dismissible && !s.state.Draft.Open {
		question = s.state.Question
	}
	if guarding && !s.rung {
		ring = true
	}
	s.rung = guarding
	before := s.mouth.onLine
	s.mouth.onLine = nil
	if s.line {
		line = s.sentence(now, cols, rows)
	}
	if s.title {
		if title == "" {
			title = s.name
		}
		window = s.tag(now) + s.missing(now) + " " + notice.Clean(title, titleMost)
	}
	ring = s.spoke(before) || ring
	return line, window, ring, question
}

func (s *status) sentence(now time.Time, cols, rows int) string {
	st := s.state
	s.aside = false
	switch {
	case st.Draft.Open:
		return s.drafting(cols)
	case st.Held.Keys != "":
		return s.approval(cols, rows)
	case st.Phase == control.Asked:
		return notice.Rows(cols, min(rows-1, askRows), st.Agent.Name+" asks to "+s.wanted()+": “"+st.Reason+"”",
			"Ctrl+G gives it · "+s.key+" refuses")
	case st.Menu:
		return s.menu(cols, rows)
	case s.guarding(now):
		s.aside = true
		return s.secret(cols)
	case st.Pregrant:
		return notice.Line(cols, pregift(st.Pregift), s.key+" takes that back")
	case s.told != "" && now.Before(s.until):
		return notice.Rows(cols, min(rows-1, tellRows), s.told, "")
	case s.speaks(now):
		return s.speech(cols, rows)
	}
	return ""
}

// wanted is what an agent asks for: level, scope and time.
func (s *status) wanted() string {
	what := "drive"
	if s.state.Level == control.Type {
		what = "type"
	}
	if s.oneProgram {
		what += " this program"
	}
	if s.state.For > 0 {
		what += " for " + span(s.state.For)
	}
	return what
}

// tag is the word in the window's title for who has the keyboard.
func (s *status) tag(now time.Time) string {
	switch st := s.state; {
	case st.Hidden:
		return "[hidden]"
	case s.guarding(now):
		return s.secretTag()
	case st.Held.Keys != "" && !s.line:
		return s.approvalTitle()
	case st.Held.Keys != "":
		return "[agent asks]"
	case st.Away != "":
		return "[" + st.Agent.Name + " waits for " + st.Program + "]"
	case st.Phase == control.Granted && st.Paused:
		return "[" + st.Agent.Name + " paused]"
	case st.Phase == control.Granted && st.Level == control.Type:
		return "[" + st.Agent.Name + " types]"
	case st.Phase == control.Granted:
		return "[" + st.Agent.Name + " drives]"
	case st.Phase == control.Asked && !s.line:
		return "[" + st.Agent.Name + " asks: Ctrl+G gives, " + s.key + " refuses]"
	case st.Phase == control.Asked:
		return "[agent asks]"
	case s.alone:
		return "[not observed]"
	}
	return "[observed]"
}

// agentName is an agent's name as the user reads it.
func agentName(name string) string {
	if name = unquote.Replace(notice.Clean(name, 32)); name == "" {
		return "agent"
	}
	return name
}

// cleanReason is an agent's own words as the user reads them: between quotation marks, which they cannot end.
func cleanReason(text string) string { return unquote.Replace(notice.Clean(text, 200)) }

// unquote makes text fit to stand between “ and ”.
var unquote = strings.NewReplacer("“", "'", "”", "'", "„", "'", "‟", "'", `"`, "'")

// span is a duration without the units that are zero: 10m, 1h30m, 45s.
func span(d time.Duration) string {
	text := d.Round(time.Second).String()
	if rest, ok := strings.CutSuffix(text, "m0s"); ok {
		text = rest + "m"
	}
	if rest, ok := strings.CutSuffix(text, "h0m"); ok {
		text = rest + "h"
	}
	return text
}

// keyLabel writes a key's name as people do: ctrl-\ is Ctrl+\.
func keyLabel(name string) string {
	rest, ok := strings.CutPrefix(name, "ctrl-")
	if !ok {
		return name
	}
	return "Ctrl+" + strings.ToUpper(rest)
}

// painter makes the bytes for the copier.
type painter struct {
	loop   *screenLoop
	status *status
	shown  func(question uint64) // a question stands on the screen
	title  string                // as it was set last, "" for not yet
	titles uint64                // of the program's, when it was set
	// ask says that the terminal is asked for its cursor, and who takes the answer; nil where nobody answers.
	ask    func(take func(row int))
	unsure bool      // the terminal was resized: it may show the main screen's rows elsewhere than the model
	asked  time.Time // when the question went out that has no answer yet
	sizes  int       // counts the resizes, to tell an answer that is out of date; these belong to the screen loop
}

// askCursor is DSR 6 (ECMA-48 8.3.35).
const askCursor = "\x1b[6n"

// resized says that the terminal has another size. It belongs to the screen loop.
func (p *painter) resized() {
	p.unsure = true
	p.sizes++
}

// align appends the question for the cursor when the terminal may show the main screen elsewhere than the model does, and
// moves the model's rows when the answer comes: the line could not be drawn and taken away otherwise, and an agent would
// count rows differently from the user.
func (p *painter) align(now time.Time, dst []byte) []byte {
	m := p.loop.model
	if !p.unsure || m.Alt() || p.ask == nil {
		return dst
	}
	p.unsure, p.asked = false, now
	at, size := m.Cursor().Row, p.sizes
	p.ask(func(row int) {
		p.loop.post(func(now time.Time) {
			p.asked = time.Time{}
			if size == p.sizes {
				m.Align(row - at)
				p.loop.noticeChange(now)
			}
			p.status.repaint()
		})
	})
	time.AfterFunc(answerPatience, p.status.repaint) // for a terminal that does not answer
	return append(dst, askCursor...)
}

// answerPatience is how long the terminal gets to say where its cursor is before the line is drawn without that.
const answerPatience = time.Second

// paint implements [output.paint]. It waits for the screen loop, which has to be where the terminal is: the line is drawn
// with the model's help.
func (p *painter) paint() (show, hide []byte, ok bool) {
	var question uint64
	ran := p.loop.call(func(now time.Time) {
		m := p.loop.model
		if ok = m.Ground(); !ok {
			return
		}
		show = p.align(now, show)
		if p.status.takeBegun() {
			show = append(show, unlock...)
		}
		cols, rows := m.Size()
		line, window, ring, asks := p.status.compose(now, cols, rows, m.Title())
		if now.Sub(p.asked) < answerPatience {
			line = "" // until it is known where
			asks = 0
			p.status.unsaid()
		}
		question = asks
		if titles := m.TitleSets(); window != "" && (window != p.title || titles != p.titles) {
			if p.title == "" {
				show = append(show, notice.PushTitle...)
			}
			show = notice.Title(show, window)
			p.title, p.titles = window, titles
		}
		if ring {
			show = append(show, '\a')
		}
		if line != "" {
			row := p.status.row(m, line)
			show = notice.DrawAt(show, m, row, line)
			hide = notice.EraseAt(nil, m, row, line)
		}
	})
	if ran && ok && question != 0 {
		p.shown(question)
	}
	return show, hide, ran && ok
}

// redraw makes the bytes that show every row of the program's anew.
func (p *painter) redraw() (all []byte) {
	p.loop.call(func(time.Time) { all = notice.Redraw(nil, p.loop.model) })
	return all
}

// leave makes the bytes that give the window its own title back.
func (p *painter) leave() string {
	if p.title == "" {
		return ""
	}
	return notice.PopTitle
}

// pregift says who will get the keyboard without a question.
func pregift(g control.Gift) string {
	who, what, by := "the next agent that asks", " will drive", ""
	if g.Agent != "" {
		who = agentName(g.Agent) + ", once it asks,"
	}
	if g.Level == control.Type {
		what = " will type"
	}
	if g.By != "" {
		by = " (" + g.By + " says so)"
	}
	return who + what + by
}
