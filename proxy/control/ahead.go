package control

import (
	"fmt"
	"time"

	"terminalproxy/protocol"
)

// AnnounceFor is how long what the user decided ahead stands on the screen before it gives control: until then the reclaim key refuses.
const AnnounceFor = 3 * time.Second

// lateMost is how late it may give it then. Later, this process was stopped meanwhile and read no key: it is announced anew.
const lateMost = time.Second

// Ahead is what the user's own rule, written down ahead, gives the agent of a request.
type Ahead struct {
	// Rule is where the rule stands, for people; "" where none is.
	Rule string
	// Level is the most that it gives, and For how long.
	Level protocol.Level
	For   time.Duration
	// Bound says that it is for the program in front, which is Front.
	Bound bool
	Front Front
}

// gives reports whether a rule gives what is asked for in front of a program.
func (a Ahead) gives(level protocol.Level, front Front) bool {
	return a.Rule != "" && a.For > 0 && covers(a.Level, level) && (!a.Bound || a.Front.is(front))
}

// NeverError is why an agent is refused without a question.
type NeverError struct {
	// Rule is where the user's rule stands.
	Rule string
}

// Error implements error: a sentence for the agent.
func (e *NeverError) Error() string {
	return fmt.Sprintf("a rule of the user's (%s) never gives you the keyboard here", e.Rule)
}

// Forbid tells the machine by which of the user's rules the agent that has control, or asks for it, may never type into what has the
// terminal now; "" for none. Control rests meanwhile, whoever gave it. watched says that there are such rules for the agent.
func (m *Machine) Forbid(rule string, watched bool) { m.forbidden, m.watched = rule, watched }

// Holder is the agent that has control, or asks for it.
func (m *Machine) Holder() Agent { return m.agent }

// Bound reports whether control is for one program, by a rule.
func (m *Machine) Bound() bool { return m.given.Bound || m.ahead.Bound }

// Announced reports whether control is about to be given by a rule.
func (m *Machine) Announced() bool { return m.phase == Asked && m.ahead.Rule != "" }

// announceEnd is when an announced rule gives control, zero while nothing is announced, or not seen yet.
func (m *Machine) announceEnd() time.Time {
	if !m.Announced() || m.shown.IsZero() {
		return time.Time{}
	}
	return m.shown.Add(AnnounceFor)
}

// announce begins the announcement of a request that a rule gives. Rules rest once the user took control back or refused it, until the
// user gives control again: they wanted to be asked.
func (m *Machine) announce(r Request) {
	if !m.resting && r.Ahead.gives(r.Level, m.front) {
		m.ahead = r.Ahead
	}
}

// redeem gives what was announced. Where another program has the terminal by now, or one that no rule is for, the user is asked.
func (m *Machine) redeem(now time.Time) {
	a := m.ahead
	if m.forbidden != "" || !a.gives(m.level, m.front) {
		m.ahead = Ahead{}
		m.ask(now)
		return
	}
	m.grant(now, shortest(a.For, m.said()), Event{Rule: a.Rule, Bound: a.Bound})
}

// From is what the agent asks with, as it says: gateway mcp under claude.
func (r Request) From() string {
	if r.Program == "" || r.Parent == "" {
		return r.Program
	}
	return r.Program + " under " + r.Parent
}

// Guarded reports whether it matters to the agent that has control which program has the terminal.
func (m *Machine) Guarded() bool {
	return m.phase == Granted && (m.conf.OneProgram || m.watched || m.given.Bound)
}
