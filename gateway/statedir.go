package gateway

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"

	"terminalproxy/gateway/auth"
	"terminalproxy/protocol"
)

// StateDir is where this user's programs keep what lasts: $XDG_STATE_HOME/terminalproxy, else
// ~/.local/state/terminalproxy. It is not made here.
func StateDir() (string, error) {
	return lasting("XDG_STATE_HOME", ".local", "state")
}

// configDir is where the user keeps what belongs to the user: $XDG_CONFIG_HOME/terminalproxy, else ~/.config/terminalproxy.
// It is not made here.
func configDir() (string, error) {
	return lasting("XDG_CONFIG_HOME", ".config")
}

// TokensPath is the file of this machine's token hashes, where no other is named.
func TokensPath() (string, error) {
	dir, err := StateDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "tokens"), nil
}

// RecordsPath is the directory in which this user's recordings are known.
func RecordsPath() (string, error) {
	dir, err := StateDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "records"), nil
}

// Signed says which owner signed a message, by this machine's tokens. They are read when somebody signs, and not before. An error is for
// people.
func Signed(message, signature []byte) (who protocol.Signer, err error) {
	tokens, err := ownTokens()
	if err != nil {
		return who, err
	}
	return tokens.Owner(message, signature)
}

// LocalAgent says which local token's holder signed a message, likewise.
func LocalAgent(message, signature []byte) (token string, err error) {
	tokens, err := ownTokens()
	if err != nil {
		return "", err
	}
	return tokens.LocalAgent(message, signature)
}

// ownTokens are this machine's tokens.
func ownTokens() (*auth.Store, error) {
	path, err := TokensPath()
	if err != nil {
		return nil, err
	}
	return auth.OpenStore(path, nil)
}

// ConfigPath is the user's own configuration. It need not be there.
func ConfigPath() (string, error) {
	dir, err := configDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "config.toml"), nil
}

// OwnerTokenPath is where the owner's own token lies, where no other file is named.
func OwnerTokenPath() (string, error) {
	dir, err := configDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "owner.token"), nil
}

// LocalTokenPath is where the local token of an agent is saved.
func LocalTokenPath(name string) (string, error) {
	dir, err := configDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, name+".agent"), nil
}

// lasting is terminalproxy in the directory that a variable names, else in a directory of the user's home.
func lasting(variable string, home ...string) (string, error) {
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

// homeDir is $HOME, else what the system knows of the user: services and agents' tools start programs without the variable.
func homeDir() (string, error) {
	dir, err := os.UserHomeDir()
	if err == nil {
		return dir, nil
	}
	if who, unknown := user.Current(); unknown == nil && filepath.IsAbs(who.HomeDir) {
		return who.HomeDir, nil
	}
	return "", err
}
