package consent_test

import (
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// When control ends, the proxy closes the paste or the key that an agent has begun: the user's next
// keys act as they always do.
func TestTheEndOfControlClosesWhatTheAgentBeganR20(t *testing.T) {
	t.Parallel()
	const paste, escape = "\x1b[200~", "\x1b"
	for _, c := range []struct {
		name, program, ready string
		theirs               string   // what the agent leaves open
		mine                 []string // the user's keys
		want                 string
	}{
		{"bash", world.PlainBash, world.AtPrompt, paste + "echo one", []string{"2", "Enter"}, "\none2\n"},
		{"bash", world.PlainBash, world.AtPrompt, "echo one" + escape, []string{"d", "Enter"}, "\noned\n"},
		{"bash", world.PlainBash, world.AtPrompt, "echo one" + "\x1b[1;5", []string{"D", "Enter"}, "\noneD\n"},
		{"zsh", "env KEYTIMEOUT=60000 zsh -f", world.AtPrompt, paste + "echo one", []string{"2", "Enter"}, "\none2\n"},
		{"zsh", "zsh -f", world.AtPrompt, "echo one" + escape, []string{"x", "Enter"}, "\nonex\n"},
		{"fish", "fish --no-config", world.AtPrompt, paste + "echo one", []string{"2", "Enter"}, "\none2\n"},
		{"psql", "psql", "postgres=#", paste + `\echo one`, []string{"2", "Enter"}, "\none2\n"},
		{"python3", "/usr/bin/python3 -q", ">>>", "'one'" + escape, []string{"d", "Enter"}, "'one'd\n"},
		{"gdb", "gdb -q -nx", `\(gdb\)`, paste + `echo one\n`, []string{"2", "Enter"}, "\none\n2(gdb)"},
		{"gdb", "gdb -q -nx", `\(gdb\)`, `echo one` + escape, []string{"d", "Enter"}, "oned"},
		{"node", "node", `\n>`, "'one' +" + escape, []string{"2", "Enter"}, "\n'one2'\n"},
		{"nano", "nano text", `Exit`, paste + "one", []string{"2"}, "one2alpha"},
		{"nano", "nano text", `Exit`, escape, []string{"2"}, "\n2\n"},
		{"vim", "env TERM=xterm-256color vim --clean -n text", `alpha`, paste + "one", []string{"x"}, "onalpha"},
		{"nvim", "nvim -u NONE -n text", `alpha`, paste + "one", []string{"x"}, "aonlpha"},
		{"less", "less text", `\(END\)`, escape, []string{")", "q"}, "=0\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world.New(t, c.name)
			w.Write("text", "alpha\n")
			if c.name == "psql" {
				c.program = "psql -X -h " + world.Postgres(w) + " -U test postgres"
			}
			s := w.Terminal(100, 16)
			id := s.RunGranted("drive", c.program, c.ready)
			require.Zero(t, w.Gateway("send", id, "--as", "codex", "--text", c.theirs, "--timeout", "5m").Status)
			s.Press(`C-\`)
			s.WaitShown("codex is stopped")
			s.Press(c.mine...)
			s.Wait(c.want)
		})
	}
}
