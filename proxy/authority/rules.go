package authority

import (
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/child"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/policy"
)

// Rules is what the user decided ahead about agents, as control asks it. Its methods may be called from any goroutine.
type Rules struct {
	Source *policy.Source // nil for no rules
	// Running is what has the terminal.
	Running func() child.Running
}

// Ahead is what a rule gives an agent that asks now. It reads the rules again.
func (r Rules) Ahead(a control.Agent, level protocol.Level) control.Ahead {
	r.Source.Refresh()
	if a.Token == "" {
		return control.Ahead{}
	}
	running := r.Running()
	v := r.Source.Judge(policy.Ask{Agent: judged(a), Program: inFront(running), Level: level})
	if v.Answer != policy.Allows {
		return control.Ahead{}
	}
	return control.Ahead{
		Rule: v.Rule.At, Level: v.Rule.Level, For: v.Rule.For, Bound: v.Rule.Program != policy.Any,
		Front: control.Front{Group: running.Group, File: running.File},
	}
}

// Never is the rule that keeps an agent out of what has the terminal now, "" for none; watched says that there are rules which may.
func (r Rules) Never(a control.Agent) (rule string, watched bool) {
	who := judged(a)
	if !r.Source.Minds(who) {
		return "", false
	}
	never, _ := r.Source.Forbids(who, inFront(r.Running()))
	return never.At, true
}

// judged is an agent as rules know it. The number that tells it from others of its name is no part of what it calls itself.
func judged(a control.Agent) policy.Agent {
	unnumbered := strings.TrimRight(strings.TrimRight(a.Name, "0123456789"), " ")
	return policy.Agent{Token: a.Token, Names: []string{a.Name, unnumbered, strings.TrimPrefix(a.Kin, "name ")}}
}

// inFront is what has the terminal as rules know it.
func inFront(r child.Running) policy.Program {
	return policy.Program{Path: r.Path, File: r.File, Names: r.Names, Directory: r.Directory}
}
