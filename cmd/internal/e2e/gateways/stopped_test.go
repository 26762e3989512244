package gateways_test

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

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// halt stops a process and waits until the kernel says so. At the latest, the process continues at
// the end of the test.
func halt(w *world.World, pid string) {
	w.T.Helper()
	stopUntilEnd(w, pid)
	waitHalted(w, pid)
}

func waitHalted(w *world.World, pid string) {
	w.T.Helper()
	w.Until(func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
		return err == nil && strings.Contains(string(stat), ") T ")
	}, func() string { return "process " + pid + " is not stopped" })
}

// fg continues the session that was stopped in a terminal, as its user does; the shell has the
// terminal meanwhile.
func fg(s *world.Terminal) {
	s.W.T.Helper()
	s.Wait("Stopped")
	s.Typed("fg\n")
}

// server returns the process that the name of the local gateway's socket points to, or "".
func server(w *world.World) string {
	got := w.Gateway("doctor", "--verbose")
	for line := range strings.Lines(got.Out) {
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
	w := world.New(t)
	first, second, proxy, ids := startTwoSessions(t, w)
	require.Equal(t, proxy, server(w))
	a := w.Agent(world.Extends, world.Eras[0])
	a.MustCall("terminal_list", nil, "second")
	waiting := w.Start("gateway", "wait", ids["second"], "--text", "all 42", "--timeout", "5m")
	asking := a.StartCall("terminal_wait", world.Args{"terminal": ids["second"], "for": "text", "value": "all 42", "timeout_ms": 240_000})
	second.Typed("echo still $((40+1))\n")
	second.Wait("still 41")

	halt(w, proxy)
	got := w.Gateway("ls")
	require.Zero(t, got.Status, got.Err)
	w.WaitListed(ids["second"])
	world.WaitRead(w, ids["second"], "still 41")
	a.MustCall("terminal_read", world.Args{"terminal": ids["second"], "view": "screen"}, "still 41")
	second.Typed("echo all $((40+2))\n")
	require.Contains(t, w.WaitAnswer(asking).Text, "all 42")
	met := waiting.Wait()
	require.Zero(t, met.Status, met.Err)
	successor := server(w)
	require.NotEqual(t, proxy, successor)

	fg(first)
	w.WaitListed(ids["first"])
	w.WaitListed(ids["second"])
	require.Len(t, w.IDs(2), 2, "the ids are the same")
	require.Equal(t, successor, server(w), "one server, the one that took over")
	world.WaitRead(w, ids["first"], "proxy=")
	require.Contains(t, a.MustCall("terminal_read", world.Args{"terminal": ids["first"], "view": "screen"}), "proxy=")
}

func TestAProcessThatDoesNotAnswerIsNamedR74(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	proxy := s.RunListener("--agent")
	id := w.Session()
	halt(w, proxy)
	got := w.Gateway("doctor")
	require.Equal(t, 1, got.Status)
	require.Contains(t, got.Out, "(process "+proxy+"), which serves the local gateway, does not answer: it is stopped")
	got = w.Gateway("ls")
	got.MustFail(t, 5, "`proxy --agent listener heard` (process "+proxy+")")
	require.Contains(t, got.Err, "kill -CONT "+proxy)
	require.Contains(t, got.Err, "and no other process serves it")
	fg(s)
	w.WaitListed(id)
	require.Equal(t, proxy, server(w), "it takes its place again")
}

// An agent's own process serves, and then one of two proxies. Each is stopped in turn.
func TestTwoStoppedServersInARowR74(t *testing.T) {
	w := world.New(t)
	first := w.ServingAgent("claude", world.Eras[0])
	pid := strconv.Itoa(first.Cmd.Process.Pid)
	terminals := map[string]*world.Terminal{} // by the proxy
	for range 2 {
		s := w.Terminal(100, 24)
		s.Run(`proxy --agent sh -c 'echo proxy=$PPID; exec cat'`)
		terminals[world.AboveLeader(s.Match(`proxy=(\d+)`))] = s
	}
	ids := w.IDs(2)
	require.Equal(t, pid, server(w))
	halt(w, pid)
	world.WaitRead(w, ids[0], "proxy=")
	require.ElementsMatch(t, ids, w.IDs(2), "the ids are the same")
	next := server(w)
	require.Contains(t, terminals, next)
	halt(w, next)
	left := w.IDs(1)
	last := server(w)
	require.NotContains(t, []string{pid, next}, last)
	w.Kill(pid, syscall.SIGCONT)
	first.MustCall("terminal_read", world.Args{"terminal": left[0], "view": "screen"}, "proxy=")
	fg(terminals[next])
	require.ElementsMatch(t, ids, w.IDs(2))
	require.Equal(t, last, server(w))
}

// typist types one word after another into a session, and remembers the answer for each.
type typist struct {
	w      *world.World
	stage  *world.Stage
	id, as string
	said   map[string]world.Result
}

// A session that moves has lost its connection to the agent.
func TestAGrantDoesNotMoveWithItsSessionR74(t *testing.T) {
	w := world.New(t)
	first, second, proxy, ids := startTwoSessions(t, w)
	second.GrantControl(ids["second"], "--reason", "drive", "--as", "codex")
	second.WaitTitle("[codex drives]")
	halt(w, proxy)
	got := w.Gateway("send", ids["second"], "--as", "codex", "--text", "echo typed")
	require.Equal(t, 4, got.Status, got.Out+got.Err)
	second.WaitTitle("[observed]")
	fg(first)
	w.WaitListed(ids["first"])
	require.NotContains(t, second.Screen(), "echo typed")
}

// Ctrl+Z, or `kill -TSTP`, of the serving session: others serve at once, and no client waits; fg
// brings it back under its id.
func TestHandedOverBeforeTheStopR74(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	s.Typed("clear; proxy --agent --name first listener heard\n")
	proxy := s.Match(`listening proxy=(\d+) `)
	first := w.Session()
	other := w.Terminal(100, 24)
	other.Run("proxy --agent --name second sh -c 'echo ready; exec cat'")
	other.Wait("ready")
	w.IDs(2)
	w.Kill(proxy, syscall.SIGTSTP)
	s.Wait("Stopped")
	require.NotEqual(t, first, w.Session(), "it does not wait for the stopped one")
	require.NotContains(t, w.Gateway("ls").Err, "does not answer")
	next := server(w)
	require.NotEqual(t, proxy, next)
	s.Typed("fg\n")
	w.WaitListed(first)
	require.Equal(t, next, server(w))
	s.Typed("mine\x04")
	w.WaitContent("heard", "mine\x04")
}

// If a proxy that serves no clients is stopped, a request to it ends with a sentence.
func TestAStoppedSessionIsNamedR74(t *testing.T) {
	w := world.New(t)
	_, second, _, ids := startTwoSessions(t, w)
	proxy := world.ChildOf(t, second.Shell())
	halt(w, proxy)
	for _, command := range [][]string{
		{"read", ids["second"]}, {"wait", ids["second"], "--text", "never", "--timeout", "60s"}, {"request", ids["second"], "--reason", "x"},
	} {
		got := w.Gateway(command...)
		require.NotZero(t, got.Status)
		require.Contains(t, got.Err, "(process "+proxy+") is stopped", command)
		require.Contains(t, got.Err, "kill -CONT "+proxy, command)
	}
	world.WaitRead(w, ids["first"], "proxy=")
	fg(second)
	world.WaitRead(w, ids["second"], "2 shells")
}

func (p *typist) typeWord(word string) {
	got := p.w.Start("gateway", "send", p.id, "--as", p.as, "--text", word).Wait()
	p.said[word] = got
	if got.Status == 4 { // no control any longer, since the connection was lost
		asking := p.w.Start("gateway", "request", p.id, "--as", p.as, "--reason", "to type", "--timeout", "15s")
		for press := time.NewTicker(300 * time.Millisecond); ; { // a user who always agrees
			select {
			case <-asking.Ended:
				press.Stop()
				return
			case <-press.C:
				_, _ = p.stage.Ptmx.Write([]byte{7})
			}
		}
	}
}

// The serving process is stopped at any moment, for any time. If the agent was told that a word was
// written, it was written once. If it was told why that is unknown or did not happen, the word was
// written at most once.
func TestServersAreStoppedWhileAgentsTypeR74(t *testing.T) {
	w := world.New(t)
	rounds := 6
	if n, err := strconv.Atoi(os.Getenv("R74_ROUNDS")); err == nil {
		rounds = n
	}
	var proxies []string
	typists := make([]*typist, 3)
	for i := range typists {
		name := "heard" + strconv.Itoa(i)
		st := w.Stage("exec proxy --agent --yield 0s --name s" + strconv.Itoa(i) + " listener " + name)
		st.WaitText("listening")
		proxies = append(proxies, strconv.Itoa(st.Cmd.Process.Pid))
		typists[i] = &typist{w: w, stage: st, as: []string{"claude", "codex", "gemini"}[i], said: make(map[string]world.Result)}
	}
	before := w.IDs(len(typists))
	for _, s := range w.Sessions() {
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
		if pid := server(w); slices.Contains(proxies, pid) {
			victim = pid
		}
		time.Sleep(rand.N(time.Second)) // any moment
		w.Kill(victim, syscall.SIGSTOP)
		time.Sleep(rand.N(4 * time.Second)) // any time
		w.Kill(victim, syscall.SIGCONT)
	}
	close(over)
	typing.Wait()
	require.ElementsMatch(t, before, w.IDs(len(typists)), "the ids are the same")
	words, written := 0, 0
	for i, p := range typists {
		heard := w.Content("heard" + strconv.Itoa(i))
		words += len(p.said)
		for word, got := range p.said {
			if count := strings.Count(heard, word); got.Status == 0 {
				written++
				require.Equal(t, 1, count, "%s in %q: %s%s", word, heard, got.Out, got.Err)
			} else {
				require.LessOrEqual(t, count, 1, "%s in %q: %s%s", word, heard, got.Out, got.Err)
				require.NotEmpty(t, got.Err)
			}
		}
	}
	require.Positive(t, written, "%+v", typists[0].said)
	t.Logf("%d rounds, %d words, %d written", rounds, words, written)
	for _, p := range typists {
		p.stage.TypeKeys("\x04")
		p.stage.WaitEnd()
	}
}
