package e2e_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/fakemodel"
)

// opencode's own interface and its remote conversation are one. A dialog answered in one place
// closes in the other. It is prompted and interrupted remotely. Killing its server allows nothing,
// and the user is told.
func TestOpencodeLive(t *testing.T) {
	clients(t)
	w := newWorld(t)
	c := w.newChat(chatAgent{name: "opencode", setUp: (*world).opencodeEnv, shell: "bash"})
	c.env += `'OPENCODE_PERMISSION={"bash":"ask"}' `
	o := w.owner(100, 50)
	c.s.run(c.env + "proxy --chat opencode")
	id := w.session() // its server has then started, which takes the longest
	c.waitForOpencode()
	c.say("make a file")
	require.Contains(t, c.next().Text, "make a file")
	c.callShell("touch made-never")
	c.s.wait("Permission required")
	w.answerChat(id, "refuse", "--words", "not in this place")
	require.Contains(t, c.next().Result, "not in this place")
	c.s.waitGone("Permission required")
	require.NoFileExists(t, w.path("made-never"))

	c.callShell("touch made-once")
	c.s.wait("Permission required")
	c.s.press("Enter")
	c.next()
	require.FileExists(t, w.path("made-once"))
	c.reply(fakemodel.Turn{Say: "THE FIRST IS DONE"})
	c.s.wait("THE FIRST IS DONE")
	log := w.waitForLog(id, "THE FIRST IS DONE")
	for _, said := range []string{"make a file", "touch made-never", "not in this place", "touch made-once", "allowed in opencode's own interface (once)"} {
		require.Contains(t, log, said)
	}
	c.s.see("the end of the turn", func(screen string) bool { return !strings.Contains(screen, "esc interrupt") })
	o.run("gateway chat send " + id + " 'think for ever'")
	require.Contains(t, c.next().Text, "think for ever")
	w.mustGateway("chat", "interrupt", id)
	w.waitForLog(id, "the turn ended: interrupted")
	c.s.see("the end of the turn", func(screen string) bool { return !strings.Contains(screen, "esc interrupt") })
	o.run("gateway chat send " + id + " 'and another'")
	require.Contains(t, c.next().Text, "and another")
	c.callShell("touch made-after-death")
	c.s.wait("Permission required")
	w.signalOpencode("serve", syscall.SIGKILL)
	c.s.status() // without its server, its interface takes no key in a dialog, and ends
	require.Contains(t, c.s.screen(), "proxy: opencode's server was killed")
	require.NoFileExists(t, w.path("made-after-death"))
	require.Equal(t, plainModes, c.s.format(modes))
}

// signalOpencode sends a signal to the processes of one of opencode's commands.
func (w *world) signalOpencode(command string, sig syscall.Signal) {
	w.t.Helper()
	for _, p := range w.processes() {
		if pid, line, _ := strings.Cut(p, " "); strings.Contains(line, "opencode "+command) && !strings.Contains(line, "/bin/sh") {
			w.killOne(pid, sig)
		}
	}
}

// waitForOpencode waits for opencode's prompt.
func (c *chatting) waitForOpencode() {
	c.w.t.Helper()
	c.s.see("opencode's prompt", func(screen string) bool { return strings.Contains(screen, "ctrl+p commands") })
}

// answerChat answers a coding agent's question as soon as the session has one.
func (w *world) answerChat(id string, args ...string) {
	w.t.Helper()
	var got result
	w.until(func() bool {
		got = w.gateway(append([]string{"chat", "answer", id}, args...)...)
		return got.status == 0
	}, func() string { return got.out + got.err })
}

// waitForLog waits until words stand in the conversation of a session.
func (w *world) waitForLog(id, words string) string {
	w.t.Helper()
	var got result
	w.until(func() bool {
		got = w.gateway("chat", "log", id)
		return strings.Contains(got.out, words)
	}, func() string { return words + " in: " + got.out + got.err })
	return got.out
}
