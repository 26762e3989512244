package e2e_test

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/fakemodel"
)

// killMoments are those in a conversation at which something may be killed.
var killMoments = []struct {
	name  string
	bring func(b *besideClaude) // to it
}{
	{"at the prompt", func(*besideClaude) {}},
	{"at work", func(b *besideClaude) {
		b.prompted()
	}},
	{"in an approval", func(b *besideClaude) {
		b.prompted()
		b.wants("made-never")
	}},
	{"in a question", func(b *besideClaude) {
		b.prompted()
		b.answers(fakemodel.Turn{Tool: "AskUserQuestion", Args: args{"questions": []args{{
			"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": []args{{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}},
		}}}})
		b.s.wait("Enter to select")
		b.until("Which colour?")
	}},
}

// prompted has the user send a prompt, which the model reads.
func (b *besideClaude) prompted() {
	b.w.t.Helper()
	b.s.typed("make a file")
	b.s.wait("make a file")
	b.s.press("Enter")
	require.Contains(b.w.t, b.next().Text, "make a file")
}

// killVictims are what is killed, by a pattern of its process id and command line.
var killVictims = []struct {
	name, line string
	asks       bool // it is there in an approval and in a question alone
	ends       bool // the session ends by itself; otherwise a SIGTERM to the proxy ends it
}{
	{name: "claude", line: `^\S+ \S*claude `, ends: true},
	{name: "hook", line: `^\S+ \S*gateway hook PermissionRequest`, asks: true},
	{name: "gateway", line: `^\S+ \S*gateway serve`},
	{name: "proxy", line: besideProxy, ends: true},
}

const besideProxy = `^\S+ \S*proxy --chat`

// TestTheEndOfAConversationDependsOnNoPeer: whatever is killed at whatever moment, the session ends, the user's terminal is as it was, nothing
// is left behind, and nothing was allowed.
func TestTheEndOfAConversationDependsOnNoPeer(t *testing.T) {
	for _, victim := range killVictims {
		for i, moment := range killMoments {
			if victim.asks && i < 2 {
				continue
			}
			t.Run(victim.name+" "+moment.name, func(t *testing.T) {
				clients(t)
				w := newWorld(t)
				w.serve("gateway")
				b := besideClaudeIn(w)
				before := b.s.settings()
				b.starts(" --permission-mode default")
				moment.bring(b)
				require.Positive(t, w.killsLine(victim.line, syscall.SIGKILL))
				if !victim.ends {
					require.Positive(t, w.killsLine(besideProxy, syscall.SIGTERM))
				}
				w.until(func() bool { return w.killsLine(besideProxy+`|^\S+ \S*claude `, 0) == 0 }, func() string {
					return strings.Join(w.processes(), "\n") + b.s.screen()
				})
				w.until(func() bool { return b.s.format(modes) == plainModes }, b.s.screen)
				require.Equal(t, before, b.s.settings())
				require.NoFileExists(t, w.path("made-never"))
				_, status := b.s.does(b.env + "proxy --chat claude -p hello") // it removes what a killed one left
				require.Equal(t, 125, status)
			})
		}
	}
}

// TestAHeadlessAgentSaysWhyItDidNotStart: nobody sees its screen, whose last rows are printed.
func TestAHeadlessAgentSaysWhyItDidNotStart(t *testing.T) {
	w := newWorld(t)
	w.write("claude", "#!/bin/sh\nprintf 'one row\\n\\033[31merror: unknown option\\033[0m\\n'\nexit 3\n")
	require.NoError(t, os.Chmod(w.path("claude"), 0o700))
	got := w.gateway("run", "--chat", "--", w.path("claude"), "--no-such-flag")
	got.fails(t, 3, "gateway: run: claude ended with exit status 3: one row / error: unknown option\n")

	r := w.start("gateway", "run", "--chat", "--", w.path("sleeps/claude"))
	require.NotZero(t, r.wait().status)
	require.NoError(t, os.Mkdir(w.path("sleeps"), 0o700))
	w.write("sleeps/claude", "#!/bin/sh\nexec sleep 1000\n")
	require.NoError(t, os.Chmod(w.path("sleeps/claude"), 0o700))
	r = w.start("gateway", "run", "--chat", "--", w.path("sleeps/claude"))
	id := w.session()
	w.good("close", id)
	require.NotContains(t, r.wait().err, "gateway: run:", "who ends it knows why it ended")
}

// TestPromptsWithoutATerminal: to a session without a user's terminal a pipe and an owner over HTTP may send; to a user's own may not.
func TestPromptsWithoutATerminal(t *testing.T) {
	w := newWorld(t)
	serving := w.serve("gateway")
	w.write("claude", "#!/bin/sh\nexec sleep 1000\n")
	require.NoError(t, os.Chmod(w.path("claude"), 0o700))
	r := w.start("gateway", "run", "--chat", "--", w.path("claude"))
	id := w.session()
	require.Contains(t, w.good("chat", "send", id, "from a pipe"), "sent; it waits: the agent has yet to come to its prompt")
	owner := strings.TrimSpace(w.good("token", "create", "owner", "--role", "owner"))
	post := func(id, text string) (status int, body string) {
		ask, err := http.NewRequestWithContext(w.ctx, http.MethodPost, strings.Replace(serving.url, "ws", "http", 1)+"/v1/sessions/"+id+"/chat/send",
			strings.NewReader(`{"text":"`+text+`"}`))
		require.NoError(t, err)
		ask.Header.Set("Authorization", "Bearer "+owner)
		ask.Header.Set("Content-Type", "application/json")
		got, err := http.DefaultClient.Do(ask)
		require.NoError(t, err)
		defer got.Body.Close()
		b, err := io.ReadAll(got.Body)
		require.NoError(t, err)
		return got.StatusCode, string(b)
	}
	status, body := post(id, "over HTTP")
	require.Equal(t, http.StatusOK, status, body)
	log := w.good("chat", "log", id)
	require.Contains(t, log, "from a pipe")
	require.Contains(t, log, "over HTTP")
	w.good("close", id)
	r.wait()
	w.good("close", id)

	s := w.terminal(80, 24)
	s.run("proxy --chat " + w.path("claude"))
	id = w.session()
	w.gateway("chat", "send", id, "from a pipe").fails(t, 4, "not a terminal")
	status, body = post(id, "over HTTP")
	require.Equal(t, http.StatusForbidden, status, body)
	require.Contains(t, body, "an owner who signs it")
	require.Positive(t, w.killsLine(besideProxy, syscall.SIGTERM))
	s.status()
}

// killsLine sends a signal to the processes whose id and command line match, and returns how many there were.
func (w *world) killsLine(pattern string, sig syscall.Signal) (n int) {
	w.t.Helper()
	match := regexp.MustCompile(pattern)
	for _, p := range w.processes() {
		if match.MatchString(p) {
			pid, _, _ := strings.Cut(p, " ")
			w.killOne(pid, sig)
			n++
		}
	}
	return n
}

// settings are those of the window's line, as stty has them, while the shell waits for a command.
func (s *terminal) settings() string {
	s.w.t.Helper()
	screen, status := s.does("stty -a")
	require.Zero(s.w.t, status)
	return screen[:strings.LastIndex(screen, "@")]
}
