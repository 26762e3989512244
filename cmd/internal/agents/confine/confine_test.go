package confine

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

var testDirs = []string{"/home/ada/.config/terminalproxy", "/home/ada/.local/state/terminalproxy", "/run/user/1000/terminalproxy"}

// The settings count as in force as they are printed, and not once one of them is missing or
// loosened.
func TestSettingsInForce(t *testing.T) {
	for _, v := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(v, filepath.Join(t.TempDir(), v))
	}
	loose := map[string][][2]string{
		"claude": {
			{`"enabled": true`, `"enabled": false`},
			{`"allowUnsandboxedCommands": false`, `"allowUnsandboxedCommands": true`},
			{`"allowUnsandboxedCommands": false,`, ``},
			{`"Read(//run/user/1000/terminalproxy/**)",`, ``},
			{`"denyRead": [`, `"denyRead": [], "other": [`},
		},
		"codex": {
			{`default_permissions`, "sandbox_mode = \"workspace-write\"\ndefault_permissions"},
			{`default_permissions = "confined"`, `default_permissions = ":workspace"`},
			{`"/run/user/1000/terminalproxy" = "deny"`, `"/run/user/1000/terminalproxy" = "read"`},
		},
		"copilot": {
			{`"enabled": true`, `"enabled": false`},
			{`"allowBypass": false,`, ``},
			{`"/home/ada/.config/terminalproxy",`, ``},
		},
		"gemini": {
			{`"deny"`, `"ask_user"`},
			{`"run_shell_command",`, ``},
			{`/run/user/1000/terminalproxy|`, ``},
		},
		"opencode": {
			{`"*/terminalproxy*": "deny"`, `"*/terminalproxy*": "ask"`},
			{`"bash"`, `"bsh"`},
			{`"external_directory"`, `"external"`},
		},
	}
	require.Len(t, Agents(), len(loose))
	for _, a := range Agents() {
		text := a.Settings(testDirs)
		require.NotZero(t, a.Uses)
		require.Equal(t, Absent, a.FindStrength(testDirs), a.Name)
		require.NoError(t, os.MkdirAll(filepath.Dir(a.File()), 0o700))
		write := func(text string) {
			require.NoError(t, os.WriteFile(a.File(), []byte(text), 0o600))
		}
		write(text)
		require.Equal(t, a.Uses, a.FindStrength(testDirs), a.Name)
		require.Equal(t, Absent, a.FindStrength(append(testDirs, "/another")), a.Name)
		for _, change := range loose[a.Name] {
			weaker := strings.ReplaceAll(text, change[0], change[1])
			require.NotEqual(t, text, weaker, change)
			write(weaker)
			require.Equal(t, Absent, a.FindStrength(testDirs), "%s: %s", a.Name, change)
		}
		write("{[ no settings")
		require.Equal(t, Absent, a.FindStrength(testDirs), a.Name)
		require.NoError(t, os.Remove(a.File()))
		require.NoError(t, syscall.Mkfifo(a.File(), 0o600))
		require.Equal(t, Absent, a.FindStrength(testDirs), "a pipe does not hold it up")
	}
}
