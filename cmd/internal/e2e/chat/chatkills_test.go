package chat_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// hostKind is one of the ways in which our commands host a coding agent.
type hostKind struct {
	command string
	host    string // pattern of our command's process, see [world.signalLine]
	victims []killVictim
	// prepare prepares a terminal and the agent's model. The agent is started anew for each moment.
	prepare func(w *world.World) *world.Hosted
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

// killAt runs an agent of one kind, kills one of its peers at each moment, and returns when no
// process is left. Each time the terminal is restored and nothing was allowed.
func killAt(h *world.Hosted, k hostKind, v killVictim) {
	w, t := h.W, h.W.T
	t.Helper()
	before := settings(h.S)
	for i, moment := range killMoments {
		if v.asks && i < 2 || i == 3 && h.Ask == nil || v.only != nil && !strings.Contains(strings.Join(v.only, ","), moment) {
			continue
		}
		if w.Gateway("ls").Status != 0 { // the previous gateway was killed
			w.Serve("gateway")
		}
		h.Start()
		id := w.Session()
		switch i {
		case 1:
			h.Brief()
		case 2:
			h.Leave()
		case 3:
			h.Ask()
		}
		// What the agent starts may show its name after the agent's prompt.
		w.Until(func() bool { return signalLine(w, v.line, syscall.SIGKILL) > 0 }, func() string {
			return fmt.Sprintf("%s is not there %s: %v", v.name, moment, w.Processes())
		})
		if v.stays {
			require.Positive(t, signalLine(w, k.host, syscall.SIGTERM), moment)
		}
		w.Until(func() bool { return peers(w) == "" }, func() string { return moment + ":\n" + peers(w) + h.S.Screen() })
		w.Until(func() bool { return h.S.Format(world.Modes) == world.PlainModes }, h.S.Screen)
		require.Equal(t, before, settings(h.S), moment)
		require.NoFileExists(t, w.Path("made-never"), moment)
		w.Gateway("chat", "log", id) // the command must answer; what it keeps differs
		w.Gateway("close", id)
	}
	_, status := h.S.RunToEnd(h.Env + "proxy --chat claude -p hello") // it removes what the killed process left
	require.Equal(t, 125, status)
}

// peers lists the running processes of an agent, of its host, and of their children.
func peers(w *world.World) string {
	var all []string
	for _, p := range w.Processes() {
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
				w := world.New(t)
				w.Serve("gateway")
				killAt(k.prepare(w), k, v)
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
	acts := func(command, host string, prepare func(*world.World) *world.Hosted, victims ...killVictim) hostKind {
		own := killVictim{name: strings.Join(strings.Fields(command)[:2], " "), line: host}
		return hostKind{command, host, append(victims, own), prepare}
	}
	of := func(what string) string { return `^\S+ actor ` + what }
	claude := killVictim{name: "claude", line: of("claude")}
	kinds := []hostKind{
		acts("proxy --chat claude", besideProxy, actedBeside, claude, killsHook, killsGateway),
		acts("gateway run --chat -- claude", headlessRun, (*world.World).ActedHeadless, claude, killsHook, killsGateway),
		acts("gateway chat --with claude", chatHost, actedChat("claude"), claude, killsGateway),
		acts("gateway chat --with codex", chatHost, actedChat("codex"), killVictim{name: "adapter", line: of("adapter")}, killVictim{name: "agent", line: of("behind"), stays: true}),
		acts("gateway chat --with gemini", chatHost, actedChat("gemini"), killVictim{name: "agent", line: of("gemini")}),
		acts("gateway chat --with copilot", chatHost, actedChat("copilot"), killVictim{name: "agent", line: of("copilot")}),
	}
	killTable(t, kinds)
}

// actedBeside prepares an agent in its own interface.
func actedBeside(w *world.World) *world.Hosted {
	h := w.NewActed()
	h.Start = func() {
		h.S.RunAnew(h.Env + "proxy --chat claude")
		h.S.Wait("❯")
		w.WaitForChat(w.Session(), protocol.ChatAtPrompt)
	}
	h.Brief = func() { h.Enter("work"); w.WaitForChat(w.Session(), protocol.ChatWorking) }
	h.Leave = func() { h.Enter("leave"); w.WaitForChat(w.Session(), protocol.ChatApproval) }
	h.Ask = func() { h.Enter("ask"); w.WaitForChat(w.Session(), protocol.ChatAsks) }
	return h
}

// actedChat prepares an agent in a line-by-line chat.
func actedChat(name string) func(w *world.World) *world.Hosted {
	return func(w *world.World) *world.Hosted {
		h := w.NewActed()
		h.Start = func() {
			h.S.RunAnew(h.Env + "gateway chat --with " + name)
			h.S.Wait("→ You:")
		}
		h.Leave = func() { h.Enter("leave"); waitApproval(h.S, "made-never") }
		h.Ask = func() { h.Enter("ask"); h.S.Wait("Which colour?"); h.S.Wait("→ Your answer") }
		return h
	}
}
