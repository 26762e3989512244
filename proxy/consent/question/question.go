// Package question puts questions to the user, one at a time and in the order in which they came,
// whoever asks: an agent for the keyboard, a program of an agent for a password, the proxy itself.
// It decides when a key is meant as the answer, and how often an agent may ask. It is a state
// machine without I/O and without its own clock, and must not depend on what a yes gives.
package question

import (
	"slices"
	"time"
)

// Kind says what a yes gives.
type Kind uint8

// The kinds.
const (
	None     Kind = iota
	Menu          // the user has opened the proxy's menu
	Message       // the user writes a message to an agent
	Keyboard      // an agent asks for the keyboard
	Input         // input of the driving agent needs the user's consent
	Line          // input of the driving agent waits for the user's line
	Prompt        // the program in the terminal seems to ask for a secret, which keeps agents away
	Secret        // a program of an agent asks for a password
	Text          // a program of an agent asks for a text
	Confirm       // a program of an agent asks for a yes
)

// IsTyped reports whether the user types the answer: the grant key opens a line for it.
func (k Kind) IsTyped() bool { return k == Secret || k == Text }

// isLimited reports whether an agent decides when the question comes.
func (k Kind) isLimited() bool { return k == Keyboard || k == Confirm || k.IsTyped() }

// Times after which the grant key counts as the answer to a question.
const (
	// MinShown is how long a question must have been on the screen: keys pressed before that were
	// meant for something else.
	MinShown = 300 * time.Millisecond
	// MinShownUnexpected is the same for a question that the user does not expect: they pressed a
	// key within TypingFor before it came, or since, or another question was there within
	// AnotherFor. Their key may be meant for the program, or for the other question.
	MinShownUnexpected = 1500 * time.Millisecond
	// TypingFor is described at MinShownUnexpected.
	TypingFor = 5 * time.Second
	// AnotherFor is described at MinShownUnexpected.
	AnotherFor = 10 * time.Second
)

// MenuFor is how long the menu stays open untouched.
const MenuFor = 10 * time.Second

// maxOpen bounds the open questions that agents ask.
const maxOpen = 8

// Question is asked by someone who keeps the pointer, to end it.
type Question struct {
	Asked
	// Answer is called when the user answers with one of the two keys, which ends the question. Yes
	// to a question whose answer is typed opens its line instead.
	Answer func(now time.Time, yes bool)
	// Unasked means that silence is a yes. Then the reclaim key always refuses it.
	Unasked bool
	// Submit is called with the text that the user typed on the question's line, which may be read
	// only during the call. If it takes the text, that ends the question.
	Submit func(now time.Time, text []byte) (took bool)
}

// New returns a question, to be added to a queue.
func New(kind Kind, agent Agent, answer func(now time.Time, yes bool)) *Question {
	return &Question{Asked: Asked{Kind: kind, Agent: agent}, Answer: answer}
}

// Asked is what a question asks.
type Asked struct {
	Kind  Kind
	Agent Agent // on whose behalf; zero if unknown
	// Text is the question of a program, in words for the user; "" for the other kinds, which are
	// worded from the state of control.
	Text string
	// Typing means that the user types on the question's line, and Typed is the text as it may be
	// shown. Closed says why that goes nowhere, or is "".
	Typing        bool
	Typed, Closed string
}

// Ending is how a question ended.
type Ending uint8

// The endings.
const (
	Withdrawn Ending = iota // by its asker, by the asker's end, or by time
	Answered                // by a person
	Refused                 // by a person
)

// endedTurn is the turn of a question, or a grant, that has ended.
type endedTurn struct {
	at      time.Time
	kind    Kind
	agentID string
	// vanished means that it could be read, and ended without a key of the user's.
	vanished bool
}

// Queue holds the questions. The first one is shown; nothing takes its place before it ends, apart
// from the menu, which the user opens. One goroutine owns it.
type Queue struct {
	limits
	questions []*Question
	turn      uint64    // counts the turns of questions
	begun     time.Time // when the present turn began
	shown     time.Time // since when the question can be read, or zero
	// unexpected is described at MinShownUnexpected, another and ignored at [Shown].
	unexpected, another, ignored bool

	last      endedTurn
	typed     time.Time // the user's last key
	agreed    press     // the grant key, since it last answered yes
	reclaimed press     // the reclaim key
	swallowed time.Time // until when the reclaim key is swallowed
	stray     time.Time // until when typed keys go nowhere
	followed  bool      // such a key came since the grant key
	text      []byte    // typed on the line of the present question
}

// Shown is the question that the user is asked now, as it is drawn.
type Shown struct {
	Asked
	// Turn tells this turn of the question from all others; 0 without a question.
	Turn uint64
	// Another means that another agent's question, or grant, ended just before.
	Another bool
	// Ignored means that the last press of the grant key did not count, for the question or for an
	// agent's message: it came too soon, or as part of a text.
	Ignored bool
	// Behind counts the questions that wait.
	Behind int
}

// Shown returns the question that the user is asked now. Without one, only Ignored may be set.
func (q *Queue) Shown() Shown {
	c := q.Current()
	if c == nil {
		return Shown{Ignored: q.ignored}
	}
	return Shown{c.Asked, q.turn, q.another, q.ignored, len(q.questions) - 1}
}

// Current returns the question that the user is asked now, or nil.
func (q *Queue) Current() *Question {
	if len(q.questions) == 0 {
		return nil
	}
	return q.questions[0]
}

// IsCurrent reports whether the user is asked a question of this kind.
func (q *Queue) IsCurrent(kind Kind) bool {
	c := q.Current()
	return c != nil && c.Kind == kind
}

// Add adds a question. It waits behind all others, but not behind a prompt of the program that the
// user was not told of.
func (q *Queue) Add(now time.Time, c *Question) {
	at := len(q.questions)
	if at > 0 && q.questions[at-1].Kind == Prompt && (at > 1 || q.shown.IsZero()) {
		at--
	}
	q.insert(now, at, c)
}

// Admit returns why an agent may not ask now. If it may, Admit returns nil and counts the question.
func (q *Queue) Admit(now time.Time, a Agent) *NotNow {
	open := 0
	for _, c := range q.questions {
		if c.Kind.isLimited() {
			open++
		}
	}
	switch {
	case q.IsMuted(a):
		return &NotNow{Muted: true}
	case open >= maxOpen:
		return &NotNow{Open: open}
	}
	notNow := q.mayAsk(now, a)
	if notNow == nil {
		q.NoteAgent(a)
	}
	return notNow
}

// NoteAgent notes that the user deals with an agent, which can be muted from now on. While the menu
// is open, it goes on naming the one before.
func (q *Queue) NoteAgent(a Agent) {
	if a.Name == "" { // an unknown program
		return
	}
	q.findOrAdd(a)
	if !q.IsCurrent(Menu) {
		q.LastAgent = a
	}
}

// Open opens the menu, or a message in its place, before all other questions: the user wants it.
// The menu lets agents ask again.
func (q *Queue) Open(now time.Time, c *Question) {
	if c.Kind == Menu {
		q.endWaits()
	}
	q.CloseMenu(now)
	if c.Kind == Message {
		q.openLine(c)
	}
	q.insert(now, 0, c)
}

// RefuseAll ends the questions of an agent, without counting that.
func (q *Queue) RefuseAll(now time.Time, a Agent) {
	for _, c := range slices.Clone(q.questions) {
		if c.Kind.isLimited() && c.Agent.IsSame(a) && c.Closed == "" {
			q.End(now, c, Withdrawn, "refused: nothing is sent")
			c.Answer(now, false)
		}
	}
}

func (q *Queue) insert(now time.Time, at int, c *Question) {
	q.questions = slices.Insert(q.questions, at, c)
	if at == 0 {
		q.Restart(now)
	}
}

// Restart begins another turn of the first question. It counts as not drawn until NoteShown: only
// the drawing of an earlier turn may be on the screen.
func (q *Queue) Restart(now time.Time) {
	q.turn++
	q.begun, q.shown, q.ignored = now, time.Time{}, false
	q.unexpected = q.isUnexpected(now)
	c := q.Current()
	q.another = isWithin(now, q.last.at, AnotherFor) && c != nil && c.Kind == Keyboard &&
		q.last.agentID != "" && q.last.agentID != c.Agent.ID
}

// isUnexpected reports whether the user does not expect a question, or a message, that comes at a
// time: see [MinShownUnexpected].
func (q *Queue) isUnexpected(at time.Time) bool {
	return isWithin(at, q.last.at, AnotherFor) || isWithin(at, q.typed, TypingFor)
}

// End ends a question, unless that has ended, and counts the answer for its agent. If the user
// types the answer, the line stays until they close it: the rest of a password must not reach the
// program. reason then says why it goes nowhere.
func (q *Queue) End(now time.Time, c *Question, how Ending, reason string) {
	at := slices.Index(q.questions, c)
	if at < 0 {
		return
	}
	q.countEnding(now, c, how)
	if at == 0 && c.Typing && c.Kind.IsTyped() {
		if c.Closed == "" {
			c.Closed, c.Typed = reason, ""
			q.wipe()
		}
		return
	}
	q.remove(now, at, !q.shown.IsZero())
}

// CloseLine closes the line of the present question. It begins another turn of the question, or of
// the next one if this one has ended.
func (q *Queue) CloseLine(now time.Time) {
	c := q.Current()
	q.wipe()
	c.Typing, c.Typed = false, ""
	if c.Closed != "" || c.Kind == Message {
		q.remove(now, 0, false)
		return
	}
	q.Restart(now)
}

func (q *Queue) remove(now time.Time, at int, vanished bool) {
	c := q.questions[at]
	q.questions = slices.Delete(q.questions, at, at+1)
	switch {
	case at > 0:
	case c.Kind.isLimited():
		q.NoteEnd(now, c.Agent)
		q.last.kind, q.last.vanished = c.Kind, vanished
	default:
		q.last = endedTurn{at: now, agentID: c.Agent.ID}
		q.Restart(now)
	}
}

// NoteEnd notes that a question of an agent, or its control, ended: the user may press a key for
// that.
func (q *Queue) NoteEnd(now time.Time, agent Agent) {
	q.NoteAgent(agent)
	q.last, q.swallowed = endedTurn{at: now, agentID: agent.ID}, now.Add(SwallowFor)
	q.Restart(now)
}

// NoteShown notes that the question of a turn can be read on the user's screen since now; 0 means
// that no question can be read: the window became too small. A prompt of the program gives way
// then.
func (q *Queue) NoteShown(now time.Time, turn uint64) {
	switch c := q.Current(); {
	case c == nil:
	case turn == 0 && c.Kind == Prompt && len(q.questions) > 1:
		q.questions = append(q.questions[1:], c)
		q.Restart(now)
	case turn == 0:
		q.shown = time.Time{}
	case turn == q.turn && q.shown.IsZero():
		q.shown = now
	}
}

// ShownSince returns since when a question can be read, or zero.
func (q *Queue) ShownSince(c *Question) time.Time {
	if c != q.Current() {
		return time.Time{}
	}
	return q.shown
}

// IsAnswerable reports whether the present question has been readable long enough for a key to be
// meant as its answer. The user expects the menu, which they have opened.
func (q *Queue) IsAnswerable(now time.Time) bool {
	least := MinShown
	if !q.IsCurrent(Menu) && (q.unexpected || q.typed.After(q.begun)) {
		least = MinShownUnexpected
	}
	return q.isReadableFor(now, least)
}

func (q *Queue) isReadableFor(now time.Time, least time.Duration) bool {
	return !q.shown.IsZero() && now.Sub(q.shown) >= least
}

// MenuEnd returns when the menu closes by itself, or zero.
func (q *Queue) MenuEnd() time.Time {
	if !q.IsCurrent(Menu) {
		return time.Time{}
	}
	return q.begun.Add(MenuFor)
}

// CloseMenu closes the menu if it is open.
func (q *Queue) CloseMenu(now time.Time) {
	if q.IsCurrent(Menu) {
		q.remove(now, 0, false)
	}
}

// isWithin reports whether now is less than d after t; the zero time is long ago.
func isWithin(now, t time.Time, d time.Duration) bool { return !t.IsZero() && now.Sub(t) < d }
