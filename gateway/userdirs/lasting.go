package userdirs

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
)

// State returns the directory of this user's lasting files: $XDG_STATE_HOME/terminalproxy, else
// ~/.local/state/terminalproxy. It does not make the directory.
func State() (string, error) {
	return userDir("XDG_STATE_HOME", ".local", "state")
}

// configDir returns the directory of the user's configuration: $XDG_CONFIG_HOME/terminalproxy, else
// ~/.config/terminalproxy. It does not make the directory.
func configDir() (string, error) {
	return userDir("XDG_CONFIG_HOME", ".config")
}

// TokensPath returns the default file of this machine's token hashes.
func TokensPath() (string, error) {
	dir, err := State()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "tokens"), nil
}

// RecordsPath returns the directory that lists this user's recordings.
func RecordsPath() (string, error) {
	dir, err := State()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "records"), nil
}

// ConfigPath returns the path of the user's own configuration, which need not exist.
func ConfigPath() (string, error) {
	dir, err := configDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "config.toml"), nil
}

// OwnerTokenPath returns the default path of the owner's own token.
func OwnerTokenPath() (string, error) {
	dir, err := configDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "owner.token"), nil
}

// LocalTokenPath returns the path of an agent's local token.
func LocalTokenPath(name string) (string, error) {
	dir, err := configDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, name+".agent"), nil
}

// userDir returns terminalproxy in the directory that a variable names, else in a directory of the
// user's home.
func userDir(variable string, home ...string) (string, error) {
	base := os.Getenv(variable)
	if !filepath.IsAbs(base) {
		dir, err := homeDir()
		if err != nil {
			return "", fmt.Errorf("directory of this user: %w: set HOME or %s", err, variable)
		}
		base = filepath.Join(append([]string{dir}, home...)...)
	}
	return filepath.Join(base, "terminalproxy"), nil
}

// homeDir returns $HOME, else the home that the system knows: services and agents' tools start
// programs without the variable.
func homeDir() (string, error) {
	dir, err := os.UserHomeDir()
	if err == nil {
		return dir, nil
	}
	if account, unknown := user.Current(); unknown == nil && filepath.IsAbs(account.HomeDir) {
		return account.HomeDir, nil
	}
	return "", err
}
