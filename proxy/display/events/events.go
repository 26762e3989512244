// Package events reports what happens between agents and the user in a session: as events to the
// user's own programs, and as a reminder that an agent waits to a user who is not looking. It must
// not depend on how control is given, or on what runs programs or shows notifications.
package events

import (
	"sync/atomic"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/display/notice"
)

// The names of an [Event].
const (
	Asked   = "asked"   // an agent asks the user for the keyboard
	Granted = "granted" // the agent has it
	Ended   = "ended"   // the agent no longer has it
	Waiting = "waiting" // the agent has it, and its input waits for the user
	Exit    = "exit"    // the program ended
)

// Names are the names of all events.
var Names = []string{Asked, Granted, Ended, Waiting, Exit}

// Event is something that happened in a session, for the user's own programs. It contains no text
// of the screen, and of the agent's texts only its name, without control characters.
type Event struct {
	Name    string
	Session string          // id
	Agent   string          // its name, or ""
	Reason  protocol.Reason // of an end
	Status  int             // of the exit
}

// maxAgentName bounds an agent's name in an event, in columns.
const maxAgentName = 64

// Config configures a [Reporter].
type Config struct {
	Session string // id
	// OnEvent gets every [Event], in order. It returns at once, and may be nil.
	OnEvent func(Event)
	// Notify receives a short text when an agent waits and the user has neither typed nor looked
	// for After. Like Alert, it is called on a separate goroutine, and may be nil.
	Notify func(text string)
	After  time.Duration
	// Alert returns the bytes that make the user's terminal show such a text, or nil for no alert.
	// Show writes them while the question is open. Alert may be nil.
	Alert func(text string) []byte
	Show  func(question uint64, alert []byte)
	// LastTyped returns when the user last typed. It is called on any goroutine.
	LastTyped func() time.Time
}

// Reporter reports what happens in a session. A nil one does nothing.
type Reporter struct {
	conf     Config
	left     atomic.Int64 // when the last page left, in Unix milliseconds, 0 for never
	viewed   atomic.Bool  // a page shows the screen
	reminder *reminder    // nil without Notify and Alert
	question openQuestion // the one last reported as an event
}

// New makes a reporter.
func New(conf Config) *Reporter {
	t := &Reporter{conf: conf}
	if conf.Notify != nil || conf.Alert != nil {
		t.reminder = &reminder{after: conf.After, lastLook: t.lastLook, remind: t.remindUser}
	}
	return t
}

// Close stops the reminders. Events can still be reported.
func (t *Reporter) Close() {
	if t != nil && t.reminder != nil {
		t.reminder.close()
	}
}

// StateChanged reports a question that waits for the user. The goroutine that owns control calls it
// and ControlChanged.
func (t *Reporter) StateChanged(state control.State) {
	var q openQuestion
	switch asked := state.Question; asked.Kind {
	case question.Keyboard:
		q = openQuestion{number: asked.Turn, agent: asked.Agent.Name}
	case question.Input, question.Line:
		q = openQuestion{number: asked.Turn, agent: asked.Agent.Name, held: true}
	default:
	}
	if q == t.question {
		return
	}
	t.question = q
	if t.reminder != nil {
		t.reminder.setQuestion(q)
	}
	switch {
	case q.number == 0:
	case q.held:
		t.reportEvent(Event{Name: Waiting, Agent: q.agent})
	default:
		t.reportEvent(Event{Name: Asked, Agent: q.agent})
	}
}

// ControlChanged reports a grant that began or ended. A request that ended without a grant is not
// an event.
func (t *Reporter) ControlChanged(e control.Event) {
	switch {
	case e.Granted:
		t.reportEvent(Event{Name: Granted, Agent: e.Agent.Name})
	case !e.Request:
		t.reportEvent(Event{Name: Ended, Agent: e.Agent.Name, Reason: e.Reason})
	}
}

// ReportExit reports the program's end, after the goroutine that owns control has ended.
func (t *Reporter) ReportExit(status int) {
	if t != nil {
		t.reportEvent(Event{Name: Exit, Status: status})
	}
}

// reportEvent calls Config.OnEvent, if it is set.
func (t *Reporter) reportEvent(e Event) {
	if t.conf.OnEvent == nil {
		return
	}
	e.Session, e.Agent = t.conf.Session, notice.Clean(e.Agent, maxAgentName)
	t.conf.OnEvent(e)
}
