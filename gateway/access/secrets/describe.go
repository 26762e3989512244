package secrets

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"terminalproxy/protocol"
)

// agents are the coding agents that are recognised by their paths, with the parts of paths that
// identify a program run by an interpreter.
var agents = []struct {
	name  string
	parts []string
}{
	{"claude", []string{"claude", "claude-code"}},
	{"codex", []string{"codex"}},
	{"gemini", []string{"gemini", "gemini-cli"}},
	{"opencode", []string{"opencode", "opencode-ai"}},
	{"copilot", []string{"copilot"}},
}

// Agents returns the names of the coding agents that are recognised by their paths, which are those
// of their programs.
func Agents() (names []string) {
	for _, a := range agents {
		names = append(names, a.name)
	}
	return names
}

// Client is a connected agent of this machine: its id, name and token's id, which may be "".
type Client struct{ ID, Name, TokenID string }

// describe describes the asker for people. starters are the processes that started a client.
func (f *facts) describe(program string, starters map[int]Client) protocol.SecretAsker {
	p := &f.chain[0]
	a := protocol.SecretAsker{
		Program: program, Pid: p.pid, Started: p.started,
		Command: clip(quoteCommand(f.typedCommand(program)), protocol.MaxText),
		// The kernel hides the directory of sudo.
		Cwd: clip(cmp.Or(p.dir, f.asker.dir), protocol.MaxText),
	}
	for _, c := range f.chain[1:] {
		a.Chain = append(a.Chain, clip(c.program(), protocol.MaxName))
	}
	_, agent, proven := f.findAgent(starters)
	a.Agent, a.Proven = clip(agent.Name, protocol.MaxName), proven
	a.AgentID, a.TokenID = agent.ID, agent.TokenID
	return a
}

// typedCommand returns the process with the command line that a person would type: git starts other
// gits to reach a server, and gpg to sign.
func (f *facts) typedCommand(program string) *process {
	at := 0
	for (program == "git" || program == "gpg") && at+1 < len(f.chain) &&
		f.chain[at+1].program() == "git" {
		at++
	}
	return &f.chain[at]
}

// findAgent returns the nearest agent among the ancestors, and whether a client that is connected
// says so, which names it. Without an agent it returns the farthest ancestor, without a name:
// unknown programs start as many others as they like.
func (f *facts) findAgent(starters map[int]Client) (p *process, agent Client, proven bool) {
	for i := range f.chain {
		p := &f.chain[i]
		guess := p.guessAgent()
		if agent, isAgent := starters[p.pid]; isAgent && !p.adoptsOrphans() && !p.runsAnything() {
			agent.Name = cmp.Or(guess, agent.Name, "agent")
			return p, agent, true
		}
		if guess != "" {
			return p, Client{Name: guess}, false
		}
	}
	return &f.chain[len(f.chain)-1], Client{}, false
}

// findStarters returns the processes that started one of these clients, which are agents. Only an
// MCP server counts, which an agent starts itself: a command runs in a shell, and that may have
// executed another program in its place since.
func findStarters(clients map[int]Client) map[int]Client {
	starters := make(map[int]Client)
	for pid, client := range clients {
		if parent, args := startOf(pid); len(args) > 1 && args[1] == "mcp" {
			starters[parent] = client
		}
	}
	return starters
}

// shells are programs that run what anyone has them run: a client below one says nothing about
// what else runs there.
var shells = []string{
	"sh", "ash", "bash", "busybox", "csh", "dash", "elvish", "fish", "ksh", "ksh93", "mksh", "nu",
	"oksh", "pwsh", "tcsh", "xonsh", "yash", "zsh", "screen", "sshd", "tmux", "zellij",
}

// runsAnything reports whether a process is a shell. A login shell names itself with a hyphen.
func (p *process) runsAnything() bool {
	return slices.Contains(shells, strings.TrimPrefix(p.program(), "-"))
}

// adoptsOrphans reports whether a process is the parent of those whose parent has ended: it did not
// start them, nor what else runs below it.
func (p *process) adoptsOrphans() bool { return p.pid == 1 || p.program() == "systemd" }

// guessAgent returns the coding agent that a process's path suggests, or "".
func (p *process) guessAgent() string {
	words := strings.Split(p.path, "/")
	for _, arg := range p.args[:min(2, len(p.args))] { // an interpreter, and its script
		words = append(words, strings.Split(arg, "/")...)
	}
	for i, w := range words {
		words[i] = strings.TrimSuffix(w, filepath.Ext(w))
	}
	for _, a := range agents {
		for _, part := range a.parts {
			if slices.Contains(words, part) {
				return a.name
			}
		}
	}
	return ""
}

// quoteCommand returns a command line as a person would type it. The first word is the real name of
// the program, not the one that it gives itself, unless sudo acts by that.
func quoteCommand(p *process) string {
	words := []string{p.program()}
	switch {
	case words[0] == "sudo" && isEdit(p.args):
		words[0] = "sudoedit"
	case !p.system && p.path != "": // not the system's: say where it is
		words[0] = p.path
	}
	if len(p.args) > 0 {
		words = append(words, p.args[1:]...)
	}
	for i, w := range words {
		if w == "" || strings.ContainsFunc(w, isSpecial) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// isEdit reports whether sudo edits files: it does when the name that it was started by ends so
// (sudo(8), parse_args.c).
func isEdit(args []string) bool {
	if len(args) == 0 {
		return false
	}
	name := filepath.Base(args[0])
	return len(name) > len("edit") && strings.HasSuffix(name, "edit")
}

func isSpecial(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:=@,+%^", r)
}

// findHost returns the machine that git's network helper talks to, if its second argument and its
// prompt agree: the first argument is the user's own name for it, an address may redirect to
// another, and a proxy asks for a password of its own.
func findHost(program string, args []string, prompt string) string {
	if program != "git" || len(args) < 3 {
		return ""
	}
	m := addressOf().FindStringSubmatch(args[2])
	_, asked, isAddress := strings.Cut(prompt, "://")
	end := strings.LastIndexByte(asked, '\'')
	if m == nil || !isAddress || end < 0 {
		return ""
	}
	host, user := asked[:end], ""
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host, user = host[at+1:], host[:at]
	}
	if host == m[1] || strings.HasPrefix(host, m[1]+"/") && !strings.Contains(user, "/") {
		return m[1]
	}
	return ""
}

// addressOf matches an address and, in it, the machine.
var addressOf = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:https?|ftps?|ssh)://(?:[^/@]*@)?([^/?#]+)`)
})

// clip returns text as valid UTF-8 of limited length, in bytes.
func clip(text string, limit int) string {
	return protocol.Clip(strings.ToValidUTF8(text, "?"), limit)
}
