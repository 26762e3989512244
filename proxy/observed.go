package proxy

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/copier"
	"terminalproxy/proxy/observer"
	"terminalproxy/proxy/secretprompt"
)

// scrollback is how many rows of history are kept for agents.
const scrollback = 10_000

// observerConfig plugs the observer. Without agents it is the terminal that the program asks, and what a recording shows.
func (s *session) observerConfig(cols, rows int, at copier.Cursor) observer.Config {
	c := observer.Config{
		Cols: cols, Rows: rows, CursorRow: at.Row, Clusters: at.Clusters, Program: observedProgram{s.program, s}, Queried: s.answerQueries,
	}
	if s.recording != nil {
		c.Recorder = s.recording
	}
	if agent := s.conf.Agent; agent != nil {
		c.Agents = &observer.Agents{
			Session: &observed{s: s}, Line: observedLine{s}, Interval: agent.Interval, Scrollback: scrollback, Mute: s.piped(), NoRedact: agent.NoRedact,
		}
	}
	return c
}

// observed is the session as package observer sees it. Its methods belong to the observer's goroutine.
type observed struct {
	s     *session
	front int // the group that had the terminal at the last output, where grants are for one program
}

func (o *observed) Driven() bool              { return o.s.authority.Newest().Phase == control.Granted }
func (o *observed) Typed() secretprompt.Typed { return o.s.detector.typed.now() }
func (o *observed) Unattended() bool          { return o.s.conf.headless.Unattended() }

// Keyboard implements [observer.Session].
func (o *observed) Keyboard() protocol.Keyboard {
	st := o.s.authority.Newest()
	k := protocol.Keyboard{Holder: protocol.HolderUser, Epoch: st.Epoch}
	switch st.Phase {
	case control.Granted:
		k.Holder, k.AgentID, k.AgentName = protocol.HolderAgent, st.Agent.ID, st.Agent.Name
		k.Level, k.ExpiresAt, k.Paused = st.Level, protocol.Milli(st.Until), st.Paused
		k.Held, k.Program, k.Away = st.Pending.Keys != "" || st.Occupied, st.Program, st.Away != ""
		switch {
		case st.Pending.Keys != "":
			k.HeldWhy = protocol.HeldConfirm
		case st.Occupied:
			k.HeldWhy, k.HeldLine = protocol.HeldLine, st.Line
		}
	case control.Asked:
		k.Asking, k.AskingLevel, k.AskingReason = st.Agent.Name, st.Level, st.Reason
	case control.Observing:
	}
	return k
}

// Resting is true in no session on a user's terminal. In an agent's own an agent always drives; what is printed, typed or asked
// for there has the line settings looked at in any case.
func (o *observed) Resting() bool { return o.s.conf.headless.Rests() }

// Publish implements [observer.Session].
func (o *observed) Publish(f *protocol.Frame, text string) {
	screen, keyboard := f.Screen, f.Keyboard
	o.s.link.Snapshot(&protocol.Snapshot{
		ID: protocol.NewID(), SessionID: o.s.id, Content: text, Timestamp: time.Now().UnixMilli(), Seq: f.Seq,
		Screen: &screen, Settled: f.Settled, IdleMs: f.IdleMs, Keyboard: &keyboard,
		Redactions: f.Redactions, HiddenText: f.HiddenText, Blackout: f.Blackout,
	})
}

func (o *observed) Blackout(on bool, why string, secret protocol.SecretPrompt) {
	o.s.link.Send(&protocol.Blackout{ID: protocol.NewID(), SessionID: o.s.id, On: on, Why: why, Secret: secret})
}

func (o *observed) SecretPrompt(kind protocol.SecretPrompt, dismissed bool) {
	o.s.pump.Post(func(now time.Time) { o.s.authority.Guard(now, kind, dismissed) })
}

// Printed has control look which program has the terminal, while there is a grant for one: a program that gives the terminal
// back writes something as a rule.
func (o *observed) Printed() {
	if !o.s.conf.Agent.OneProgram || !o.Driven() {
		return
	}
	if group := o.s.child.ForegroundGroup(); group != o.front {
		o.front = group
		o.s.pump.Post(func(time.Time) { o.s.authority.LookFront() })
	}
}

func (o *observed) Retitled() { o.s.copier.Repaint() }

func (o *observed) MouseReports(raw bool) {
	o.s.pump.Post(func(time.Time) { o.s.detector.SetX10Mouse(raw) })
}

// observedProgram is the program as package observer asks about it.
type observedProgram struct {
	*program
	s *session
}

// HasOutput implements [observer.Program]. The order matters: output goes from the kernel to the copier's hand.
func (p observedProgram) HasOutput() bool { return p.program.HasOutput() || p.s.copier.InHand() }

// reached says whether a gateway is reached, through which agents look.
func (s *session) reached(yes bool) {
	s.status.Observed(yes)
	s.observer.Reached(yes)
}
