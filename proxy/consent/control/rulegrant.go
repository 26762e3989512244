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
func (m *situation) SetForbidden(rule string, watched bool) { m.forbidden, m.watched = rule, watched }

// IsBoundToProgram reports whether control is for one program, by a rule.
func (m *situation) IsBoundToProgram() bool {
	return m.given.OneProgram || m.IsAnnounced() && m.requests[0].RuleGrant.OneProgram
}

// IsAnnounced reports whether control is about to be given by a rule.
func (m *situation) IsAnnounced() bool {
	return !m.driven && len(m.requests) > 0 && m.requests[0].isAnnounced()
}

func (r *request) isAnnounced() bool { return r.RuleGrant.Rule != "" }

// announceEnd returns when an announced rule gives control. It is zero until an announcement is
// seen.
func (m *situation) announceEnd() time.Time {
	if !m.IsAnnounced() {
		return time.Time{}
	}
	shown := m.ShownSince(m.requests[0].question)
	if shown.IsZero() {
		return time.Time{}
	}
	return shown.Add(AnnounceFor)
}

// mayAnnounce reports whether a rule allows a request. Once the user takes control back or refuses
// it, rules pause until the user gives control again: the user wanted to be asked.
func (m *situation) mayAnnounce(r *request) bool {
	return !m.rulesPaused && r.RuleGrant.allowsGrant(r.Level, m.foreground)
}

// giveAnnounced gives the announced control. If the rule does not allow it by now, for the program
// that has the terminal, it asks the user.
func (m *Machine) giveAnnounced(now time.Time, r *request) {
	rule := r.RuleGrant
	if m.forbidden == "" && m.mayAnnounce(r) {
		m.giveControl(now, r, shorterLimit(rule.For, m.userLimit()),
			Event{Rule: rule.Rule, OneProgram: rule.OneProgram})
		return
	}
	r.RuleGrant, r.question.Unasked = RuleGrant{}, false
	if m.Current() == r.question {
		m.Restart(now)
	} else { // the user's key has ended it
		m.Add(now, r.question)
	}
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
func (m *situation) DependsOnProgram() bool {
	return m.driven && (m.conf.OneProgram || m.watched || m.given.OneProgram)
}
