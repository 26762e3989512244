// Package events reports the dealings of agents and the user in a session: as events to the user's
// own programs, and as a reminder to a user who is not looking that an agent waits. It must not
// depend on how control is given, or on what runs programs or shows notifications.
package events

import (
	"sync/atomic"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/display/remind"
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

// Event is something that happened in a session, for the user's own programs. It contains nothing
// of the screen, and of the agent's texts only its name, without control characters.
type Event struct {
	Name    string
	Session string          // id
	Agent   string          // its name, or ""
	Reason  protocol.Reason // of an end
	Status  int             // of the exit
}

// maxAgent bounds an agent's name in an event, in columns.
const maxAgent = 64

// Config configures a [Reporter].
type Config struct {
	Session string // id
	// OnEvent gets every [Event], in order. It returns at once, and may be nil.
	OnEvent func(Event)
	// Notify receives a short text when an agent waits and the user has neither typed nor looked
	// for After. Like Alert, it is called on a separate goroutine, and may be nil.
	Notify func(text string)
	After  time.Duration
	// Alert makes the bytes that make the user's terminal show such a text, nil for no alert, and
	// Show writes them while the question is open. Alert may be nil.
	Alert func(text string) []byte
	Show  func(question uint64, alert []byte)
	// Used returns when the user last typed. It is called on any goroutine.
	Used func() time.Time
}

// Reporter reports what happens in a session. A nil one does nothing.
type Reporter struct {
	conf     Config
	left     atomic.Int64     // when the last page left, in Unix milliseconds, 0 for never
	viewed   atomic.Bool      // a page shows the screen
	reminder *remind.Reminder // nil without Notify and Alert
	question remind.Question  // that was told as an event last
}

// New makes a reporter.
func New(conf Config) *Reporter {
	t := &Reporter{conf: conf}
	if conf.Notify != nil || conf.Alert != nil {
		t.reminder = remind.New(remind.Config{After: conf.After, Looked: t.lastLook, Tell: t.remindUser})
	}
	return t
}

// Close stops the reminders. Events can still be reported.
func (t *Reporter) Close() {
	if t != nil && t.reminder != nil {
		t.reminder.Close()
	}
}

// StateChanged reports a question that waits for the user. It and ControlChanged belong to the
// goroutine that controls.
func (t *Reporter) StateChanged(state control.State) {
	var q remind.Question
	switch {
	case state.Phase == control.Asked:
		q = remind.Question{Number: state.Question, Agent: state.Agent.Name}
	case state.Pending.Keys != "" || state.Occupied:
		q = remind.Question{Number: state.Question, Agent: state.Agent.Name, Held: true}
	}
	if t.reminder != nil {
		t.reminder.SetQuestion(q)
	}
	t.tellQuestion(q)
}

// tellQuestion reports a new question as an event.
func (t *Reporter) tellQuestion(q remind.Question) {
	if q == t.question {
		return
	}
	t.question = q
	switch {
	case q.Number == 0:
	case q.Held:
		t.tellEvent(Event{Name: Waiting, Agent: q.Agent})
	default:
		t.tellEvent(Event{Name: Asked, Agent: q.Agent})
	}
}

// ControlChanged reports a grant that began or ended. A request that ended without a grant is not
// an event.
func (t *Reporter) ControlChanged(e control.Event) {
	switch {
	case e.Granted:
		t.tellEvent(Event{Name: Granted, Agent: e.Agent.Name})
	case !e.Request:
		t.tellEvent(Event{Name: Ended, Agent: e.Agent.Name, Reason: e.Reason})
	}
}

// ReportExit reports the program's end, when the goroutine that controls has ended.
func (t *Reporter) ReportExit(status int) {
	if t != nil {
		t.tellEvent(Event{Name: Exit, Status: status})
	}
}

// tellEvent calls Config.OnEvent, if it is set.
func (t *Reporter) tellEvent(e Event) {
	if t.conf.OnEvent == nil {
		return
	}
	e.Session, e.Agent = t.conf.Session, notice.Clean(e.Agent, maxAgent)
	t.conf.OnEvent(e)
}
