package control

import (
	"fmt"
	"time"

	"terminalproxy/protocol"
)

// AnnounceFor is how long the user can read that a rule is about to give control, and refuse with
// the reclaim key.
const AnnounceFor = 3 * time.Second

// maxLate is how late the rule may give control after AnnounceFor. If more time passed, this
// process was stopped meanwhile and read no key, so the announcement starts over.
const maxLate = time.Second

// RuleGrant is the grant that a rule of the user gives to the agent of a request.
type RuleGrant struct {
	// Rule names the place of the rule, for people; "" without a rule.
	Rule string
	// Level is the highest level that the rule gives, and For how long.
	Level protocol.Level
	For   time.Duration
	// OneProgram limits the grant to the program Foreground.
	OneProgram bool
	Foreground Foreground
}

// allowsGrant reports whether the rule gives a level while a program has the terminal.
func (a RuleGrant) allowsGrant(level protocol.Level, front Foreground) bool {
	return a.Rule != "" && a.For > 0 && coversLevel(a.Level, level) &&
		(!a.OneProgram || a.Foreground.isSameProgram(front))
}

// NeverError refuses an agent without a question to the user.
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
func (g *grant) IsBoundToProgram() bool { return g.given.OneProgram || g.ruleGrant.OneProgram }

// IsAnnounced reports whether control is about to be given by a rule.
func (g *grant) IsAnnounced() bool { return g.phase == Asked && g.ruleGrant.Rule != "" }

// announceEnd returns when an announced rule gives control. It is zero until an announcement is
// seen.
func (g *grant) announceEnd() time.Time {
	if !g.IsAnnounced() || g.shown.IsZero() {
		return time.Time{}
	}
	return g.shown.Add(AnnounceFor)
}

// announceByRule begins the announcement of a request that a rule allows. Once the user takes
// control back or refuses it, rules pause until the user gives control again: the user wanted to be
// asked.
func (g *grant) announceByRule(r Request) {
	if !g.rulesPaused && r.RuleGrant.allowsGrant(r.Level, g.foreground) {
		g.ruleGrant = r.RuleGrant
	}
}

// giveAnnounced gives the announced control. If the rule does not allow it for the program that has
// the terminal now, it asks the user.
func (m *Machine) giveAnnounced(now time.Time) {
	a := m.ruleGrant
	if m.forbidden != "" || !a.allowsGrant(m.level, m.foreground) {
		m.ruleGrant = RuleGrant{}
		m.startQuestion(now)
		return
	}
	m.giveControl(now, shorterLimit(a.For, m.userLimit()), Event{Rule: a.Rule, OneProgram: a.OneProgram})
}

// AskingProgram returns the program that the agent asks with, as the agent reports it, such as
// "gateway mcp under claude".
func (r Request) AskingProgram() string {
	if r.Program == "" || r.Parent == "" {
		return r.Program
	}
	return r.Program + " under " + r.Parent
}

// DependsOnProgram reports whether the grant of the agent that has control depends on the program
// that has the terminal.
func (g *grant) DependsOnProgram() bool {
	return g.phase == Granted && (g.conf.OneProgram || g.watched || g.given.OneProgram)
}
