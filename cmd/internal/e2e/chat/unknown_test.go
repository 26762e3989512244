package chat_test

import (
	"os"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// The agent says in its own words that the conversation or the mode does not exist, and we say what
// to do.
func TestAConversationThatCannotBegin_Client(t *testing.T) {
	const id, hint = "6f1f3c3e-5a5b-4c5d-8e9f-0123456789ab", "\nhint: without --resume a new conversation begins; its id is printed when it ends\n"
	says := map[string]string{
		"claude": "No conversation found with session ID: " + id, "claude-acp": "Resource not found", "codex": "no rollout found", "gemini": "No previous sessions found", "copilot": "not found",
	}
	for _, agent := range world.ChatAgents {
		t.Run(agent.Name, func(t *testing.T) {
			world.Clients(t)
			w := world.New(t)
			c := w.NewChat(agent)
			r := w.Prepare("gateway", "chat", "--with", agent.Name, "--resume", id, "hello")
			r.Cmd.Env = append(r.Cmd.Env, envOf(c.Env)...)
			r.Run()
			got := r.Wait()
			got.MustFail(t, 1, "gateway: chat: "+agent.Name+" did not start: ")
			if agent.Name != "claude" {
				require.Contains(t, got.Err, agent.Name+": it cannot go on with the conversation "+id+": ")
			}
			require.Contains(t, got.Err, says[agent.Name])
			require.Contains(t, got.Err, hint)
			if agent.Name == "codex" {
				start(c, "--mode nonsense")
				require.Equal(t, 1, c.S.Status())
				c.S.Wait("nonsense")
				c.S.Wait("did not start")
			}
			if agent.Name != "claude" {
				return
			}
			r = w.Prepare("gateway", "run", "--chat", "--", "claude", "--resume", id)
			r.Cmd.Env = append(r.Cmd.Env, envOf(c.Env)...)
			r.Run()
			got = r.Wait()
			got.MustFail(t, 1, "gateway: run: claude ended with exit status 1: No conversation found with session ID: "+id+hint)
		})
	}
}

// The user reads the reason, and what to do.
func TestAHeadlessConversationThatCannotBegin(t *testing.T) {
	w := world.New(t)
	w.WriteScript("claude", "#!/bin/sh\necho \"no conversation\"\nexit 1\n")
	run := func(args ...string) world.Result {
		return w.Gateway(append([]string{"run", "--chat", "--", w.Path("claude")}, args...)...)
	}
	for _, picks := range [][]string{{"--resume"}, {"-r", "nosuch"}, {"--resume=nosuch"}} {
		run(picks...).MustFail(t, 1, "lets a person pick one, and no person is at its terminal\nhint: an id is a UUID")
	}
	run("--resume", "6f1f3c3e-5a5b-4c5d-8e9f-0123456789ab").MustFail(t, 1, "gateway: run: claude ended with exit status 1: no conversation\nhint: without --resume a new conversation begins")
	run("--no-such-flag").MustFail(t, 1, "\nhint: run it in your own terminal to see why: proxy --chat "+w.Path("claude")+" --no-such-flag\n")

	require.NoError(t, os.Remove(w.Path("home/state/terminalproxy/chat")))
	w.Write("home/state/terminalproxy/chat", "")
	run().MustFail(t, 1, "gateway: run: --chat: directory of the conversations: ")
	run().MustFail(t, 1, "\nhint: it lets only one command at a time have a conversation: make it writable, or name another place in XDG_STATE_HOME\n")
	w.Gateway("chat", "hello").MustFail(t, 1, "or name another place in XDG_STATE_HOME\n")
}
