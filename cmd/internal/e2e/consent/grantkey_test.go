package consent_test

import (
	"strings"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// The grant key in force, as set by a flag, by a setting, or by what the terminal keeps for itself.
// The question names it and it grants the keyboard. If it is another key, Ctrl+G belongs to the
// program.
func TestTheGrantKeyInForce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ config, env, flags, allows, refuses, key, reclaim string }{
		"flag":                {"", "", "--grant-key ctrl-]", "Ctrl+]", `Ctrl+\`, "C-]", `C-\`},
		"setting":             {"grant-key = 'ctrl-t'", "", "", "Ctrl+T", `Ctrl+\`, "C-t", `C-\`},
		"zellij":              {"", "ZELLIJ=0", "", "Ctrl+]", `Ctrl+\`, "C-]", `C-\`},
		"zellij, that is set": {"reclaim-key = 'ctrl-]'", "ZELLIJ=0", "", "Ctrl+^", "Ctrl+]", "C-^", "C-]"},
		"VS Code":             {"", "-u TMUX TERM_PROGRAM=vscode", "", "Ctrl+Alt+G", `Ctrl+\`, "C-g", `C-\`},
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			w.WriteConfig("[proxy]\n" + c.config + "\n")
			s := w.Terminal(120, 24)
			s.Run("env " + c.env + " proxy --agent " + c.flags + " listener heard")
			s.Match(`listening proxy=(\d+) `)
			id := w.Session()
			asking := w.Start("gateway", "request", id, "--as", "codex", "--reason", "to test")
			s.Wait(c.allows + " allows · " + c.refuses + " refuses")
			s.PressWhile(c.key, c.allows+" allows")
			s.WaitShown("codex drives for 10 min. " + c.refuses + " takes the keyboard back at once")
			require.Zero(t, asking.Wait().Status)
			s.Press(c.reclaim)
			s.WaitShown("the keyboard is yours")
			require.Empty(t, w.Content("heard"), "neither key reached the program")
			if c.key != "C-g" {
				s.Press("C-g")
				w.Until(func() bool { return w.Content("heard") == "\a" }, func() string { return "Ctrl+G is the program's: " + w.Content("heard") })
			}
		})
	}
}

// Each encoding in which a terminal sends the key counts, but not a key's release.
func TestGrantKeyInTheNewEncodings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flags, press string }{
		{"", "\x1b[103;5u"},
		{"", "\x1b[27;5;103~"},
		{"", "\x1b[71;34;7;1;8;1_"},
		{"--grant-key ctrl-]", "\x1b[93;5u"},
		{"--grant-key ctrl-^", "\x1b[54:94;6u"},
	} {
		t.Run(c.flags+strings.TrimPrefix(c.press, "\x1b"), func(t *testing.T) {
			w := world.New(t)
			s := w.Terminal(120, 24)
			s.RunListener("--agent " + c.flags)
			asking := w.Start("gateway", "request", w.Session(), "--as", "codex", "--reason", "to test")
			s.Wait(" allows · ")
			s.Typed("\x1b[103;5:3u\x1b[93;5:3u")
			w.Until(func() bool { return strings.Contains(w.Content("heard"), "93;5:3u") }, func() string { return "the releases: " + w.Content("heard") })
			s.Wait(" allows · ")
			s.AnswerBy(400*time.Millisecond, " allows · ", func() { s.Typed(c.press) })
			require.Zero(t, asking.Wait().Status)
			s.WaitTitle("[codex drives]")
		})
	}
}

// A session that moves to a terminal that sends another key for Ctrl+G, or none, names that
// terminal's key.
func TestTheQuestionNamesTheKeyOfTheWindow(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 20)
	s.Run("stty -g > before; env -u TMUX TERM_PROGRAM=vscode proxy --keep --agent listener heard")
	w.EndsKept()
	id := w.Session()
	s.Match(`listening proxy=(\d+) `)
	asks := func(s *world.Terminal, allows string) {
		asking := w.Start("gateway", "request", id, "--as", "codex", "--reason", "to test")
		s.Wait(allows)
		s.PressWhile("C-g", allows)
		require.Zero(t, asking.Wait().Status)
		s.Press(`C-\`)
		s.WaitShown("the keyboard is yours")
		s.WaitGone("the keyboard is yours")
	}
	asks(s, "Ctrl+Alt+G allows")
	s.Detach(id)
	s = w.Terminal(100, 20)
	s.WaitAttached(id, "listening")
	w.WaitForWindow(id)
	asks(s, "Ctrl+G allows")
	s.QuitProgram("\x04")
}
