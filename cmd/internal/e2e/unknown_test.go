package e2e_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The agent says in its own words that the conversation does not exist, and we say what to do.
func TestAConversationThatDoesNotExist(t *testing.T) {
	const id, hint = "6f1f3c3e-5a5b-4c5d-8e9f-0123456789ab", "\nhint: without --resume a new conversation begins; its id is printed when it ends\n"
	says := map[string]string{
		"claude": "No conversation found with session ID: " + id, "claude-acp": "Resource not found", "codex": "no rollout found", "gemini": "No previous sessions found", "copilot": "not found",
	}
	for _, agent := range chatAgents {
		t.Run(agent.name, func(t *testing.T) {
			clients(t)
			w := newWorld(t)
			c := w.newChat(agent)
			r := w.prepare("gateway", "chat", "--with", agent.name, "--resume", id, "hello")
			r.cmd.Env = append(r.cmd.Env, envOf(c.env)...)
			r.run()
			got := r.wait()
			got.mustFail(t, 1, "gateway: chat: "+agent.name+" did not start: ")
			if agent.name != "claude" {
				require.Contains(t, got.err, agent.name+": it cannot go on with the conversation "+id+": ")
			}
			require.Contains(t, got.err, says[agent.name])
			require.Contains(t, got.err, hint)
			if agent.name != "claude" {
				return
			}
			r = w.prepare("gateway", "run", "--chat", "--", "claude", "--resume", id)
			r.cmd.Env = append(r.cmd.Env, envOf(c.env)...)
			r.run()
			got = r.wait()
			got.mustFail(t, 1, "gateway: run: claude ended with exit status 1: No conversation found with session ID: "+id+hint)
		})
	}
}

// The user reads the reason, and what to do.
func TestAHeadlessConversationThatCannotBegin(t *testing.T) {
	w := newWorld(t)
	w.writeScript("claude", "#!/bin/sh\necho \"no conversation\"\nexit 1\n")
	run := func(args ...string) result {
		return w.gateway(append([]string{"run", "--chat", "--", w.path("claude")}, args...)...)
	}
	for _, picks := range [][]string{{"--resume"}, {"-r", "nosuch"}, {"--resume=nosuch"}} {
		run(picks...).mustFail(t, 1, "lets a person pick one, and no person is at its terminal\nhint: an id is a UUID")
	}
	run("--resume", "6f1f3c3e-5a5b-4c5d-8e9f-0123456789ab").mustFail(t, 1, "gateway: run: claude ended with exit status 1: no conversation\nhint: without --resume a new conversation begins")
	run("--no-such-flag").mustFail(t, 1, "\nhint: run it in your own terminal to see why: proxy --chat "+w.path("claude")+" --no-such-flag\n")

	require.NoError(t, os.Remove(w.path("home/state/terminalproxy/chat")))
	w.write("home/state/terminalproxy/chat", "")
	run().mustFail(t, 1, "gateway: run: --chat: directory of the conversations: ")
	run().mustFail(t, 1, "\nhint: it lets only one command at a time have a conversation: make it writable, or name another place in XDG_STATE_HOME\n")
	w.gateway("chat", "hello").mustFail(t, 1, "or name another place in XDG_STATE_HOME\n")
}
