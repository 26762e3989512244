package e2e_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// ways take the keyboard back without its key, and return when they have done what they can.
var ways = map[string]func(w *world, s *terminal, proxy, id string){
	"SIGUSR1":         func(w *world, _ *terminal, proxy, _ string) { w.kill(proxy, syscall.SIGUSR1) },
	"SIGQUIT":         func(w *world, _ *terminal, proxy, _ string) { w.kill(proxy, syscall.SIGQUIT) },
	"gateway reclaim": func(w *world, _ *terminal, _, id string) { w.mustGateway("reclaim", id) },
}

// flood lets an agent type until it is refused, and returns the channel of that answer.
func (w *world) flood(a *agent) <-chan answer {
	told := make(chan answer, 1)
	go func() { // ends when it is refused
		for {
			got := <-a.startCall("terminal_send", args{"text": strings.Repeat("A", 4000), "settle_ms": 0})
			if got.fails || got.err != nil {
				told <- got
				return
			}
		}
	}()
	return told
}

// R9: the ways that need no key end control as the key does: after what the user types then, no
// byte of the agent follows.
func TestNoAgentByteAfterAnyWayR9(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := w.terminal(100, 24)
			proxy := s.runListener("--agent --grant drive --yield 0s")
			id := w.session()
			a := w.agent("flooder", eras[1])
			a.mustCall("terminal_request_control", args{"reason": "flood"}, "granted")
			told := w.flood(a)
			w.until(func() bool { return len(w.content("heard")) >= 20_000 }, func() string { return "no flood" })
			way(w, s, proxy, id)
			got := w.waitAnswer(told)
			require.True(t, got.fails)
			require.Contains(t, got.text, "took the keyboard back")
			s.waitTitle("[observed]")
			s.typed("uuu")
			heard := w.waitHeard("heard", "u{3}")
			require.Equal(t, strings.TrimRight(heard, "u"), strings.Repeat("A", len(heard)-3))
			a.mustFail("terminal_send", args{"text": "AAA"}, "terminal_request_control")
			require.Equal(t, heard, w.content("heard"))
		})
	}
}

// R9: when the terminal closes, the agent is told, and the program receives nothing further.
func TestClosingTheTerminalReclaimsR9(t *testing.T) {
	w := newWorld(t)
	a := w.servingAgent("flooder", eras[1])
	s := w.terminal(100, 24)
	proxy := s.runListener("--agent --grant drive --yield 0s")
	w.session()
	a.mustCall("terminal_request_control", args{"reason": "flood"}, "granted")
	told := w.flood(a)
	w.until(func() bool { return len(w.content("heard")) >= 20_000 }, func() string { return "no flood" })
	s.close()
	got := w.waitAnswer(told)
	require.True(t, got.fails, got.text)
	w.waitGone(proxy)
	heard := w.content("heard")
	a.mustFail("terminal_send", args{"text": "AAA"})
	require.Equal(t, heard, w.content("heard"))
}

// R9: a reclaim before an answer refuses the question, and voids any promise.
func TestReclaimRefusesAnOpenQuestionR9(t *testing.T) {
	w, s, id := startListener(t, 120, 24, "--agent")
	asking := w.start("gateway", "request", id, "--reason", "please", "--as", "codex")
	s.waitQuestion()
	w.mustGateway("reclaim", id)
	require.Contains(t, asking.wait().err, "the user declined")
	s.waitShown("gateway reclaim refused codex")
	w.mustGateway("reclaim", id) // reclaiming nothing is not an error
	w.waitKeyboard(id, "user")
}

// R9: a reclaim also voids the promise of --grant.
func TestReclaimVoidsAPromiseR9(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(120, 24)
	proxy := s.runListener("--agent --grant drive")
	id := w.session()
	w.kill(proxy, syscall.SIGUSR1)
	s.waitShown("no agent gets the keyboard without asking you")
	asking := w.start("gateway", "request", id, "--reason", "please", "--as", "codex")
	s.answer(`C-\`)
	require.Equal(t, 1, asking.wait().status)
}

// owner opens a separate window for an owner.
func (w *world) owner(cols, rows int) *terminal {
	w.t.Helper()
	o := w.terminal(cols, rows)
	o.runToEnd("gateway token create owner --role owner --save")
	o.wait("saved in ")
	return o
}

func TestAnOwnerGrantsFromAnotherWindow(t *testing.T) {
	w := newWorld(t)
	s, o := w.terminal(120, 24), w.owner(180, 24)
	s.runListener("--agent")
	id := w.session()
	asking := w.start("gateway", "request", id, "--reason", "fix the typo", "--as", "codex")
	s.waitQuestion()
	o.run("gateway grant " + id + " --for 10m")
	o.wait("give every key to codex (which says: “fix the typo”), for 10m at most? [y/N]")
	o.typed("y\n")
	require.Zero(t, o.status())
	got := asking.wait()
	require.Zero(t, got.status, got.err)
	require.Regexp(t, `granted \(drive, (9|10)m left\)`, got.out)
	s.wait("owner lets codex drive") // and the user at the terminal sees who
	w.mustGateway("send", id, "--as", "codex", "--text", "typed")
	w.waitHeard("heard", "^typed$")

	screen, status := o.runToEnd("gateway grant " + id)
	require.Equal(t, 1, status)
	require.Contains(t, screen, "codex (drive")
	require.Contains(t, screen, "hint: take it back first: gateway reclaim "+id)
	s.press(`C-\`)
	s.waitShown("the keyboard is yours: codex is stopped")

	// For the next request, if it comes from the right agent; and the key takes the grant back.
	o.run("gateway grant " + id + " --to codex --level type")
	o.wait("give text and editing keys to codex, when it asks within 2m, for 10m or the user's limit? [y/N]")
	o.typed("y\n")
	require.Zero(t, o.status())
	s.wait("codex, once it asks, will type for 10 min (allowed by owner)")
	w.requestGrant(id, "--as", "codex", "--level", "type")
	w.mustGateway("reclaim", id)
	require.Equal(t, "typed", w.content("heard"))
}

// The owner sees all sessions on one screen, and answers there with the same authority as
// elsewhere.
func TestAnOwnerAnswersInTop(t *testing.T) {
	w := newWorld(t)
	s, o := w.terminal(100, 24), w.terminal(80, 24)
	s.runListener("--agent")
	id := w.session()
	o.run("gateway top")
	o.wait("1 session, 0 questions")
	asking := w.start("gateway", "request", id, "--reason", "fix the typo", "--as", "codex")
	o.wait("codex says: “fix the typo”")
	o.press("Enter")
	o.wait("give every key to codex, for 10m or the user's limit? [y/N] _")
	o.typed("y\r")
	o.wait("there is no owner token") // granting more needs a signature, here too
	s.waitQuestion()
	w.mustGateway("token", "create", "owner", "--role", "owner", "--save")
	o.press("Enter")
	o.wait("[y/N] _")
	o.typed("y\r")
	o.wait("agents type in 1")
	require.Zero(t, asking.wait().status)
	s.wait("owner lets codex drive")
	o.press("x")
	o.wait("agents type in 0")
	s.waitShown("the keyboard is yours")
	s.press("C-d")
	require.Zero(t, s.status())
	o.wait("ended")
	o.wait("0 sessions") // the row under the cursor stays all the same
	s.run("proxy --agent cat")
	o.wait("cat-") // of the next gateway
	o.press("q")
	require.Zero(t, o.status())
	require.Equal(t, plainModes, o.format(modes))

	piped := w.gateway("top")
	require.Equal(t, 2, piped.status)
	require.Contains(t, piped.err, "gateway ls lists the sessions")
}

// An agent muted from elsewhere loses its request and may not ask again until the owner unmutes it.
func TestAnAgentIsMutedFromAnotherWindow(t *testing.T) {
	w := newWorld(t)
	s, o := w.terminal(120, 24), w.owner(120, 24)
	s.runListener("--agent")
	id := w.session()
	asking := w.start("gateway", "request", id, "--reason", "fix the typo", "--as", "codex")
	s.waitQuestion()
	w.mustGateway("mute", id)
	s.waitShown(`gateway mute muted codex: Ctrl+\, then x, unmutes it`)
	got := asking.wait()
	got.mustFail(t, 1, "the user declined (gateway mute)")
	got = w.gateway("request", id, "--reason", "again", "--as", "codex")
	require.Contains(t, got.err, "the user muted you until the end of the session")
	w.until(func() bool { return strings.Contains(w.mustGateway("ls", "--json"), `"muted": [`) }, func() string { return "the list says nothing of it" })

	o.run("gateway mute " + id + " --off")
	o.wait("let codex ask and write again? [y/N]")
	o.typed("y\n")
	require.Zero(t, o.status())
	s.waitShown("owner unmuted all agents")
	s.openMenu() // otherwise the next request would have to wait
	s.press("Escape")
	s.waitGone("Ctrl+G lets")
	asking = w.start("gateway", "request", id, "--reason", "now", "--as", "codex")
	s.waitQuestion()
	s.answer("C-g")
	require.Zero(t, asking.wait().status)
}

// The owner's answer is void if the user refused in the meantime.
func TestAnOwnersAnswerToAnOldQuestionIsVoid(t *testing.T) {
	w := newWorld(t)
	s, o := w.terminal(120, 24), w.owner(180, 24)
	s.runListener("--agent")
	id := w.session()
	asking := w.start("gateway", "request", id, "--reason", "first", "--as", "codex")
	s.waitQuestion()
	o.run("gateway grant " + id)
	o.wait("[y/N]")
	s.answer(`C-\`)
	require.Equal(t, 1, asking.wait().status)
	s.openMenu() // otherwise the next request would have to wait
	s.press("Escape")
	s.waitGone("Ctrl+G lets")
	asking = w.start("gateway", "request", id, "--reason", "something else", "--as", "codex")
	s.waitQuestion()
	o.typed("y\n")
	require.Equal(t, 1, o.status())
	o.wait("control changed hands since the owner looked")
	w.waitKeyboard(id, "user (codex asks)")
	s.answer(`C-\`)
	require.Equal(t, 1, asking.wait().status)
}

// Promise 3: an agent that drives a shell can type the owner's commands there. It gets neither a
// higher level nor more time that way.
func TestAnAgentInAShellCannotGrantItselfR54(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(120, 24)
	w.owner(180, 24)
	id := s.runBash("--grant drive")
	w.requestGrant(id, "--for", "1h")
	for _, line := range []string{"gateway grant " + id, "gateway hide --off " + id, "gateway token create mine --role owner"} {
		w.mustGateway("send", id, "--text", "clear; "+line+"; echo status=$?", "--enter", "--until", "text=status=4")
		s.wait("this shell runs inside the session " + id)
	}
	got := w.gateway("grant", id) // nor as a program
	got.mustFail(t, 4, "standard input is not a terminal")
	w.mustGateway("release", id)
	s.quitProgram("exit\n")
}

// The owners of a remote gateway count only if the user said so.
func TestAllowRemoteGrant(t *testing.T) {
	t.Parallel()
	for name, allowed := range map[string]bool{"refused": false, "allowed": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s, o, g := w.terminal(120, 24), w.terminal(180, 24), w.terminal(120, 24)
			// A gateway with tokens of its own, as on another machine.
			for _, role := range []string{"proxy", "agent", "owner"} {
				w.write(role+".token", w.mustGateway("token", "create", "the-"+role, "--role", role, "--tokens", w.path("there/tokens")))
			}
			g.run("TERMINALPROXY_DIR=" + w.path("there/run") + " gateway serve --listen 127.0.0.1:0 --tokens there/tokens")
			at := "--gateway " + g.match(`listening on (ws://\S+)`)
			flag := ""
			if allowed {
				flag = " --allow-remote-grant"
			}
			s.runListener("--agent " + at + " --token-file proxy.token" + flag)
			agent := append(strings.Fields(at), "--token-file", "agent.token")
			id := w.session(agent...)
			asking := w.start("gateway", append(agent, "request", id, "--reason", "fix it")...)
			s.waitQuestion()
			o.run("gateway grant " + id + " " + at + " --token-file owner.token")
			o.wait("[y/N]")
			o.typed("y\n")
			if allowed {
				require.Zero(t, o.status())
				require.Zero(t, asking.wait().status)
				s.waitShown("the-owner lets the-agent drive")
				w.mustGateway(append(agent, "send", id, "--text", "typed")...)
				_, status := o.runToEnd("gateway reclaim " + id + " " + at + " --token-file owner.token")
				require.Zero(t, status)
				s.waitShown("the keyboard is yours: the-owner stopped the-agent")
			} else {
				require.Equal(t, 4, o.status())
				o.wait("it is not signed by an owner whose token is known here")
				s.answer(`C-\`)
				require.Equal(t, 1, asking.wait().status)
			}
			s.quitProgram("\x04")
			g.press("C-c")
			require.Zero(t, g.status())
		})
	}
}
