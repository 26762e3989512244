package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A grant that is for vim rests while vim shows a shell, and goes on with it.
func TestOnlyThisProgram(t *testing.T) {
	w := newWorld(t, "vim", "bash")
	s := w.terminal(110, 16)
	w.write("notes.txt", "bread\n")
	s.run("proxy --agent --grant drive --only-this-program vim -u NONE -n notes.txt")
	s.wait("bread")
	id := w.session()
	w.granted(id, "--as", "codex")
	w.good("send", id, "--as", "codex", "--text", "omilk")
	w.good("send", id, "--as", "codex", "esc")
	require.Contains(t, w.good("read", id), "keyboard: codex (drive), for vim only")

	for _, command := range []string{":shell", ":!bash --norc"} {
		w.good("send", id, "--as", "codex", "--text", command, "--enter")
		s.match(`([$#]) ?\n`)
		s.titled("[codex waits for vim]")
		s.wait("codex waits: it has the keyboard for vim only, and bash is in front")
		require.Contains(t, w.good("read", id), "codex, paused: the grant is for vim, and another program has the terminal")
		got := w.gateway("send", id, "--as", "codex", "--text", "touch pwned", "--enter", "--timeout", "300ms")
		require.Equal(t, 1, got.status)
		require.Contains(t, got.err, "the grant is for one program, and another one has the terminal")

		waiting := w.start("gateway", "send", id, "--as", "codex", "--text", "oeggs")
		s.typed("echo mine > said; exit\n")
		if command != ":shell" {
			s.wait("Press ENTER")
		}
		got = waiting.wait()
		require.Zero(t, got.status, got.err)
		s.titled("[codex drives]")
		w.good("send", id, "--as", "codex", "esc")
		require.Equal(t, "mine\n", w.content("said"))
	}
	require.NoFileExists(t, w.path("pwned"))
	w.good("send", id, "--as", "codex", "--text", ":wq", "--enter", "--timeout", "2s")
	require.Zero(t, s.status())
	require.Contains(t, w.content("notes.txt"), "bread\nmilk\neggs")
}
