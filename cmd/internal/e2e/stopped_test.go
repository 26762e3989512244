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
)

// halt stops a process and waits until the kernel says so. It goes on at the end of the test at the latest.
func (w *world) halt(pid string) {
	w.t.Helper()
	w.stopped(pid)
	w.halted(pid)
}

func (w *world) halted(pid string) {
	w.t.Helper()
	w.until(func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
		return err == nil && strings.Contains(string(stat), ") T ")
	}, func() string { return "process " + pid + " is not stopped" })
}

// fg continues the session that was stopped in a terminal, as its user does: a shell has the terminal meanwhile.
func (s *terminal) fg() {
	s.w.t.Helper()
	s.wait("Stopped")
	s.typed("fg\n")
}

// server is the process that the name of the local gateway's socket points to, "" for none.
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

// TestR74AStoppedServerFreezesNobody: the proxy that serves is stopped; the others' session goes on within seconds, for a
// command, for an agent, and for a wait that was under way. When it goes on it is a client of the one who took over.
func TestR74AStoppedServerFreezesNobody(t *testing.T) {
	w := newWorld(t)
	first, second, proxy, ids := serving(t, w)
	require.Equal(t, proxy, w.server())
	a := w.agent("claude", eras[0])
	a.good("terminal_list", nil, "second")
	waiting := w.start("gateway", "wait", ids["second"], "--text", "all 42", "--timeout", "60s")
	asking := a.start("terminal_wait", args{"terminal": ids["second"], "for": "text", "value": "all 42", "timeout_ms": 50_000})
	second.typed("echo still $((40+1))\n")
	second.wait("still 41")

	w.halt(proxy)
	got := w.gateway("ls")
	require.Zero(t, got.status, got.err)
	w.listed(ids["second"])
	require.Contains(t, w.good("read", ids["second"]), "still 41")
	a.good("terminal_read", args{"terminal": ids["second"]}, "still 41")
	second.typed("echo all $((40+2))\n")
	require.Contains(t, w.answered(asking).text, "all 42")
	met := waiting.wait()
	require.Zero(t, met.status, met.err)
	successor := w.server()
	require.NotEqual(t, proxy, successor)

	first.fg()
	w.listed(ids["first"])
	w.listed(ids["second"])
	require.Len(t, w.ids(2), 2, "the ids are the same")
	require.Equal(t, successor, w.server(), "one server, the one that took over")
	require.Contains(t, w.good("read", ids["first"]), "proxy=")
	require.Contains(t, a.good("terminal_read", args{"terminal": ids["first"]}), "proxy=")
}

// TestR74WhoDoesNotAnswerIsNamed.
func TestR74WhoDoesNotAnswerIsNamed(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	proxy := s.listen("--agent")
	id := w.session()
	w.halt(proxy)
	got := w.gateway("doctor")
	require.Equal(t, 1, got.status)
	require.Contains(t, got.out, "(process "+proxy+"), which serves the local gateway, does not answer: it is stopped")
	got = w.gateway("ls")
	require.Equal(t, 5, got.status)
	require.Contains(t, got.err, "`proxy --agent listener heard` (process "+proxy+")")
	require.Contains(t, got.err, "kill -CONT "+proxy)
	require.Contains(t, got.err, "nobody else serves")
	s.fg()
	w.listed(id)
	require.Equal(t, proxy, w.server(), "it takes its place again")
}

// shell is the process of a terminal's shell.
func (s *terminal) shell() string { return strings.TrimSpace(s.format("#{pane_pid}")) }

// typist is an agent that types one word after the other into a session, and remembers what it was told of each.
type typist struct {
	w      *world
	stage  *stage
	id, as string
	said   map[string]result
}

func (p *typist) types(word string) {
	got := p.w.start("gateway", "send", p.id, "--as", p.as, "--text", word).wait()
	p.said[word] = got
	if got.status == 4 { // no control any more, since the way to it was lost
		asking := p.w.start("gateway", "request", p.id, "--as", p.as, "--reason", "to type", "--timeout", "15s")
		for press := time.NewTicker(300 * time.Millisecond); ; { // a user who always says yes
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

// TestR74ServersAreStoppedWhileAgentsType: whoever serves is stopped at any moment, for any time. Of every word the agent was
// told that it was written, and then it was, once; or why that is not known or did not happen, and then it was at most once.
func TestR74ServersAreStoppedWhileAgentsType(t *testing.T) {
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
		st.text("listening")
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
					p.types(fmt.Sprintf("<%d.%d>", i, n))
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
		p.stage.types("\x04")
		<-p.stage.ended
	}
}
