package world

import (
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// WriteConfig writes the user's configuration file.
func (a *account) WriteConfig(text string) (path string) {
	a.T.Helper()
	dir := filepath.Join(a.Dir, "home", "config", "terminalproxy")
	require.NoError(a.T, os.MkdirAll(dir, 0o700))
	path = filepath.Join(dir, "config.toml")
	require.NoError(a.T, os.WriteFile(path, []byte(text), 0o600))
	return path
}
