package beside

import (
	"fmt"
	"sync/atomic"
	"time"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/terminal/screen"
)

// patience is how long ReportExit waits for the driver to end the conversation.
const patience = 2 * time.Second

// Observer owns the terminal model. Call and Post run look on its goroutine; they return false when
// that has ended.
type Observer interface {
	Call(look func(now time.Time)) bool
	Post(look func(now time.Time)) bool
	Model() *screen.Screen
}

// Pump queues input for the program.
type Pump interface{ Enqueue(j pump.Job) }

// Control says who may type. It may be asked from any goroutine.
type Control interface{ NewestState() control.State }

// Tracker knows when anybody typed last.
type Tracker interface{ LastKeyTime() time.Time }

// Config plugs an [Agent].
type Config struct {
	Driver chat.Beside
	// AgentsMayApprove lets agents' keys through while the program asks for a person's decision.
	AgentsMayApprove bool
	// Over is closed when the conversation has ended.
	Over     <-chan struct{}
	Observer Observer
	Control  Control
	Tracker  Tracker
}

// Agent is the coding agent in the session's terminal. Its methods may be called from any
// goroutine; those of a nil one do nothing.
type Agent struct {
	Config
	pump     Pump
	reclaims atomic.Uint64 // how often the user took the keyboard from an agent
}

// New makes it. Nothing reaches the driver before Attach.
func New(conf Config) *Agent { return &Agent{Config: conf} }

// Attach gives the driver the terminal, into which it types through the pump. Call it once.
func (a *Agent) Attach(pump Pump) {
	if a != nil {
		a.pump = pump
		a.Driver.Attach(terminal{a})
	}
}

// NoteOutput says that the agent printed something.
func (a *Agent) NoteOutput() {
	if a != nil {
		a.Driver.NoteOutput()
	}
}

// NoteReclaim says that the user took the keyboard back.
func (a *Agent) NoteReclaim() {
	if a != nil {
		a.reclaims.Add(1)
		a.Driver.NoteReclaim()
	}
}

// Ended is closed when the conversation has ended: the rest of the agent in the terminal is of no
// use. A nil agent's is never closed.
func (a *Agent) Ended() <-chan struct{} {
	if a == nil {
		return nil
	}
	return a.Over
}

// ReportExit tells the driver how the agent ended, and waits up to patience until the driver has
// ended the conversation. Otherwise the conversation would end as if we had closed it.
func (a *Agent) ReportExit(exit child.Exit) {
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
	last, _ := terminal{a}.ReadScreen()
	var rows []string
	for _, r := range last.Rows {
		rows = append(rows, r.Text)
	}
	a.Driver.NoteExit(why, rows)
	select {
	case <-a.Over:
	case <-time.After(patience):
	}
}

// CheckInput keeps an agent's keys from a dialog that only a person may answer. Input for a person
// names no agent. a may be nil.
func (a *Agent) CheckInput(agent string) error {
	if a != nil && !a.AgentsMayApprove && agent != "" && a.Driver.HasDialog() {
		return control.ErrDialog
	}
	return nil
}

// WatchKeys returns a watch that also tells the driver of a person's keys.
func (a *Agent) WatchKeys(next pump.KeyObserver) pump.KeyObserver {
	if a == nil {
		return next
	}
	return watch{next, a.Driver}
}

type watch struct {
	pump.KeyObserver
	driver chat.Beside
}

// NoteUserKeys implements [pump.KeyObserver].
func (w watch) NoteUserKeys(keys []byte) {
	w.driver.NoteKeys(keys)
	w.KeyObserver.NoteUserKeys(keys)
}
