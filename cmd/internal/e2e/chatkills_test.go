package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// hostKind is one of the ways in which our commands host a coding agent.
type hostKind struct {
	command string
	host    string // pattern of our command's process, see [world.signalLine]
	victims []killVictim
	// prepare prepares a terminal and the agent's model. The agent is started anew for each moment.
	prepare func(w *world) *hosted
}

// killVictim is a process to kill.
type killVictim struct {
	name, line string
	asks       bool     // it exists only in an approval and in a question
	stays      bool     // our command keeps running, and SIGTERM ends it
	only       []string // the moments to try; nil for all
}

// killMoments are the moments at which a process is killed.
var killMoments = []string{"at the prompt", "at work", "in an approval", "in a question"}

// hosted is a coding agent that one of our commands hosts. Each function waits until the agent has
// got there.
type hosted struct {
	w     *world
	s     *terminal
	env   string // set before the command
	start func() // starts the agent and waits for its prompt
	brief func() // gives it a prompt to work on
	leave func() // makes it ask for permission to create the file made-never; nil if its prompt does that
	ask   func() // makes it ask a question; nil if its model asks in its text
}

// killAt runs an agent of one kind, kills one of its peers at each moment, and returns when no
// process is left. Each time the terminal is restored and nothing was allowed.
func (h *hosted) killAt(k hostKind, v killVictim) {
	w, t := h.w, h.w.t
	t.Helper()
	before := h.s.settings()
	for i, moment := range killMoments {
		if v.asks && i < 2 || i == 3 && h.ask == nil || v.only != nil && !strings.Contains(strings.Join(v.only, ","), moment) {
			continue
		}
		if w.gateway("ls").status != 0 { // the previous gateway was killed
			w.serve("gateway")
		}
		h.start()
		id := w.session()
		switch i {
		case 1:
			h.brief()
		case 2:
			h.leave()
		case 3:
			h.ask()
		}
		require.Positive(t, w.signalLine(v.line, syscall.SIGKILL), "%s is not there %s: %v", v.name, moment, w.processes())
		if v.stays {
			require.Positive(t, w.signalLine(k.host, syscall.SIGTERM), moment)
		}
		w.until(func() bool { return w.peers() == "" }, func() string { return moment + ":\n" + w.peers() + h.s.screen() })
		w.until(func() bool { return h.s.format(modes) == plainModes }, h.s.screen)
		require.Equal(t, before, h.s.settings(), moment)
		require.NoFileExists(t, w.path("made-never"), moment)
		w.gateway("chat", "log", id) // the command must answer; what it keeps differs
		w.gateway("close", id)
	}
	_, status := h.s.runToEnd(h.env + "proxy --chat claude -p hello") // it removes what the killed process left
	require.Equal(t, 125, status)
}

// peers lists the running processes of an agent, of its host, and of their children.
func (w *world) peers() string {
	var all []string
	for _, p := range w.processes() {
		_, line, _ := strings.Cut(p, " ")
		switch name, _, _ := strings.Cut(line, " "); {
		case strings.HasPrefix(name, "tmux"), strings.HasSuffix(name, "bash"), name == "cat", name == "tmux:": // the terminal, and its film
		case strings.Contains(line, "gateway serve"), name == "": // already ending
		default:
			all = append(all, p)
		}
	}
	return strings.Join(all, "\n")
}

// killTable runs a table, each victim of each kind in its own world.
func killTable(t *testing.T, kinds []hostKind) {
	t.Helper()
	for _, k := range kinds {
		for _, v := range k.victims {
			t.Run(k.command+", "+v.name, func(t *testing.T) {
				w := newWorld(t)
				w.serve("gateway")
				k.prepare(w).killAt(k, v)
			})
		}
	}
}

const (
	besideProxy = `^\S+ \S*proxy --chat`
	headlessRun = `^\S+ \S*gateway run --chat`
	chatHost    = `^\S+ \S*gateway chat --with`
)

var (
	killsGateway = killVictim{name: "gateway", line: `^\S+ \S*gateway serve`, stays: true}
	killsHook    = killVictim{name: "hook", line: `^\S+ \S*gateway hook PermissionRequest`, asks: true, stays: true}
)

// A hosted agent ends whichever process is killed at whichever moment, even if the agent ignores
// the end of its input, interruptions and signals.
func TestAHostedAgentEndsWhicheverPeerIsKilled(t *testing.T) {
	t.Parallel()
	acts := func(command, host string, prepare func(*world) *hosted, victims ...killVictim) hostKind {
		own := killVictim{name: strings.Join(strings.Fields(command)[:2], " "), line: host}
		return hostKind{command, host, append(victims, own), prepare}
	}
	of := func(what string) string { return `^\S+ actor ` + what }
	claude := killVictim{name: "claude", line: of("claude")}
	kinds := []hostKind{
		acts("proxy --chat claude", besideProxy, actedBeside("proxy --chat claude", "❯"), claude, killsHook, killsGateway),
		acts("gateway run --chat -- claude", headlessRun, (*world).actedHeadless, claude, killsHook, killsGateway),
		acts("proxy --chat opencode", besideProxy, actedBeside("proxy --chat opencode", "ctrl+p commands"),
			killVictim{name: "interface", line: of("opencode attach")}, killVictim{name: "server", line: of("opencode serve")}, killsGateway),
		acts("gateway chat --with claude", chatHost, actedChat("claude"), claude, killsGateway),
		acts("gateway chat --with codex", chatHost, actedChat("codex"), killVictim{name: "adapter", line: of("adapter")}, killVictim{name: "agent", line: of("behind"), stays: true}),
		acts("gateway chat --with gemini", chatHost, actedChat("gemini"), killVictim{name: "agent", line: of("gemini")}),
		acts("gateway chat --with copilot", chatHost, actedChat("copilot"), killVictim{name: "agent", line: of("copilot")}),
	}
	killTable(t, kinds)
}

// newActed prepares a terminal for an agent that [actor] plays.
func (w *world) newActed() *hosted {
	w.t.Helper()
	dir := w.path("agents")
	require.NoError(w.t, os.Mkdir(dir, 0o700))
	for program, part := range map[string]string{"claude": "claude", "opencode": "opencode", "codex-acp": "adapter", "gemini": "gemini", "copilot": "copilot"} {
		w.writeScript(filepath.Join("agents", program), "#!/bin/sh\nexec actor "+part+" \"$@\"\n")
	}
	h := &hosted{w: w, s: w.terminal(100, 30), env: "PATH=" + dir + ":$PATH "}
	h.brief = func() { h.enter("work") }
	return h
}

// enter types a line.
func (h *hosted) enter(line string) {
	h.w.t.Helper()
	h.s.typed(line)
	h.s.press("Enter")
}

// actedBeside prepares an agent in its own interface, which shows sign at its prompt.
func actedBeside(command, sign string) func(w *world) *hosted {
	return func(w *world) *hosted {
		h := w.newActed()
		h.start = func() {
			h.s.runAnew(h.env + command)
			h.s.wait(sign)
			w.waitForChat(w.session(), protocol.ChatAtPrompt)
		}
		h.brief = func() { h.enter("work"); w.waitForChat(w.session(), protocol.ChatWorking) }
		h.leave = func() { h.enter("leave"); w.waitForChat(w.session(), protocol.ChatApproval) }
		h.ask = func() { h.enter("ask"); w.waitForChat(w.session(), protocol.ChatAsks) }
		return h
	}
}

// actedHeadless prepares an agent without a visible interface.
func (w *world) actedHeadless() *hosted {
	h := w.newActed()
	comes := func(word, state string) func() {
		return func() {
			if word != "" {
				w.mustGateway("chat", "send", w.session(), word)
			}
			w.waitForChat(w.session(), state)
		}
	}
	prompt := comes("", protocol.ChatAtPrompt)
	h.start = func() { h.s.runAnew(h.env + "gateway run --chat -- claude"); prompt() }
	h.brief, h.leave, h.ask = comes("work", protocol.ChatWorking), comes("leave", protocol.ChatApproval), comes("ask", protocol.ChatAsks)
	return h
}

// actedChat prepares an agent in a line-by-line chat.
func actedChat(name string) func(w *world) *hosted {
	return func(w *world) *hosted {
		h := w.newActed()
		h.start = func() {
			h.s.runAnew(h.env + "gateway chat --with " + name)
			h.s.wait("→ You:")
		}
		h.leave = func() { h.enter("leave"); h.s.waitApproval("made-never") }
		h.ask = func() { h.enter("ask"); h.s.wait("Which colour?"); h.s.wait("→ Your answer") }
		return h
	}
}
