package doctor

import (
	"os/exec"

	settingsfile "terminalproxy/cmd/internal/config/settings"
	"terminalproxy/proxy/consent/policy"
)

// configurationName is the name of findings about the configuration.
const configurationName = "configuration"

// checkConfiguration checks every table of the user's configuration, and the files and programs
// that it names.
func (d *doctor) checkConfiguration() {
	path, err := settingsfile.Path()
	if err != nil {
		d.addOK(configurationName, "it cannot be located: %v", err)
		return
	}
	file, err := settingsfile.User()
	faults := findFaults(file, err, d.env.NewRoot())
	for _, fault := range faults {
		d.addError(configurationName, fault.Hint, "%v", fault)
	}
	switch {
	case len(faults) > 0:
		return
	case file == nil:
		d.addOK(configurationName, "%s: no such file, so the built-in defaults apply", path)
		return
	}
	d.addOK(configurationName, "%s: every table is valid", path)
	d.checkEvents(file)
	rules, err := file.Policy()
	if err != nil {
		return // reported above
	}
	for _, r := range append(rules.Allow, rules.Never...) {
		d.checkRule(r)
	}
}

// checkEvents checks whether the programs that the configuration starts on events can be run.
func (d *doctor) checkEvents(file *settingsfile.File) {
	for _, s := range rulesOf(file) {
		if s.Trouble != "" {
			d.addWarning(configurationName, "name a program in your PATH, or its whole path",
				"[[on]] at line %d runs nothing: %s", s.Line, s.Trouble)
		}
	}
}

// checkRule checks whether the agent and the program of a rule exist.
func (d *doctor) checkRule(r policy.Rule) {
	kind := "[[" + settingsfile.RulesAllow + "]]"
	if r.Never {
		kind = "[[" + settingsfile.RulesNever + "]]"
	} else if _, note := localToken(r.Agent); note != "" {
		d.addWarning(configurationName, "", "%s at %s allows nothing: %s", kind, r.At, note)
	}
	if r.Host != "" || r.Program == "" || r.Program == policy.Any {
		return // another machine's program may be missing here
	}
	if _, err := exec.LookPath(r.Program); err != nil {
		d.addWarning(configurationName, "check the name; the rule stays in force",
			"%s at %s is for %s, and this machine has no such program", kind, r.At, r.Program)
	} else if !r.Never && isIndirect(r.Program) {
		d.addWarning(configurationName, "gateway policy check "+r.Agent+" "+r.Program,
			"%s at %s is for %s, a script that starts another program", kind, r.At,
			r.Program)
	}
}

// isIndirect reports whether a program gives its terminal to another one at run time.
func isIndirect(name string) bool {
	path, err := exec.LookPath(name)
	return err == nil && policy.InterpreterLine(path) != ""
}
