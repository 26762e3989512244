package proxy

import (
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/child"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/policy"
)

// ahead is what a rule of the user's gives an agent that asks now. It reads the rules again, and may be called from any goroutine.
func (s *session) ahead(a control.Agent, level protocol.Level) control.Ahead {
	rules := s.conf.Agent.Policy
	rules.Refresh()
	if a.Token == "" {
		return control.Ahead{}
	}
	running := s.child.Running()
	v := rules.Judge(policy.Ask{Agent: judged(a), Program: inFront(running), Level: level})
	if v.Answer != policy.Allows {
		return control.Ahead{}
	}
	return control.Ahead{
		Rule: v.Rule.At, Level: v.Rule.Level, For: v.Rule.For, Bound: v.Rule.Program != policy.Any,
		Front: control.Front{Group: running.Group, File: running.File},
	}
}

// never is the rule that keeps an agent out of what has the terminal now, "" for none; watched says that there are rules which may.
func (s *session) never(a control.Agent) (rule string, watched bool) {
	rules, who := s.conf.Agent.Policy, judged(a)
	if !rules.Minds(who) {
		return "", false
	}
	r, _ := rules.Forbids(who, inFront(s.child.Running()))
	return r.At, true
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
