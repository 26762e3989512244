package chat_test

import (
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/dev/fakemodel"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// opencode's own interface and its remote conversation are one. A dialog answered in one place
// closes in the other. It is prompted and interrupted remotely. Killing its server allows nothing,
// and the user is told.
func TestOpencodeLive_Client(t *testing.T) {
	world.Clients(t)
	w := world.New(t)
	c := w.NewChat(world.ChatAgent{Name: "opencode", SetUp: (*world.World).OpencodeEnv, Shell: "bash"})
	c.Env += `'OPENCODE_PERMISSION={"bash":"ask"}' `
	o := w.Owner(100, 50)
	c.S.Run(c.Env + "proxy --chat opencode")
	id := w.Session() // its server has then started, which takes the longest
	c.WaitForOpencode()
	c.Say("make a file")
	require.Contains(t, c.Next().Text, "make a file")
	c.CallShell("touch made-never")
	c.S.Wait("Permission required")
	answerChat(w, id, "refuse", "--words", "not in this place")
	require.Contains(t, c.Next().Result, "not in this place")
	c.S.WaitGone("Permission required")
	require.NoFileExists(t, w.Path("made-never"))

	c.CallShell("touch made-once")
	c.S.Wait("Permission required")
	c.S.Press("Enter")
	c.Next()
	require.FileExists(t, w.Path("made-once"))
	c.Reply(fakemodel.Turn{Say: "THE FIRST IS DONE"})
	c.S.Wait("THE FIRST IS DONE")
	log := w.WaitForLog(id, "THE FIRST IS DONE")
	for _, said := range []string{"make a file", "touch made-never", "not in this place", "touch made-once", "allowed in opencode's own interface (once)"} {
		require.Contains(t, log, said)
	}
	c.S.See("the end of the turn", func(screen string) bool { return !strings.Contains(screen, "esc interrupt") })
	o.Run("gateway chat send " + id + " 'think for ever'")
	require.Contains(t, c.Next().Text, "think for ever")
	w.MustGateway("chat", "interrupt", id)
	w.WaitForLog(id, "the turn ended: interrupted")
	c.S.See("the end of the turn", func(screen string) bool { return !strings.Contains(screen, "esc interrupt") })
	o.Run("gateway chat send " + id + " 'and another'")
	require.Contains(t, c.Next().Text, "and another")
	c.CallShell("touch made-after-death")
	c.S.Wait("Permission required")
	signalOpencode(w, "serve", syscall.SIGKILL)
	c.S.Status() // without its server, its interface takes no key in a dialog, and ends
	c.S.Wait("proxy: opencode's server was killed")
	require.NoFileExists(t, w.Path("made-after-death"))
	require.Equal(t, world.PlainModes, c.S.Format(world.Modes))
}

// signalOpencode sends a signal to the processes of one of opencode's commands.
func signalOpencode(w *world.World, command string, sig syscall.Signal) {
	w.T.Helper()
	for _, p := range w.Processes() {
		if pid, line, _ := strings.Cut(p, " "); strings.Contains(line, "opencode "+command) && !strings.Contains(line, "/bin/sh") {
			w.KillOne(pid, sig)
		}
	}
}

// answerChat answers a coding agent's question as soon as the session has one.
func answerChat(w *world.World, id string, args ...string) {
	w.T.Helper()
	var got world.Result
	w.Until(func() bool {
		got = w.Gateway(append([]string{"chat", "answer", id}, args...)...)
		return got.Status == 0
	}, func() string { return got.Out + got.Err })
}
