package userdirs

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRuntimeDir(t *testing.T) {
	base := t.TempDir()
	require.Equal(t, filepath.Join(base, "terminalproxy"), firstOwned("/last", filepath.Join(base, "missing"), base))
	require.Equal(t, "/last", firstOwned("/last", filepath.Join(base, "missing"), "", "relative"))

	t.Setenv(EnvDir, filepath.Join(base, "mine"))
	dir, err := Runtime()
	require.NoError(t, err)
	require.Equal(t, filepath.Join(base, "mine"), dir)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	for name, c := range map[string]struct {
		prepare func(path string) error
		want    string
	}{
		"wide":    {func(p string) error { return os.Mkdir(p, 0o755) }, "mode 0755, so others could reach the gateway's socket: chmod 700"},
		"shut":    {func(p string) error { return os.Mkdir(p, 0o500) }, "mode 0500, so you could not make the gateway's socket there: chmod 700"},
		"file":    {func(p string) error { return os.WriteFile(p, nil, 0o600) }, "not a directory"},
		"link":    {func(p string) error { return os.Symlink(base, p) }, "symbolic link"},
		"nowhere": {func(string) error { return nil }, EnvDir},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(base, name)
			require.NoError(t, c.prepare(path))
			if name == "nowhere" {
				path = filepath.Join(path, "deeper")
			}
			t.Setenv(EnvDir, path)
			_, err := Runtime()
			require.ErrorContains(t, err, c.want)
		})
	}
}

// A path that is too long for a socket is refused before a session begins that no agent could see.
func TestRuntimeDirThatIsTooLong(t *testing.T) {
	t.Setenv(EnvDir, filepath.Join(t.TempDir(), strings.Repeat("long", 30)))
	_, _, err := LocalSocket()
	require.ErrorContains(t, err, "set "+EnvDir+" to a shorter directory")
	_, err = Runtime()
	require.ErrorContains(t, err, "set "+EnvDir+" to a shorter directory")
	_, isDir := errors.AsType[*DirError](err)
	require.True(t, isDir)
}

func TestRuntimeDirOfAnotherUserIsRefused_Root(t *testing.T) {
	needsRoot(t, "to make a directory of another user")
	path := filepath.Join(t.TempDir(), "stranger")
	require.NoError(t, os.Mkdir(path, 0o700))
	require.NoError(t, os.Chown(path, 65534, 65534))
	t.Setenv(EnvDir, path)
	_, err := Runtime()
	require.ErrorContains(t, err, "belongs to user")
}

// Without $HOME, as in a service, the directory is that of the user whom the system knows.
func TestStateDirWithoutHome(t *testing.T) {
	identity, err := user.Current()
	require.NoError(t, err)
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	dir, err := State()
	require.NoError(t, err)
	require.Equal(t, filepath.Join(identity.HomeDir, ".local", "state", "terminalproxy"), dir)
}

// needsRoot skips a test that an ordinary user cannot set up.
func needsRoot(t *testing.T, purpose string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root: " + purpose)
	}
}
