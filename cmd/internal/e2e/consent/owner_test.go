package consent_test

import (
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// ways take the keyboard back without its key, and return when they have done what they can.
var ways = map[string]func(w *world.World, s *world.Terminal, proxy, id string){
	"SIGUSR1":         func(w *world.World, _ *world.Terminal, proxy, _ string) { w.Kill(proxy, syscall.SIGUSR1) },
	"SIGQUIT":         func(w *world.World, _ *world.Terminal, proxy, _ string) { w.Kill(proxy, syscall.SIGQUIT) },
	"gateway reclaim": func(w *world.World, _ *world.Terminal, _, id string) { w.MustGateway("reclaim", id) },
}

// flood lets an agent type until it is refused, and returns the channel of that answer.
func flood(_ *world.World, a *world.Agent) <-chan world.Answer {
	told := make(chan world.Answer, 1)
	go func() { // ends when it is refused
		for {
			got := <-a.StartCall("terminal_send", world.Args{"text": strings.Repeat("A", 4000), "settle_ms": 0})
			if got.Fails || got.Err != nil {
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
			w := world.New(t)
			s := w.Terminal(100, 24)
			proxy := s.RunListener("--agent --grant drive --yield 0s")
			id := w.Session()
			a := w.Agent("flooder", world.Eras[1])
			a.MustCall("terminal_request_control", world.Args{"reason": "flood"}, "granted")
			told := flood(w, a)
			w.Until(func() bool { return len(w.Content("heard")) >= 20_000 }, func() string { return "no flood" })
			way(w, s, proxy, id)
			got := w.WaitAnswer(told)
			require.True(t, got.Fails)
			require.Contains(t, got.Text, "took the keyboard back")
			s.WaitTitle("[observed]")
			s.Typed("uuu")
			heard := w.WaitHeard("heard", "u{3}")
			require.Equal(t, strings.TrimRight(heard, "u"), strings.Repeat("A", len(heard)-3))
			a.MustFail("terminal_send", world.Args{"text": "AAA"}, "terminal_request_control")
			require.Equal(t, heard, w.Content("heard"))
		})
	}
}

// R9: when the terminal closes, the agent is told, and the program receives nothing further.
func TestClosingTheTerminalReclaimsR9(t *testing.T) {
	w := world.New(t)
	a := w.ServingAgent("flooder", world.Eras[1])
	s := w.Terminal(100, 24)
	proxy := s.RunListener("--agent --grant drive --yield 0s")
	w.Session()
	a.MustCall("terminal_request_control", world.Args{"reason": "flood"}, "granted")
	told := flood(w, a)
	w.Until(func() bool { return len(w.Content("heard")) >= 20_000 }, func() string { return "no flood" })
	s.Close()
	got := w.WaitAnswer(told)
	require.True(t, got.Fails, got.Text)
	w.WaitGone(proxy)
	heard := w.Content("heard")
	a.MustFail("terminal_send", world.Args{"text": "AAA"})
	require.Equal(t, heard, w.Content("heard"))
}

// R9: a reclaim voids the promise of --grant, and refuses the question before it is answered.
func TestReclaimVoidsAPromiseAndRefusesAQuestionR9(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(120, 24)
	proxy := s.RunListener("--agent --grant drive")
	id := w.Session()
	w.Kill(proxy, syscall.SIGUSR1)
	s.WaitShown("no agent gets the keyboard without asking you")
	asking := w.Start("gateway", "request", id, "--reason", "please", "--as", "codex")
	s.WaitQuestion()
	w.MustGateway("reclaim", id)
	require.Contains(t, asking.Wait().Err, "the user declined")
	s.WaitShown("gateway reclaim refused codex")
	w.MustGateway("reclaim", id) // reclaiming nothing is not an error
	w.WaitKeyboard(id, "user")
}

func TestAnOwnerGrantsFromAnotherWindow(t *testing.T) {
	w := world.New(t)
	s, o := w.Terminal(120, 24), w.Owner(180, 24)
	s.RunListener("--agent")
	id := w.Session()
	asking := w.Start("gateway", "request", id, "--reason", "fix the typo", "--as", "codex")
	s.WaitQuestion()
	o.Run("gateway grant " + id + " --for 10m")
	o.Wait("give every key to codex (which says: “fix the typo”), for 10m at most? [y/N]")
	o.Typed("y\n")
	require.Zero(t, o.Status())
	got := asking.Wait()
	require.Zero(t, got.Status, got.Err)
	require.Regexp(t, `granted \(drive, (9|10)m left\)`, got.Out)
	s.Wait("owner lets codex drive") // and the user at the terminal sees who
	w.MustGateway("send", id, "--as", "codex", "--text", "typed")
	w.WaitHeard("heard", "^typed$")

	screen, status := o.RunToEnd("gateway grant " + id)
	require.Equal(t, 1, status)
	require.Contains(t, screen, "codex (drive")
	require.Contains(t, screen, "hint: take it back first: gateway reclaim "+id)
	s.Press(`C-\`)
	s.WaitShown("the keyboard is yours: codex is stopped")

	// For the next request, if it comes from the right agent; and the key takes the grant back.
	o.Run("gateway grant " + id + " --to codex --level type")
	o.Wait("give text and editing keys to codex, when it asks within 2m, for 10m or the user's limit? [y/N]")
	o.Typed("y\n")
	require.Zero(t, o.Status())
	s.WaitShown("codex, once it asks, will type for 10 min (allowed by owner)")
	w.RequestGrant(id, "--as", "codex", "--level", "type")
	w.MustGateway("reclaim", id)
	w.WaitContent("heard", "typed")
}

// The owner sees all sessions on one screen, and answers there with the same authority as
// elsewhere.
func TestAnOwnerAnswersInTop(t *testing.T) {
	w := world.New(t)
	s, o := w.Terminal(100, 24), w.Terminal(80, 24)
	s.RunListener("--agent")
	id := w.Session()
	o.Run("gateway top")
	o.Wait("1 session, 0 questions")
	asking := w.Start("gateway", "request", id, "--reason", "fix the typo", "--as", "codex")
	o.Wait("codex says: “fix the typo”")
	o.Press("Enter")
	o.Wait("give every key to codex, for 10m or the user's limit? [y/N] _")
	o.Typed("y\r")
	o.Wait("there is no owner token") // granting more needs a signature, here too
	s.WaitQuestion()
	w.MustGateway("token", "create", "owner", "--role", "owner", "--save")
	o.Press("Enter")
	o.Wait("[y/N] _")
	o.Typed("y\r")
	o.Wait("agents type in 1")
	require.Zero(t, asking.Wait().Status)
	s.Wait("owner lets codex drive")
	o.Press("x")
	o.Wait("agents type in 0")
	s.WaitShown("the keyboard is yours")
	s.Press("C-d")
	require.Zero(t, s.Status())
	o.Wait("ended")
	o.Wait("0 sessions") // the row under the cursor stays all the same
	s.Run("proxy --agent cat")
	o.Wait("cat-") // of the next gateway
	o.Press("q")
	require.Zero(t, o.Status())
	require.Equal(t, world.PlainModes, o.Format(world.Modes))

	piped := w.Gateway("top")
	require.Equal(t, 2, piped.Status)
	require.Contains(t, piped.Err, "gateway ls lists the sessions")
}

// An agent muted from elsewhere loses its request and may not ask again until the owner unmutes it.
func TestAnAgentIsMutedFromAnotherWindow(t *testing.T) {
	w := world.New(t)
	s, o := w.Terminal(120, 24), w.Owner(120, 24)
	s.RunListener("--agent")
	id := w.Session()
	asking := w.Start("gateway", "request", id, "--reason", "fix the typo", "--as", "codex")
	s.WaitQuestion()
	w.MustGateway("mute", id)
	s.WaitShown(`gateway mute muted codex: Ctrl+\, then x, unmutes it`)
	got := asking.Wait()
	got.MustFail(t, 1, "the user declined (gateway mute)")
	got = w.Gateway("request", id, "--reason", "again", "--as", "codex")
	require.Contains(t, got.Err, "the user muted you until the end of the session")
	w.Until(func() bool { return strings.Contains(w.MustGateway("ls", "--json"), `"muted": [`) }, func() string { return "the list says nothing of it" })

	o.Run("gateway mute " + id + " --off")
	o.Wait("let codex ask and write again? [y/N]")
	o.Typed("y\n")
	require.Zero(t, o.Status())
	s.WaitShown("owner unmuted all agents")
	s.OpenMenu("Ctrl+G lets") // otherwise the next request would have to wait
	s.Press("Escape")
	s.WaitGone("Ctrl+G lets")
	asking = w.Start("gateway", "request", id, "--reason", "now", "--as", "codex")
	s.WaitQuestion()
	s.Answer("C-g")
	require.Zero(t, asking.Wait().Status)
}

// Promise 3: an agent that drives a shell can type the owner's commands there. It gets neither a
// higher level nor more time that way.
func TestAnAgentInAShellCannotGrantItselfR54(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(120, 24)
	w.Owner(180, 24)
	id := s.RunBash("--grant drive")
	w.RequestGrant(id, "--for", "1h")
	for _, line := range []string{"gateway grant " + id, "gateway hide --off " + id, "gateway token create mine --role owner"} {
		w.MustGateway("send", id, "--text", "clear; "+line+"; echo status=$?", "--enter", "--until", "text=status=4")
		s.Wait("this shell runs inside the session " + id)
	}
	got := w.Gateway("grant", id) // nor as a program
	got.MustFail(t, 4, "standard input is not a terminal")
	w.MustGateway("release", id)
	s.QuitProgram("exit\n")
}

// The owners of a remote gateway count only if the user said so.
func TestAllowRemoteGrant(t *testing.T) {
	t.Parallel()
	for name, allowed := range map[string]bool{"refused": false, "allowed": true} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			s, o, g := w.Terminal(120, 24), w.Terminal(180, 24), w.Terminal(120, 24)
			// A gateway with tokens of its own, as on another machine.
			for _, role := range []string{"proxy", "agent", "owner"} {
				w.Write(role+".token", w.MustGateway("token", "create", "the-"+role, "--role", role, "--tokens", w.Path("there/tokens")))
			}
			g.Run("TERMINALPROXY_DIR=" + w.Path("there/run") + " gateway serve --listen 127.0.0.1:0 --tokens there/tokens")
			at := "--gateway " + g.Match(`listening on (ws://\S+)`)
			flag := ""
			if allowed {
				flag = " --allow-remote-grant"
			}
			s.RunListener("--agent " + at + " --token-file proxy.token" + flag)
			agent := append(strings.Fields(at), "--token-file", "agent.token")
			id := w.Session(agent...)
			asking := w.Start("gateway", append(agent, "request", id, "--reason", "fix it")...)
			s.WaitQuestion()
			o.Run("gateway grant " + id + " " + at + " --token-file owner.token")
			o.Wait("[y/N]")
			o.Typed("y\n")
			if allowed {
				require.Zero(t, o.Status())
				require.Zero(t, asking.Wait().Status)
				s.WaitShown("the-owner lets the-agent drive")
				w.MustGateway(append(agent, "send", id, "--text", "typed")...)
				_, status := o.RunToEnd("gateway reclaim " + id + " " + at + " --token-file owner.token")
				require.Zero(t, status)
				s.WaitShown("the keyboard is yours: the-owner stopped the-agent")
			} else {
				require.Equal(t, 4, o.Status())
				o.Wait("it is not signed by an owner whose token is known here")
				s.Answer(`C-\`)
				require.Equal(t, 1, asking.Wait().Status)
			}
			s.QuitProgram("\x04")
			g.Press("C-c")
			require.Zero(t, g.Status())
		})
	}
}
