package opencode_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat/opencode"
)

// In the environment, or in the configuration.
func TestTheUserDecidesWhatOpencodeAsksFor(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("OPENCODE_CONFIG", "")
	t.Setenv("OPENCODE_PERMISSION", "")
	require.False(t, opencode.HasUserPermissions())
	require.Contains(t, opencode.AskingVariables(true)[0], `"*":"ask"`)
	require.Contains(t, opencode.AskingVariables(true)[0], `"question":"allow"`)
	require.Contains(t, opencode.AskingVariables(false)[0], `"question":"deny"`)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "opencode"), 0o700))
	file := filepath.Join(dir, "opencode", "opencode.jsonc")
	require.NoError(t, os.WriteFile(file, []byte(`{"model":"m"}`), 0o600))
	require.False(t, opencode.HasUserPermissions())
	require.NoError(t, os.WriteFile(file, []byte(`{/* mine */ "permission":{"bash":"allow"}}`), 0o600))
	require.True(t, opencode.HasUserPermissions())
	t.Setenv("OPENCODE_PERMISSION", `{"*":"allow"}`)
	require.Empty(t, opencode.AskingVariables(true))
}
