package chat_test

import (
	"testing"

	"terminalproxy/cmd/internal/dev/fakemodel"
	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// After a turn, /model asks at the terminal what the command has said, and is confirmed. A dialog
// that a person opens there is shown remotely as a question, and prompts wait meanwhile. A command
// without any visible effect is read all the same.
func TestCommandsAreSentRemotely_Client(t *testing.T) {
	b := newBesideClaude(t)
	w := b.W
	b.Prompt()
	b.Reply(fakemodel.Turn{Say: "THE FIRST IS DONE"})
	b.WaitForLog("THE FIRST IS DONE")
	b.S.Wait("❯")
	send := func(text string) string {
		screen, status := b.Person.RunToEnd("gateway chat send " + b.ID + " '" + text + "'")
		require.Zero(t, status, screen)
		return world.Unwrapped(screen)
	}
	b.S.Typed("/model haiku")
	b.S.Wait("/model haiku")
	b.S.Press("Enter")
	b.S.Wait("Switch model?")
	b.WaitForLog("a dialog of its own at the terminal")
	w.WaitForChat(b.ID, protocol.ChatAsks)
	require.Contains(t, send("and now"), "it waits: the agent's terminal shows a question, or something else in place of its prompt")
	b.Person.Run("gateway chat answer " + b.ID + " --reply 2")
	b.Person.Wait("send this answer?")
	b.Person.Typed("y\n")
	require.Zero(t, b.Person.Status())
	require.Contains(t, b.Next().Text, "and now")
	b.Reply(fakemodel.Turn{Say: "THE SECOND IS DONE"})
	b.WaitForLog("THE SECOND IS DONE")

	b.S.Wait("❯")
	b.S.Typed("/model haiku")
	b.S.Wait("/model haiku")
	b.S.Press("Enter")
	b.S.Wait("Switch model?")
	b.W.Until(func() bool { return w.Sessions()[0].Chat.State == "asks" }, b.S.Screen)
	w.MustGateway("chat", "interrupt", b.ID)
	b.S.WaitGone("Switch model?")
	b.S.Wait("❯")
	require.NotContains(t, send("/model sonnet"), "it waits")
	b.S.Wait("Set model to")
	b.WaitForLog("and the command had answered that")
	send("/effort high")
	b.S.Wait("Set effort level to high")

	log := w.MustGateway("chat", "log", b.ID)
	require.NotContains(t, log, "did not read")
	require.NotContains(t, log, "did not get a prompt")
	exit(b)
}
