package control

import (
	"fmt"
	"time"

	"terminalproxy/protocol"
)

// AnnounceFor is how long the user can read that a rule is about to give control. Until then the
// reclaim key refuses.
const AnnounceFor = 3 * time.Second

// maxLate is how much later than that the rule may give control. If more time passed, this process
// was stopped meanwhile and read no key, so the announcement starts over.
const maxLate = time.Second

// Ahead is the grant that the user's rule, written in advance, gives to the agent of a request.
type Ahead struct {
	// Rule names the place of the rule, for people; "" without a rule.
	Rule string
	// Level is the highest level that it gives, and For how long.
	Level protocol.Level
	For   time.Duration
	// Bound limits the grant to the foreground program, Front.
	Bound bool
	Front Front
}

// allowsGrant reports whether the rule gives the level to an agent while front has the terminal.
func (a Ahead) allowsGrant(level protocol.Level, front Front) bool {
	return a.Rule != "" && a.For > 0 && coversLevel(a.Level, level) &&
		(!a.Bound || a.Front.isSameProgram(front))
}

// NeverError refuses an agent without a question.
type NeverError struct {
	// Rule names the place of the user's rule.
	Rule string
}

// Error implements error: a sentence for the agent.
func (e *NeverError) Error() string {
	return fmt.Sprintf("the user's rule (%s) never gives you the keyboard here", e.Rule)
}

// SetForbidden sets the user's rule by which the agent that has control, or asks for it, may never
// type into the foreground program; "" without one. Control pauses meanwhile, even if the user gave
// it. watched means that such rules exist for the agent.
func (g *grant) SetForbidden(rule string, watched bool) { g.forbidden, g.watched = rule, watched }

// Holder returns the agent that has control, or asks for it.
func (g *grant) Holder() Agent { return g.agent }

// IsBoundToProgram reports whether control is for one program, by a rule.
func (g *grant) IsBoundToProgram() bool { return g.given.Bound || g.ahead.Bound }

// IsAnnounced reports whether control is about to be given by a rule.
func (g *grant) IsAnnounced() bool { return g.phase == Asked && g.ahead.Rule != "" }

// announceEnd returns when an announced rule gives control. It is zero until an announcement is
// seen.
func (g *grant) announceEnd() time.Time {
	if !g.IsAnnounced() || g.shown.IsZero() {
		return time.Time{}
	}
	return g.shown.Add(AnnounceFor)
}

// announceByRule begins the announcement of a request that a rule allows. Once the user took
// control back or refused it, rules pause until the user gives control again: the user wanted to be
// asked.
func (g *grant) announceByRule(r Request) {
	if !g.resting && r.Ahead.allowsGrant(r.Level, g.front) {
		g.ahead = r.Ahead
	}
}

// giveAnnounced gives what was announced. If another program has the terminal by now, or one that
// no rule allows, it asks the user.
func (m *Machine) giveAnnounced(now time.Time) {
	a := m.ahead
	if m.forbidden != "" || !a.allowsGrant(m.level, m.front) {
		m.ahead = Ahead{}
		m.startQuestion(now)
		return
	}
	m.giveControl(now, shorterLimit(a.For, m.userLimit()), Event{Rule: a.Rule, Bound: a.Bound})
}

// AskingProgram returns the program that the agent asks with, as the agent reports it: gateway mcp
// under claude.
func (r Request) AskingProgram() string {
	if r.Program == "" || r.Parent == "" {
		return r.Program
	}
	return r.Program + " under " + r.Parent
}

// DependsOnProgram reports whether it matters to the agent that has control which program has the
// terminal.
func (g *grant) DependsOnProgram() bool {
	return g.phase == Granted && (g.conf.OneProgram || g.watched || g.given.Bound)
}
