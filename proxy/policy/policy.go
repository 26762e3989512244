// Package policy is what a user decided ahead about agents that ask for the keyboard: rules that allow, and rules that say never, which
// win. It judges facts about an agent and about the program that has the terminal. It must not know how those are found, how control is
// given, or where the rules stand.
package policy

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// Any is the program of a rule that is for every one.
const Any = "*"

// Rule is one rule. What is "" does not matter, but an allowing rule has an agent, a program, a level and a time.
type Rule struct {
	Never bool
	// Agent is the name of a local token; a never is meant for whoever calls itself so, too.
	Agent string
	// Shown is that name as people read it for an agent, "" for no other one. It matters to a never.
	Shown string
	// Program is a name as a shell finds it, a path, or Any.
	Program string
	// Directory is where the program runs, or above that, and Host the name of the machine.
	Directory, Host string
	// Level is the most that is given, and For how long.
	Level protocol.Level
	For   time.Duration
	// At is where the rule stands, for people: config.toml:12.
	At string

	places []string // Directory, and what it leads to
}

// says is what the rule says, wherever it stands.
func (r Rule) says() string {
	return fmt.Sprintf("%t %q %q %q %q %q %d", r.Never, r.Agent, r.Program, r.Directory, r.Host, r.Level, r.For)
}

// Set is all rules that count.
type Set struct{ Allow, Never []Rule }

// Agent is what is known of an agent: the name of the local token that it proved, "" for none, and what it calls itself.
type Agent struct {
	Token string
	Names []string
}

// Program is what is known of the program that has the terminal. The zero value knows nothing.
type Program struct {
	// Path and File are what it runs, as the kernel says, File as device:inode. Both are "" where that cannot be known.
	Path, File string
	// Names are the kernel's names for it and for what it has started in the foreground, its own first, and what each runs.
	Names []string
	// Directory is where it runs.
	Directory string
}

// Ask is a request for control.
type Ask struct {
	Agent   Agent
	Program Program
	Host    string
	Level   protocol.Level
}

// Answer is what becomes of a request.
type Answer string

// The answers.
const (
	Asks   Answer = "asks" // the user is asked
	Allows Answer = "allows"
	Never  Answer = "never"
)

// Verdict is an answer with the rule that gives it, and why the rules before it do not, each as "config.toml:12: why".
type Verdict struct {
	Answer Answer
	Rule   Rule // zero for Asks
	Why    []string
}

// Judge says what the rules make of a request.
func (s Set) Judge(a Ask) Verdict {
	if r, ok := s.Forbids(a); ok {
		return Verdict{Answer: Never, Rule: r}
	}
	v := Verdict{Answer: Asks}
	for _, r := range s.Allow {
		why := r.unlike(a)
		if why == "" {
			v.Answer, v.Rule = Allows, r
			return v
		}
		v.Why = append(v.Why, r.At+": "+why)
	}
	return v
}

// Forbids is the first never that an agent meets. What is not known of the program counts as what the rule names. It reads no file.
func (s Set) Forbids(a Ask) (Rule, bool) {
	at := slices.IndexFunc(s.Never, func(r Rule) bool { return r.forbids(a) })
	if at < 0 {
		return Rule{}, false
	}
	return s.Never[at], true
}

// meets reports whether a never is for an agent on a machine, in front of some program.
func (r Rule) meets(a Ask) bool {
	named := func(name string) bool {
		return strings.EqualFold(name, r.Agent) || r.Shown != "" && strings.EqualFold(name, r.Shown)
	}
	return (r.Agent == "" || named(a.Agent.Token) || slices.ContainsFunc(a.Agent.Names, named)) && (r.Host == "" || isHost(r.Host, a.Host))
}

func (r Rule) forbids(a Ask) bool {
	switch {
	case !r.meets(a):
		return false
	case r.Directory != "" && a.Program.Directory != "" && !slices.ContainsFunc(r.places, func(p string) bool { return within(a.Program.Directory, p) }):
		return false
	case r.Program == "" || r.Program == Any || len(a.Program.Names) == 0:
		return true
	}
	name := filepath.Base(r.Program)
	return slices.ContainsFunc(a.Program.Names, func(n string) bool { return strings.EqualFold(n, name) || n == short(name) })
}

// unlike says why an allowing rule is not for a request, "" if it is.
func (r Rule) unlike(a Ask) string {
	switch {
	case a.Agent.Token == "":
		return "no local token was shown"
	case r.Agent != a.Agent.Token:
		return "is for agent " + r.Agent
	case r.Host != "" && !isHost(r.Host, a.Host):
		return "is for host " + r.Host
	case r.Level != protocol.LevelDrive && a.Level != r.Level:
		return "allows level " + string(r.Level) + ", and " + string(a.Level) + " is asked for"
	case r.Directory != "" && !within(a.Program.Directory, resolved(r.Directory)):
		return "is for directory " + r.Directory
	case r.Program == Any:
		return ""
	}
	return r.another(a.Program)
}

// isHost compares names of machines, of which one may be without its domain.
func isHost(rule, host string) bool {
	first, _, _ := strings.Cut(host, ".")
	return strings.EqualFold(rule, host) || strings.EqualFold(rule, first)
}

// within reports whether a directory is another one or below it.
func within(directory, other string) bool {
	return other != "" && (directory == other || strings.HasPrefix(directory, strings.TrimSuffix(other, "/")+"/"))
}

// resolved is a directory without symbolic links, as the kernel names it; "" where there is none.
func resolved(directory string) string {
	path, err := filepath.EvalSymlinks(directory)
	if err != nil {
		return ""
	}
	return path
}

// short is a name as the kernel keeps it (proc(5), comm).
func short(name string) string { return name[:min(len(name), 15)] }
