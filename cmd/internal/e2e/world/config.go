package world

import (
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// WriteConfig writes the user's configuration file.
func (w *World) WriteConfig(text string) (path string) {
	w.T.Helper()
	dir := filepath.Join(w.Dir, "home", "config", "terminalproxy")
	require.NoError(w.T, os.MkdirAll(dir, 0o700))
	path = filepath.Join(dir, "config.toml")
	require.NoError(w.T, os.WriteFile(path, []byte(text), 0o600))
	return path
}
