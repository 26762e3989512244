package policy

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// claude is an agent with a token, which asks to drive in front of p.
func claude(p Program) Request {
	return Request{Agent: Agent{Token: "claude", Names: []string{"helper"}}, Program: p, Host: "desk.example.org", Level: protocol.LevelDrive}
}

// sh returns this machine's shell as a foreground program.
func sh(t *testing.T) Program {
	t.Helper()
	p, err := FindProgram("sh", t.TempDir())
	require.NoError(t, err)
	return p
}

func allow(program string) Rule {
	return Rule{Agent: "claude", Program: program, Level: protocol.LevelDrive, For: time.Minute, At: "c:1"}
}

func judge(rules []Rule, a Request) Verdict {
	var s Set
	for _, r := range rules {
		if r.Never {
			s.Never = append(s.Never, r)
		} else {
			s.Allow = append(s.Allow, r)
		}
	}
	return NewSource(s, a.Host, nil).Judge(a)
}

func TestARuleThatDoesNotApplySaysWhy(t *testing.T) {
	shell := sh(t)
	require.Equal(t, Allows, judge([]Rule{allow("sh")}, claude(shell)).Answer)
	for why, change := range map[string]func(r *Rule, a *Request){
		"no local token was shown":                              func(_ *Rule, a *Request) { a.Agent = Agent{Names: []string{"claude"}} },
		"is for agent claude":                                   func(_ *Rule, a *Request) { a.Agent = Agent{Token: "codex", Names: []string{"claude"}} },
		"is for host laptop":                                    func(r *Rule, _ *Request) { r.Host = "laptop" },
		"allows level type, and drive is asked for":             func(r *Rule, _ *Request) { r.Level = protocol.LevelType },
		"is for directory /usr":                                 func(r *Rule, _ *Request) { r.Directory = "/usr" },
		"is for program cat":                                    func(r *Rule, _ *Request) { r.Program = "cat" },
		"is for program sh, and the running program is unknown": func(_ *Rule, a *Request) { a.Program = Program{Names: []string{"sh"}} },
	} {
		r, a := allow("sh"), claude(shell)
		change(&r, &a)
		require.Equal(t, Verdict{Answer: Asks, Reasons: []string{"c:1: " + why}}, judge([]Rule{r}, a))
	}
	for name, change := range map[string]func(r *Rule, a *Request){
		"a lower level": func(_ *Rule, a *Request) { a.Level = protocol.LevelType },
		"the machine":   func(r *Rule, _ *Request) { r.Host = "DESK" },
		"in full":       func(r *Rule, _ *Request) { r.Host = "desk.example.org" },
		"below":         func(r *Rule, a *Request) { r.Directory = filepath.Dir(a.Program.Directory) },
		"any":           func(r *Rule, a *Request) { r.Program, a.Program = Any, Program{} },
	} {
		r, a := allow("sh"), claude(shell)
		change(&r, &a)
		require.Equal(t, Allows, judge([]Rule{r}, a).Answer, name)
	}
}

// A program is what runs, whatever its name and its own claim.
func TestAProgramIsKnownByItsFile(t *testing.T) {
	shell, dir := sh(t), t.TempDir()
	t.Setenv("PATH", os.Getenv("PATH")+":"+dir)
	mine := filepath.Join(dir, "mine")
	require.NoError(t, os.WriteFile(mine, []byte("#!/bin/sh\n"), 0o755))
	other := filepath.Join(t.TempDir(), "mine")
	require.NoError(t, os.WriteFile(other, []byte("#!/bin/sh\n"), 0o755))
	like, err := FindProgram(other, "/")
	require.NoError(t, err)
	own, err := FindProgram("mine", "/")
	require.NoError(t, err)
	require.Equal(t, Allows, judge([]Rule{allow("mine")}, claude(own)).Answer)
	require.Equal(t, []string{"c:1: is for program mine, and " + like.Path + " is another program of this name"}, judge([]Rule{allow("mine")}, claude(like)).Reasons)
	require.Equal(t, Allows, judge([]Rule{allow(other)}, claude(like)).Answer)

	// Names that a process gives itself.
	liar := like
	liar.Names = []string{"sh"}
	require.Equal(t, Asks, judge([]Rule{allow("sh")}, claude(liar)).Answer)
	// Another program's file under that path: it was replaced, or is in another root.
	shell.File = own.File
	require.Equal(t, Asks, judge([]Rule{allow("sh")}, claude(shell)).Answer)
	// One file of many names, as busybox: the name it was started by counts.
	box := filepath.Join(dir, "box")
	require.NoError(t, os.WriteFile(box, nil, 0o755))
	require.NoError(t, os.Symlink(box, filepath.Join(dir, "applet")))
	running := Program{Path: box, File: FileOf(box), Names: []string{"applet", "box"}}
	require.Equal(t, Allows, judge([]Rule{allow("applet")}, claude(running)).Answer)
	running.Names = []string{"sh", "box"}
	require.Equal(t, Asks, judge([]Rule{allow("applet")}, claude(running)).Answer)
}

// The link in a rule is followed; a path that only looks alike does not count.
func TestADirectoryIsTheKernels(t *testing.T) {
	dir := t.TempDir()
	src, link := filepath.Join(dir, "src"), filepath.Join(dir, "link")
	require.NoError(t, os.Mkdir(src, 0o700))
	require.NoError(t, os.Mkdir(src+"-other", 0o700))
	require.NoError(t, os.Symlink(src, link))
	in := func(where string, r Rule) Answer {
		a := claude(sh(t))
		a.Program.Directory = where
		return judge([]Rule{r}, a).Answer
	}
	r := allow("sh")
	r.Directory = link
	require.Equal(t, Allows, in(src, r))
	require.Equal(t, Allows, in(src+"/below", r))
	for _, where := range []string{src + "-other", dir, "", link + "-", "(unreachable)" + src} {
		require.Equal(t, Asks, in(where, r), where)
	}
	r.Directory = filepath.Join(dir, "none")
	require.Equal(t, Asks, in(r.Directory, r), "nobody is in a directory that there is not")
	r = Rule{Never: true, Directory: link}
	require.Equal(t, Never, in(src, r))
	require.Equal(t, Never, in(link, r))
	require.Equal(t, Never, in("", r), "what is not known")
	require.Equal(t, Asks, in(src+"-other", r))
}

func TestNeverWins(t *testing.T) {
	a := claude(sh(t))
	for name, r := range map[string]Rule{
		"for all": {Program: Any}, "the token": {Agent: "claude"}, "what it calls itself": {Agent: "HELPER"}, "the program": {Program: "sh"},
		"a path": {Program: "/nowhere/sh"}, "the machine": {Host: "desk"},
	} {
		r.Never, r.At = true, "c:9"
		v := judge([]Rule{allow("sh"), r}, a)
		require.Equal(t, Never, v.Answer, name)
		require.Equal(t, "c:9", v.Rule.At)
	}
	b := a
	b.Agent = Agent{Names: []string{"Claude Code"}}
	require.Equal(t, Never, judge([]Rule{{Never: true, Agent: "claude-code", DisplayName: "Claude Code"}}, b).Answer)
	for name, r := range map[string]Rule{
		"another agent": {Agent: "codex"}, "another program": {Program: "ssh"}, "another machine": {Host: "laptop"}, "elsewhere": {Directory: "/usr"},
	} {
		r.Never = true
		require.Equal(t, Allows, judge([]Rule{allow("sh"), r}, a).Answer, name)
	}
	// Programs that the program has started in the foreground count, and so do unknown ones.
	r := Rule{Never: true, Program: "ssh"}
	a.Program.Names = append(a.Program.Names, "git", "ssh")
	require.Equal(t, Never, judge([]Rule{r}, a).Answer)
	require.Equal(t, Never, judge([]Rule{r}, claude(Program{})).Answer)
}

// A change of the rules while it runs can only take away.
func TestARunningSessionGainsNoRights(t *testing.T) {
	a := claude(sh(t))
	now, fails := Set{}, error(nil)
	began := Set{Allow: []Rule{allow("sh")}, Never: []Rule{{Never: true, Agent: "codex"}}}
	s := NewSource(began, "desk", func() (Set, error) { return now, fails })
	answer := func() Answer { s.ReloadRules(); return s.Judge(a).Answer }
	require.Equal(t, Allows, s.Judge(a).Answer)
	moved := allow("sh")
	moved.At = "c:5"
	now = Set{Allow: []Rule{moved}}
	require.Equal(t, Allows, answer())
	require.Equal(t, "c:5", s.Judge(a).Rule.At)
	longer := allow("sh")
	longer.For = time.Hour
	now = Set{Allow: []Rule{longer}}
	require.Equal(t, Asks, answer(), "another rule")
	now = Set{Allow: []Rule{allow("sh")}, Never: []Rule{{Never: true, Program: "sh"}}}
	require.Equal(t, Never, answer())
	now = Set{Allow: []Rule{allow("sh")}}
	require.Equal(t, Allows, answer())
	require.True(t, s.MayForbid(Agent{Names: []string{"codex"}}), "a never of the beginning stays")
	require.False(t, s.MayForbid(a.Agent))
	fails = errors.New("broken")
	require.Equal(t, Asks, answer())
	fails = nil
	require.Equal(t, Allows, answer())

	var none *Source
	none.ReloadRules()
	require.Equal(t, Asks, none.Judge(a).Answer)
	require.False(t, none.MayForbid(a.Agent))
}

func TestScript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh -e\necho\n"), 0o700))
	require.Equal(t, "#!/bin/sh -e", InterpreterLine(path))
	require.NoError(t, os.WriteFile(path, []byte("\x7fELF"), 0o700))
	require.Empty(t, InterpreterLine(path))
	require.Empty(t, InterpreterLine("/nowhere"))
	_, err := FindProgram("/nowhere", "/")
	require.Error(t, err)
}
