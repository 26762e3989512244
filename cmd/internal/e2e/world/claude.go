package world

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// ClaudeEnv makes a home in which Claude Code is already set up, and returns the environment for
// it.
func (a *account) ClaudeEnv(model string) []string {
	a.T.Helper()
	config := a.Path("claude")
	require.NoError(a.T, os.Mkdir(config, 0o700))
	const key = "sk-ant-dummy-0123456789-0123456789"
	a.WriteJSON(filepath.Join("claude", ".claude.json"), Args{
		"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": Args{"approved": []string{key[len(key)-20:]}},
		"projects": Args{a.Dir: Args{"hasTrustDialogAccepted": true}},
	})
	return []string{
		"ANTHROPIC_BASE_URL=" + model, "ANTHROPIC_API_KEY=" + key, "CLAUDE_CONFIG_DIR=" + config,
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"TMPDIR=" + a.Dir,
	}
}

func (a *account) WriteJSON(name string, v any) string {
	a.T.Helper()
	text, err := json.Marshal(v)
	require.NoError(a.T, err)
	return a.Write(name, string(text))
}
