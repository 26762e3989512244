// Package policy holds the user's advance decisions about agents that ask for the keyboard: rules
// that allow, and rules that forbid ("never"), which win.
//
// It judges facts about an agent and the foreground program. It must not depend on how those are
// found, how control is given, or where the rules are stored.
package policy

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// Any is the program of a rule for all programs.
const Any = "*"

// Rule is one rule. An empty field does not restrict it, but an allowing rule has an agent, a
// program, a level and a time.
type Rule struct {
	Never bool
	// Agent is the name of a local token. A never rule also applies to every agent that gives
	// itself this name.
	Agent string
	// DisplayName is how Agent is displayed, "" if the same. Only a never rule uses it.
	DisplayName string
	// Program is a name as a shell finds it, a path, or Any.
	Program string
	// Directory is the program's directory or a parent of it, and Host the name of the machine.
	Directory, Host string
	// Level is the highest level given, and For how long.
	Level protocol.Level
	For   time.Duration
	// At is the place of the rule, for people: config.toml:12.
	At string

	places []string // Directory, as written and without links
}

// contentKey returns a string that is equal for rules that differ only in their place.
func (r Rule) contentKey() string {
	return fmt.Sprintf("%t %q %q %q %q %q %d",
		r.Never, r.Agent, r.Program, r.Directory, r.Host, r.Level, r.For)
}

// Set holds all rules in effect.
type Set struct{ Allow, Never []Rule }

// Agent describes an agent: the name of the local token that it proved, "" without one, and the
// names that it gives itself.
type Agent struct {
	Token string
	Names []string
}

// Program describes the program that has the terminal. The zero value is an unknown program.
type Program struct {
	// Path and File are its executable, as the kernel reports it, File as device:inode. Both are ""
	// if unknown.
	Path, File string
	// Names are the kernel's names of it and of the programs that it has started in the foreground,
	// its own first, and the names of the files that these run.
	Names []string
	// Directory is where it runs.
	Directory string
}

// Request is an agent's request for control.
type Request struct {
	Agent   Agent
	Program Program
	Host    string
	Level   protocol.Level
}

// Answer is the answer to a request.
type Answer string

// The answers.
const (
	Asks   Answer = "asks" // the user is asked
	Allows Answer = "allows"
	Never  Answer = "never"
)

// Verdict is an answer with the rule that gives it. Reasons holds why the rules before it do not
// apply, each as "config.toml:12: why".
type Verdict struct {
	Answer  Answer
	Rule    Rule // zero for Asks
	Reasons []string
}

// Judge applies the rules to a request.
func (s Set) Judge(a Request) Verdict {
	if r, ok := s.FindNever(a); ok {
		return Verdict{Answer: Never, Rule: r}
	}
	v := Verdict{Answer: Asks}
	for _, r := range s.Allow {
		why := r.mismatchWith(a)
		if why == "" {
			v.Answer, v.Rule = Allows, r
			return v
		}
		v.Reasons = append(v.Reasons, r.At+": "+why)
	}
	return v
}

// FindNever returns the first never rule for a request. An unknown property of the program counts
// as the one that the rule names. It reads no file.
func (s Set) FindNever(a Request) (Rule, bool) {
	at := slices.IndexFunc(s.Never, func(r Rule) bool { return r.forbids(a) })
	if at < 0 {
		return Rule{}, false
	}
	return s.Never[at], true
}

// isForAgent reports whether a never rule applies to an agent on a machine, in some program.
func (r Rule) isForAgent(a Request) bool {
	named := func(name string) bool {
		return strings.EqualFold(name, r.Agent) || r.DisplayName != "" && strings.EqualFold(name, r.DisplayName)
	}
	return (r.Agent == "" || named(a.Agent.Token) || slices.ContainsFunc(a.Agent.Names, named)) &&
		(r.Host == "" || isHost(r.Host, a.Host))
}

func (r Rule) forbids(a Request) bool {
	runsIn := func(place string) bool { return isWithin(a.Program.Directory, place) }
	switch {
	case !r.isForAgent(a):
		return false
	case r.Directory != "" && a.Program.Directory != "" &&
		!slices.ContainsFunc(r.places, runsIn):
		return false
	case r.Program == "" || r.Program == Any || len(a.Program.Names) == 0:
		return true
	}
	name := filepath.Base(r.Program)
	return slices.ContainsFunc(a.Program.Names, func(n string) bool {
		return strings.EqualFold(n, name) || n == kernelName(name)
	})
}

// mismatchWith returns why an allowing rule does not apply to a request, or "".
func (r Rule) mismatchWith(a Request) string {
	switch {
	case a.Agent.Token == "":
		return "no local token was shown"
	case r.Agent != a.Agent.Token:
		return "is for agent " + r.Agent
	case r.Host != "" && !isHost(r.Host, a.Host):
		return "is for host " + r.Host
	case r.Level != protocol.LevelDrive && a.Level != r.Level:
		return "allows level " + string(r.Level) + ", and " + string(a.Level) + " is asked for"
	case r.Directory != "" && !isWithin(a.Program.Directory, resolveLinks(r.Directory)):
		return "is for directory " + r.Directory
	case r.Program == Any:
		return ""
	}
	return r.programMismatch(a.Program)
}

// isHost compares names of machines; one of them may lack its domain.
func isHost(rule, host string) bool {
	first, _, _ := strings.Cut(host, ".")
	return strings.EqualFold(rule, host) || strings.EqualFold(rule, first)
}

// isWithin reports whether a directory is another one or below it.
func isWithin(directory, other string) bool {
	return other != "" &&
		(directory == other || strings.HasPrefix(directory, strings.TrimSuffix(other, "/")+"/"))
}

// resolveLinks returns a directory without symbolic links, as the kernel names it; "" if it does
// not exist.
func resolveLinks(directory string) string {
	path, err := filepath.EvalSymlinks(directory)
	if err != nil {
		return ""
	}
	return path
}

// kernelName shortens a name as the kernel does (proc(5), comm).
func kernelName(name string) string { return name[:min(len(name), 15)] }
