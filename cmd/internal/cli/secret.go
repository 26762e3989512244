package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/userdirs"
)

// WriteFailure returns the failure to write a file in a directory of the user. Its hint names the
// variable that chooses another directory.
func WriteFailure(err error, variable string) error {
	hint := "set " + variable + " to a directory in which you can write"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		hint = "free some space there, or set " + variable + " to a directory on another disk"
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR),
		errors.Is(err, fs.ErrPermission):
	default:
		return err
	}
	return &Failure{Status: StatusRefused, Cause: err, Hint: hint}
}

// NewSecret writes a secret to a new file of mode 0600 in a directory of mode 0700, atomically.
func NewSecret(path, secret string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("directory for a secret: %w", err)
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("file for a secret: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(secret + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("file for a secret: %w", err)
	}
	return os.Link(f.Name(), path) // if two processes do so at once, the first one wins
}

// OpenTokens opens the token file that a flag names, or the one in the state directory.
func OpenTokens(path string) (string, *auth.Store, error) {
	own := path == ""
	if own {
		var err error
		if path, err = userdirs.TokensPath(); err != nil {
			return "", nil, err
		}
	}
	store, err := auth.OpenStore(path, nil)
	if err != nil {
		f := Fail(StatusUsage, "token file: %w", err)
		if strings.HasPrefix(err.Error(), "token file") {
			f = Fail(StatusUsage, "%w", err)
		}
		if u, ok := errors.AsType[*Failure](WriteFailure(err, "XDG_STATE_HOME")); ok && own {
			f = f.WithHint(u.Hint)
		}
		return "", nil, f
	}
	return path, store, nil
}

// TokensHelp is the help of --tokens.
const TokensHelp = "`FILE` of token hashes (default: tokens in the state directory)"
