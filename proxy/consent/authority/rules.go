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

// FindRuleGrant returns the grant that a rule gives to an agent that asks now. It reads the rules
// again.
func (r Rules) FindRuleGrant(a control.Agent, level protocol.Level) control.RuleGrant {
	r.Source.ReloadRules()
	if a.Token == "" {
		return control.RuleGrant{}
	}
	running := r.Running()
	v := r.Source.Judge(policy.Request{
		Agent:   ruleAgent(a),
		Program: ruleProgram(running),
		Level:   level,
	})
	if v.Answer != policy.Allows {
		return control.RuleGrant{}
	}
	return control.RuleGrant{
		Rule: v.Rule.At, Level: v.Rule.Level, For: v.Rule.For, OneProgram: v.Rule.Program != policy.Any,
		Foreground: control.Foreground{Group: running.Group, File: running.File},
	}
}

// FindNever returns the rule that keeps an agent out of the program that has the terminal, or "";
// watched means that the agent has such rules.
func (r Rules) FindNever(a control.Agent) (rule string, watched bool) {
	agent := ruleAgent(a)
	if !r.Source.MayForbid(agent) {
		return "", false
	}
	never, _ := r.Source.FindNever(agent, ruleProgram(r.Running()))
	return never.At, true
}

// ruleAgent converts an agent for the rules. A number that distinguishes agents of the same name is
// not part of the name.
func ruleAgent(a control.Agent) policy.Agent {
	unnumbered := strings.TrimRight(strings.TrimRight(a.Name, "0123456789"), " ")
	return policy.Agent{
		Token: a.Token,
		Names: []string{a.Name, unnumbered, strings.TrimPrefix(a.Identity, "name ")},
	}
}

// ruleProgram converts the running program for the rules.
func ruleProgram(r child.Running) policy.Program {
	return policy.Program{Path: r.Path, File: r.File, Names: r.Names, Directory: r.Directory}
}
