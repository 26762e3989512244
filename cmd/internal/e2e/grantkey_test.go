package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The grant key in force, as set by a flag, by a setting, or by what the terminal keeps for itself.
// The question names it and it grants the keyboard. If it is another key, Ctrl+G belongs to the
// program.
func TestTheGrantKeyInForce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ config, env, flags, allows, refuses, key, reclaim string }{
		"usual":               {"", "", "", "Ctrl+G", `Ctrl+\`, "C-g", `C-\`},
		"flag":                {"", "", "--grant-key ctrl-]", "Ctrl+]", `Ctrl+\`, "C-]", `C-\`},
		"both flags":          {"", "", "--grant-key ctrl-o --reclaim-key ctrl-]", "Ctrl+O", "Ctrl+]", "C-o", "C-]"},
		"setting":             {"grant-key = 'ctrl-t'", "", "", "Ctrl+T", `Ctrl+\`, "C-t", `C-\`},
		"flag over setting":   {"grant-key = 'ctrl-t'", "ZELLIJ=0", "--grant-key ctrl-g", "Ctrl+G", `Ctrl+\`, "C-g", `C-\`},
		"zellij":              {"", "ZELLIJ=0", "", "Ctrl+]", `Ctrl+\`, "C-]", `C-\`},
		"zellij, that is set": {"reclaim-key = 'ctrl-]'", "ZELLIJ=0", "", "Ctrl+^", "Ctrl+]", "C-^", "C-]"},
		"VS Code":             {"", "-u TMUX TERM_PROGRAM=vscode", "", "Ctrl+Alt+G", `Ctrl+\`, "C-g", `C-\`},
		"VS Code, another":    {"", "-u TMUX TERM_PROGRAM=vscode", "--grant-key ctrl-]", "Ctrl+]", `Ctrl+\`, "C-]", `C-\`},
		"dumb":                {"", "-u TMUX TERM=dumb", "--grant-key ctrl-]", "Ctrl+]", `Ctrl+\`, "C-]", `C-\`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.writeConfig("[proxy]\n" + c.config + "\n")
			s := w.terminal(120, 24)
			s.run("env " + c.env + " proxy --agent " + c.flags + " listener heard")
			s.match(`listening proxy=(\d+) `)
			id := w.session()
			asking := w.start("gateway", "request", id, "--as", "codex", "--reason", "to test")
			s.wait(c.allows + " allows · " + c.refuses + " refuses")
			s.pressWhile(c.key, c.allows+" allows")
			s.wait("codex drives for 10 min. " + c.refuses + " takes the keyboard back at once")
			require.Zero(t, asking.wait().status)
			s.press(c.reclaim)
			s.wait("the keyboard is yours")
			require.Empty(t, w.content("heard"), "neither key reached the program")
			if c.key != "C-g" {
				s.press("C-g")
				w.until(func() bool { return w.content("heard") == "\a" }, func() string { return "Ctrl+G is the program's: " + w.content("heard") })
			}
		})
	}
}

// With another grant key, Ctrl+G answers no question, and the reclaim key ends the grant at once.
func TestOnlyTheGrantKeyGrants(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(120, 24)
	s.runListener("--agent --grant-key ctrl-]")
	id := w.session()
	asking := w.start("gateway", "request", id, "--as", "codex", "--reason", "to test")
	s.wait("Ctrl+] allows")
	s.press("C-g")
	w.until(func() bool { return w.content("heard") == "\a" }, func() string { return "Ctrl+G is the program's: " + w.content("heard") })
	require.Contains(t, s.screen(), "Ctrl+] allows", "and the question stays")
	s.press(`C-\`)
	refused := asking.wait()
	require.Equal(t, 1, refused.status)
	require.Contains(t, refused.err, "the user declined")
}

// Each encoding in which a terminal sends the key counts, but not a key's release.
func TestGrantKeyInTheNewEncodings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flags, press string }{
		{"", "\x1b[103;5u"},
		{"", "\x1b[103;133u"},
		{"", "\x1b[1087::103;5u"},
		{"", "\x1b[27;5;103~"},
		{"", "\x1b[71;34;7;1;8;1_"},
		{"--grant-key ctrl-]", "\x1b[93;5u"},
		{"--grant-key ctrl-]", "\x1b[93;69u"},
		{"--grant-key ctrl-]", "\x1b[27;5;93~"},
		{"--grant-key ctrl-]", "\x1b[221;27;29;1;8;1_"},
		{"--grant-key ctrl-^", "\x1b[54:94;6u"},
	} {
		t.Run(c.flags+strings.TrimPrefix(c.press, "\x1b"), func(t *testing.T) {
			w := newWorld(t)
			s := w.terminal(120, 24)
			s.runListener("--agent " + c.flags)
			asking := w.start("gateway", "request", w.session(), "--as", "codex", "--reason", "to test")
			s.wait(" allows · ")
			s.typed("\x1b[103;5:3u\x1b[93;5:3u")
			w.until(func() bool { return strings.Contains(w.content("heard"), "93;5:3u") }, func() string { return "the releases: " + w.content("heard") })
			require.Contains(t, s.screen(), " allows · ")
			pause := time.NewTicker(400 * time.Millisecond)
			defer pause.Stop()
			for strings.Contains(s.screen(), " allows · ") {
				s.typed(c.press)
				<-pause.C
			}
			require.Zero(t, asking.wait().status)
			s.waitTitle("[codex drives]")
		})
	}
}

// A session that moves to a terminal that sends another key for Ctrl+G, or none, names that
// terminal's key.
func TestTheQuestionNamesTheKeyOfTheWindow(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 20)
	s.run("stty -g > before; env -u TMUX TERM_PROGRAM=vscode proxy --keep --agent listener heard")
	w.endsKept()
	id := w.session()
	s.match(`listening proxy=(\d+) `)
	asks := func(s *terminal, allows string) {
		asking := w.start("gateway", "request", id, "--as", "codex", "--reason", "to test")
		s.wait(allows)
		s.pressWhile("C-g", allows)
		require.Zero(t, asking.wait().status)
		s.press(`C-\`)
		s.wait("the keyboard is yours")
		s.waitGone("the keyboard is yours")
	}
	asks(s, "Ctrl+Alt+G allows")
	s.detach(id)
	s = w.terminal(100, 20)
	s.waitAttached(id, "listening")
	w.waitForWindow(id)
	asks(s, "Ctrl+G allows")
	s.detach(id)
	s = w.terminal(100, 20)
	s.run("stty -g > before; env -u TMUX TERM_PROGRAM=vscode gateway attach " + id)
	s.wait("listening")
	w.waitForWindow(id)
	asks(s, "Ctrl+Alt+G allows")
	s.quitProgram("\x04")
}
