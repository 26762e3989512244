package beside

import (
	"fmt"
	"sync/atomic"
	"time"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/child"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/screen"
)

// patience is for a driver that still has to say that its agent has ended.
const patience = 2 * time.Second

// Observer has the terminal model. What Call and Post take is called on its goroutine; they are false when that has ended.
type Observer interface {
	Call(look func(now time.Time)) bool
	Post(look func(now time.Time)) bool
	Model() *screen.Screen
}

// Pump takes what is to be typed.
type Pump interface{ Offer(j input.Job) }

// Control says who may type. It may be asked from any goroutine.
type Control interface{ Newest() control.State }

// Tracker knows when anybody typed last.
type Tracker interface{ Pressed() time.Time }

// Config plugs an [Agent].
type Config struct {
	Driver chat.Beside
	// AgentsMayApprove: agents' keys go through while the program asks something that is a person's to answer.
	AgentsMayApprove bool
	// Over is closed when the conversation has ended.
	Over     <-chan struct{}
	Observer Observer
	Control  Control
	Tracker  Tracker
}

// Agent is the coding agent in the session's terminal. Its methods may be called from any goroutine; those of a nil one do nothing.
type Agent struct {
	Config
	pump     Pump
	reclaims atomic.Uint64 // how often the user took the keyboard from an agent
}

// New makes it. Nothing reaches the driver before Attach.
func New(conf Config) *Agent { return &Agent{Config: conf} }

// Attach gives the driver the terminal, to type into it through the pump, once.
func (a *Agent) Attach(pump Pump) {
	if a != nil {
		a.pump = pump
		a.Driver.Attach(terminal{a})
	}
}

// Printed says that the agent printed something.
func (a *Agent) Printed() {
	if a != nil {
		a.Driver.Printed()
	}
}

// Reclaimed says that the user took the keyboard back.
func (a *Agent) Reclaimed() {
	if a != nil {
		a.reclaims.Add(1)
		a.Driver.Reclaimed()
	}
}

// Ended is closed when the conversation has ended: what is left of the agent in the terminal is of no use. A nil agent's never is.
func (a *Agent) Ended() <-chan struct{} {
	if a == nil {
		return nil
	}
	return a.Over
}

// Exited tells the driver how the agent ended, and waits a moment until that has ended the conversation, too: else it would end as
// one that we closed.
func (a *Agent) Exited(exit child.Exit) {
	if a == nil {
		return
	}
	why := ""
	switch {
	case exit.Signal != "":
		why = "was killed: " + exit.Signal
	case exit.Code != 0:
		why = fmt.Sprintf("ended with exit status %d", exit.Code)
	}
	last, _ := terminal{a}.Look()
	var rows []string
	for _, r := range last.Rows {
		rows = append(rows, r.Text)
	}
	a.Driver.Exited(why, rows)
	select {
	case <-a.Over:
	case <-time.After(patience):
	}
}

// Guard is what the pump asks in place of control.
func (a *Agent) Guard(control input.Control) input.Control {
	if a == nil || a.AgentsMayApprove {
		return control
	}
	return guard{control, a.Driver}
}

// guard keeps agents' keys from a dialog that only a person may answer. What is typed for a person has no agent.
type guard struct {
	input.Control
	driver chat.Beside
}

// Admit implements [input.Control].
func (g guard) Admit(now time.Time, agent string, epoch uint64) error {
	if agent != "" && g.driver.Dialog() {
		return control.ErrDialog
	}
	return g.Control.Admit(now, agent, epoch)
}

// Watch is what the pump tells of keys in place of next: the driver knows of a person's keys, too.
func (a *Agent) Watch(next input.Watch) input.Watch {
	if a == nil {
		return next
	}
	return watch{next, a.Driver}
}

type watch struct {
	input.Watch
	driver chat.Beside
}

// User implements [input.Watch].
func (w watch) User(keys []byte) {
	w.driver.Pressed(keys)
	w.Watch.User(keys)
}
