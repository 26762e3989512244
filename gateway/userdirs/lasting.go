package userdirs

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
)

// State returns the directory of this user's lasting files: $XDG_STATE_HOME/terminalproxy, else
// ~/.local/state/terminalproxy. It does not create the directory.
func State() (string, error) {
	return userDir("XDG_STATE_HOME", ".local", "state")
}

// configDir returns the directory of the user's configuration: $XDG_CONFIG_HOME/terminalproxy, else
// ~/.config/terminalproxy. It does not create the directory.
func configDir() (string, error) {
	return userDir("XDG_CONFIG_HOME", ".config")
}

// TokensPath returns the default file of this machine's token hashes.
func TokensPath() (string, error) { return joinName(State, "tokens") }

// RecordsPath returns the directory that lists this user's recordings.
func RecordsPath() (string, error) { return joinName(State, "records") }

// ConfigPath returns the path of the user's own configuration, which need not exist.
func ConfigPath() (string, error) { return joinName(configDir, "config.toml") }

// OwnerTokenPath returns the default path of the owner's own token.
func OwnerTokenPath() (string, error) { return joinName(configDir, "owner.token") }

// LocalTokenPath returns the path of an agent's local token.
func LocalTokenPath(name string) (string, error) { return joinName(configDir, name+".agent") }

// joinName returns the path of a file in the directory that findDir finds.
func joinName(findDir func() (string, error), name string) (string, error) {
	dir, err := findDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, name), nil
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

// homeDir returns $HOME, else the home that the system reports: services and agents' tools start
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
