package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// halt stops a process and waits until the kernel says so. At the latest, the process continues at
// the end of the test.
func (w *world) halt(pid string) {
	w.t.Helper()
	w.stopUntilEnd(pid)
	w.waitHalted(pid)
}

func (w *world) waitHalted(pid string) {
	w.t.Helper()
	w.until(func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
		return err == nil && strings.Contains(string(stat), ") T ")
	}, func() string { return "process " + pid + " is not stopped" })
}

// fg continues the session that was stopped in a terminal, as its user does; the shell has the
// terminal meanwhile.
func (s *terminal) fg() {
	s.w.t.Helper()
	s.wait("Stopped")
	s.typed("fg\n")
}

// server returns the process that the name of the local gateway's socket points to, or "".
func (w *world) server() string {
	got := w.gateway("doctor")
	for line := range strings.Lines(got.out) {
		if _, rest, ok := strings.Cut(line, "(process "); ok && strings.Contains(line, "serves the local socket") {
			pid, _, _ := strings.Cut(rest, ")")
			return pid
		}
	}
	return ""
}

// The serving proxy is stopped. The other proxies' session continues within seconds, for a command,
// for an agent, and for a wait under way. The stopped proxy then continues as a client of its
// successor.
func TestAStoppedServerFreezesNoClientR74(t *testing.T) {
	w := newWorld(t)
	first, second, proxy, ids := startTwoSessions(t, w)
	require.Equal(t, proxy, w.server())
	a := w.agent("claude", eras[0])
	a.mustCall("terminal_list", nil, "second")
	waiting := w.start("gateway", "wait", ids["second"], "--text", "all 42", "--timeout", "60s")
	asking := a.startCall("terminal_wait", args{"terminal": ids["second"], "for": "text", "value": "all 42", "timeout_ms": 50_000})
	second.typed("echo still $((40+1))\n")
	second.wait("still 41")

	w.halt(proxy)
	got := w.gateway("ls")
	require.Zero(t, got.status, got.err)
	w.waitListed(ids["second"])
	require.Contains(t, w.mustGateway("read", ids["second"]), "still 41")
	a.mustCall("terminal_read", args{"terminal": ids["second"]}, "still 41")
	second.typed("echo all $((40+2))\n")
	require.Contains(t, w.waitAnswer(asking).text, "all 42")
	met := waiting.wait()
	require.Zero(t, met.status, met.err)
	successor := w.server()
	require.NotEqual(t, proxy, successor)

	first.fg()
	w.waitListed(ids["first"])
	w.waitListed(ids["second"])
	require.Len(t, w.ids(2), 2, "the ids are the same")
	require.Equal(t, successor, w.server(), "one server, the one that took over")
	require.Contains(t, w.mustGateway("read", ids["first"]), "proxy=")
	require.Contains(t, a.mustCall("terminal_read", args{"terminal": ids["first"]}), "proxy=")
}

func TestAProcessThatDoesNotAnswerIsNamedR74(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	proxy := s.runListener("--agent")
	id := w.session()
	w.halt(proxy)
	got := w.gateway("doctor")
	require.Equal(t, 1, got.status)
	require.Contains(t, got.out, "(process "+proxy+"), which serves the local gateway, does not answer: it is stopped")
	got = w.gateway("ls")
	got.mustFail(t, 5, "`proxy --agent listener heard` (process "+proxy+")")
	require.Contains(t, got.err, "kill -CONT "+proxy)
	require.Contains(t, got.err, "and no other process serves it")
	s.fg()
	w.waitListed(id)
	require.Equal(t, proxy, w.server(), "it takes its place again")
}

// The same when an agent's own process serves.
func TestAStoppedAgentsServerFreezesNoClientR74(t *testing.T) {
	w := newWorld(t)
	first := w.servingAgent("claude", eras[0])
	s := w.terminal(100, 24)
	s.runListener("--agent --grant type")
	id := w.session()
	pid := strconv.Itoa(first.cmd.Process.Pid)
	require.Equal(t, pid, w.server())
	second := w.agent("codex", eras[0])
	second.mustCall("terminal_read", args{"terminal": id}, "listening")
	w.halt(pid)
	second.mustCall("terminal_read", args{"terminal": id}, "listening")
	require.Contains(t, w.mustGateway("read", id), "listening")
	require.NotEqual(t, pid, w.server())
	w.kill(pid, syscall.SIGCONT)
	first.mustCall("terminal_read", args{"terminal": id}, "listening")
	require.NotEqual(t, pid, w.server())
	s.typed("\x04")
}

func TestTwoStoppedServersInARowR74(t *testing.T) {
	w := newWorld(t)
	first, second, proxy, ids := startTwoSessions(t, w)
	third := w.terminal(100, 24)
	third.run("proxy --agent --name third sh -c 'echo ready; exec cat'")
	third.wait("ready")
	w.ids(3)
	w.halt(proxy)
	w.waitListed(ids["second"])
	next := w.server()
	require.NotEqual(t, proxy, next)
	w.halt(next)
	w.until(func() bool { return len(w.running()) == 1 }, func() string { return strings.Join(w.running(), " ") })
	last := w.server()
	require.NotContains(t, []string{proxy, next}, last)
	first.fg()
	if next == childOf(t, second.shell()) {
		second.fg()
	} else {
		third.fg()
	}
	w.ids(3)
	w.waitListed(ids["first"])
	w.waitListed(ids["second"])
	require.Equal(t, last, w.server())
}

func (s *terminal) shell() string { return strings.TrimSpace(s.format("#{pane_pid}")) }

// typist types one word after another into a session, and remembers the answer for each.
type typist struct {
	w      *world
	stage  *stage
	id, as string
	said   map[string]result
}

// names waits until a session runs, and returns the names of all running sessions.
func (w *world) names() []string {
	w.t.Helper()
	var names []string
	w.until(func() bool {
		names = nil
		for _, s := range w.sessions() {
			if s.State == protocol.StateRunning {
				names = append(names, s.Name)
			}
		}
		return len(names) > 0
	}, func() string { return "no session" })
	return names
}

// running returns the ids of the sessions that are listed as running.
func (w *world) running() []string {
	var ids []string
	for _, s := range w.sessions() {
		if s.State == protocol.StateRunning {
			ids = append(ids, s.SessionID)
		}
	}
	return ids
}

// A session that moves has lost its connection to the agent.
func TestAGrantDoesNotMoveWithItsSessionR74(t *testing.T) {
	w := newWorld(t)
	first, second, proxy, ids := startTwoSessions(t, w)
	second.grantControl(ids["second"], "--reason", "drive", "--as", "codex")
	second.waitTitle("[codex drives]")
	w.halt(proxy)
	got := w.gateway("send", ids["second"], "--as", "codex", "--text", "echo typed")
	require.Equal(t, 4, got.status, got.out+got.err)
	second.waitTitle("[observed]")
	first.fg()
	w.waitListed(ids["first"])
	require.NotContains(t, second.screen(), "echo typed")
}

// Ctrl+Z, or `kill -TSTP`, of the serving session: others serve at once, and no client waits; fg
// brings it back under its id.
func TestHandedOverBeforeTheStopR74(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	s.typed("clear; proxy --agent --name first listener heard\n")
	proxy := s.match(`listening proxy=(\d+) `)
	first := w.session()
	other := w.terminal(100, 24)
	other.run("proxy --agent --name second sh -c 'echo ready; exec cat'")
	other.wait("ready")
	w.ids(2)
	w.kill(proxy, syscall.SIGTSTP)
	s.wait("Stopped")
	require.Equal(t, []string{"second"}, w.names(), "it does not wait for the stopped one")
	require.NotContains(t, w.gateway("ls").err, "does not answer")
	next := w.server()
	require.NotEqual(t, proxy, next)
	s.typed("fg\n")
	w.waitListed(first)
	require.Equal(t, next, w.server())
	s.typed("mine\x04")
	w.until(func() bool { return w.content("heard") == "mine\x04" }, func() string { return w.content("heard") })
}

// If a proxy that serves no clients is stopped, a request to it ends with a sentence.
func TestAStoppedSessionIsNamedR74(t *testing.T) {
	w := newWorld(t)
	_, second, _, ids := startTwoSessions(t, w)
	proxy := childOf(t, second.shell())
	w.halt(proxy)
	for _, command := range [][]string{
		{"read", ids["second"]}, {"wait", ids["second"], "--text", "never", "--timeout", "60s"}, {"request", ids["second"], "--reason", "x"},
	} {
		got := w.gateway(command...)
		require.NotZero(t, got.status)
		require.Contains(t, got.err, "(process "+proxy+") is stopped", command)
		require.Contains(t, got.err, "kill -CONT "+proxy, command)
	}
	require.Contains(t, w.mustGateway("read", ids["first"]), "proxy=")
	second.fg()
	w.until(func() bool { return strings.Contains(w.gateway("read", ids["second"]).out, "2 shells") }, second.screen)
}

func (p *typist) typeWord(word string) {
	got := p.w.start("gateway", "send", p.id, "--as", p.as, "--text", word).wait()
	p.said[word] = got
	if got.status == 4 { // no control any longer, since the connection was lost
		asking := p.w.start("gateway", "request", p.id, "--as", p.as, "--reason", "to type", "--timeout", "15s")
		for press := time.NewTicker(300 * time.Millisecond); ; { // a user who always agrees
			select {
			case <-asking.ended:
				press.Stop()
				return
			case <-press.C:
				_, _ = p.stage.ptmx.Write([]byte{7})
			}
		}
	}
}

// The serving process is stopped at any moment, for any time. If the agent was told that a word was
// written, it was written once. If it was told why that is unknown or did not happen, the word was
// written at most once.
func TestServersAreStoppedWhileAgentsTypeR74(t *testing.T) {
	w := newWorld(t)
	rounds := 6
	if n, err := strconv.Atoi(os.Getenv("R74_ROUNDS")); err == nil {
		rounds = n
	}
	var proxies []string
	typists := make([]*typist, 3)
	for i := range typists {
		name := "heard" + strconv.Itoa(i)
		st := w.stage("exec proxy --agent --yield 0s --name s" + strconv.Itoa(i) + " listener " + name)
		st.waitText("listening")
		proxies = append(proxies, strconv.Itoa(st.cmd.Process.Pid))
		typists[i] = &typist{w: w, stage: st, as: []string{"claude", "codex", "gemini"}[i], said: make(map[string]result)}
	}
	before := w.ids(len(typists))
	for _, s := range w.sessions() {
		i, err := strconv.Atoi(s.Name[1:])
		require.NoError(t, err)
		typists[i].id = s.SessionID
	}
	over := make(chan struct{})
	var typing sync.WaitGroup
	for i, p := range typists {
		typing.Go(func() { // ends with over
			for n := 0; ; n++ {
				select {
				case <-over:
					return
				default:
					p.typeWord(fmt.Sprintf("<%d.%d>", i, n))
				}
			}
		})
	}
	for range rounds {
		victim := proxies[rand.IntN(len(proxies))]
		if pid := w.server(); slices.Contains(proxies, pid) {
			victim = pid
		}
		time.Sleep(rand.N(time.Second)) // any moment
		w.kill(victim, syscall.SIGSTOP)
		time.Sleep(rand.N(4 * time.Second)) // any time
		w.kill(victim, syscall.SIGCONT)
	}
	close(over)
	typing.Wait()
	require.ElementsMatch(t, before, w.ids(len(typists)), "the ids are the same")
	words, written := 0, 0
	for i, p := range typists {
		heard := w.content("heard" + strconv.Itoa(i))
		words += len(p.said)
		for word, got := range p.said {
			if count := strings.Count(heard, word); got.status == 0 {
				written++
				require.Equal(t, 1, count, "%s in %q: %s%s", word, heard, got.out, got.err)
			} else {
				require.LessOrEqual(t, count, 1, "%s in %q: %s%s", word, heard, got.out, got.err)
				require.NotEmpty(t, got.err)
			}
		}
	}
	require.Positive(t, written, "%+v", typists[0].said)
	t.Logf("%d rounds, %d words, %d written", rounds, words, written)
	for _, p := range typists {
		p.stage.typeKeys("\x04")
		<-p.stage.ended
	}
}
