package authority

import (
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/policy"
	"terminalproxy/proxy/terminal/child"
)

// Rules holds the user's advance decisions about agents, in the form that control queries. It is
// safe for concurrent use.
type Rules struct {
	Source *policy.Source // nil for no rules
	// Running returns the program that has the terminal.
	Running func() child.Running
}

// FindAhead returns the grant that a rule gives to an agent that asks now. It reads the rules
// again.
func (r Rules) FindAhead(a control.Agent, level protocol.Level) control.Ahead {
	r.Source.ReloadRules()
	if a.Token == "" {
		return control.Ahead{}
	}
	running := r.Running()
	v := r.Source.Judge(policy.Ask{
		Agent:   agentForRules(a),
		Program: programForRules(running),
		Level:   level,
	})
	if v.Answer != policy.Allows {
		return control.Ahead{}
	}
	return control.Ahead{
		Rule: v.Rule.At, Level: v.Rule.Level, For: v.Rule.For, Bound: v.Rule.Program != policy.Any,
		Front: control.Front{Group: running.Group, File: running.File},
	}
}

// FindNever returns the rule that keeps an agent out of the program that has the terminal, or "";
// watched means that the agent has such rules.
func (r Rules) FindNever(a control.Agent) (rule string, watched bool) {
	agent := agentForRules(a)
	if !r.Source.MayForbid(agent) {
		return "", false
	}
	never, _ := r.Source.FindNever(agent, programForRules(r.Running()))
	return never.At, true
}

// agentForRules converts an agent for the rules. A number that tells agents of the same name apart
// is not part of the name.
func agentForRules(a control.Agent) policy.Agent {
	unnumbered := strings.TrimRight(strings.TrimRight(a.Name, "0123456789"), " ")
	return policy.Agent{
		Token: a.Token,
		Names: []string{a.Name, unnumbered, strings.TrimPrefix(a.Kin, "name ")},
	}
}

// programForRules converts the running program for the rules.
func programForRules(r child.Running) policy.Program {
	return policy.Program{Path: r.Path, File: r.File, Names: r.Names, Directory: r.Directory}
}
