package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/fakemodel"
)

// After a turn, /model asks at the terminal what the command has said, and is confirmed. A dialog
// that a person opens there is shown remotely as a question, and prompts wait meanwhile. A command
// without any visible effect is read all the same.
func TestCommandsAreSentRemotely(t *testing.T) {
	b := newBesideClaude(t)
	w := b.w
	b.prompt()
	b.reply(fakemodel.Turn{Say: "THE FIRST IS DONE"})
	b.waitForLog("THE FIRST IS DONE")
	b.s.wait("❯")
	send := func(text string) string {
		screen, status := b.person.runToEnd("gateway chat send " + b.id + " '" + text + "'")
		require.Zero(t, status, screen)
		return unwrapped(screen)
	}
	b.s.typed("/model haiku")
	b.s.wait("/model haiku")
	b.s.press("Enter")
	b.s.wait("Switch model?")
	b.waitForLog("a dialog of its own at the terminal")
	require.Equal(t, "asks", w.sessions()[0].Chat.State)
	require.Contains(t, send("and now"), "it waits: the agent's terminal shows a question, or something else in place of its prompt")
	b.person.run("gateway chat answer " + b.id + " --reply 2")
	b.person.wait("send this answer?")
	b.person.typed("y\n")
	require.Zero(t, b.person.status())
	require.Contains(t, b.next().Text, "and now")
	b.reply(fakemodel.Turn{Say: "THE SECOND IS DONE"})
	b.waitForLog("THE SECOND IS DONE")

	b.s.wait("❯")
	b.s.typed("/model haiku")
	b.s.wait("/model haiku")
	b.s.press("Enter")
	b.s.wait("Switch model?")
	b.w.until(func() bool { return w.sessions()[0].Chat.State == "asks" }, b.s.screen)
	w.mustGateway("chat", "interrupt", b.id)
	b.s.waitGone("Switch model?")
	b.s.wait("❯")
	require.NotContains(t, send("/model sonnet"), "it waits")
	b.s.wait("Set model to")
	b.waitForLog("and the command had answered that")
	send("/effort high")
	b.s.wait("Set effort level to high")

	log := w.mustGateway("chat", "log", b.id)
	require.NotContains(t, log, "did not read")
	require.NotContains(t, log, "did not get a prompt")
	b.exit()
}
