package doctor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli/clitest"
)

// doctor names which of the two keys in force the terminal keeps for itself, which arrive, and how
// to free the others.
func TestDoctorSaysWhichKeysArrive(t *testing.T) {
	for _, c := range []struct{ env, config, state, say, do string }{
		{"", "", stateOK, `Ctrl+G gives the keyboard, Ctrl+\ takes it back`, ""},
		{"", "grant-key = 'ctrl-o'\nreclaim-key = 'ctrl-]'", stateOK, "Ctrl+O gives the keyboard, Ctrl+] takes it back", ""},
		{
			"TERM_PROGRAM=vscode", "", stateOK,
			`Ctrl+Alt+G gives the keyboard, Ctrl+\ takes it back; by default VS Code keeps Ctrl+G (goes to a recent directory) and Ctrl+4 (goes to an editor) for itself`,
			"gateway init vscode prints the settings",
		},
		{"TERM_PROGRAM=vscode", "grant-key = 'ctrl-o'\nreclaim-key = 'ctrl-x'", stateOK, "Ctrl+O gives the keyboard, Ctrl+X takes it back; VS Code keeps neither for itself", ""},
		{"ZELLIJ=0", "", stateOK, `here Ctrl+] gives the keyboard, Ctrl+\ takes it back; by default zellij keeps Ctrl+G (locks and unlocks it) for itself`, "unbind"},
		{"ZELLIJ=0", "grant-key = 'ctrl-g'", stateWarn, `Ctrl+G gives the keyboard, Ctrl+\ takes it back, but zellij keeps Ctrl+G (locks and unlocks it) for itself`, "; or set another grant-key or reclaim-key in the configuration"},
		{"ZELLIJ=0", "reclaim-key = 'ctrl-t'", stateWarn, "Ctrl+T takes it back, but zellij keeps Ctrl+T (opens its tab mode) and Ctrl+G", "unbind"},
		{"STY=1.pts", "", stateOK, "screen keeps neither for itself", "prefix"},
		{"TERMINAL_EMULATOR=JetBrains-JediTerm", "", stateOK, "JetBrains keeps neither for itself", "Override IDE shortcuts"},
		{"WT_SESSION=1", "", stateOK, "Windows Terminal keeps neither for itself", ""},
		{"TMUX=/none/s,1,0", "", stateWarn, "which keys tmux keeps for itself is unknown", ""},
	} {
		t.Run(c.env+" "+c.config, func(t *testing.T) {
			clitest.Isolate(t)
			clitest.Configure(t, "[proxy]\n"+c.config+"\n")
			for _, name := range []string{"TMUX", "STY", "ZELLIJ", "TERM_PROGRAM", "TERMINAL_EMULATOR", "WT_SESSION"} {
				t.Setenv(name, "")
			}
			if name, value, ok := strings.Cut(c.env, "="); ok {
				t.Setenv(name, value)
			}
			d := new(doctor)
			d.checkBindings(t.Context())
			require.Len(t, d.findings, 1)
			got := d.findings[0]
			require.Equal(t, "keys", got.Name)
			require.Equal(t, c.state, got.State, got.Say)
			require.Contains(t, got.Say, c.say)
			require.Contains(t, got.Do, c.do)
		})
	}
}
