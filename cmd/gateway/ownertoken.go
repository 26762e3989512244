package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"terminalproxy/gateway/auth"
)

// saveToken writes a new token to a file; err is why it has no place. A token that cannot be kept
// is revoked, because it would be lost.
func (a *app) saveToken(store *auth.Store, t auth.Token, token, path string, err error) error {
	if err == nil {
		err = newSecret(path, token)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		err = fmt.Errorf("%s exists already: remove it and revoke its token first", path)
		fallthrough
	case err != nil:
		return unwritten(fmt.Errorf("token create: %w", errors.Join(err, store.Revoke(t.Name))),
			"XDG_CONFIG_HOME")
	case t.Local && !a.json:
		_, _ = fmt.Fprintf(a.err,
			"hint: give it to one agent, as in: claude mcp add term -- gateway mcp "+
				"--agent-token %s\n", path)
	}
	return a.printAnswer(map[string]any{"name": t.Name, "role": t.Role, "file": path},
		"saved in "+path)
}

// unwritten makes the failure to write a file in a directory of the user; the hint names the
// variable that sets another directory.
func unwritten(err error, variable string) error {
	if !errors.Is(err, syscall.EROFS) && !errors.Is(err, syscall.ENOTDIR) &&
		!errors.Is(err, fs.ErrPermission) {
		return err
	}
	return &failure{
		status: statusRefused,
		cause:  err,
		hint:   "set " + variable + " to a directory in which you can write",
	}
}

// newSecret writes a secret to a new file of mode 0600 in a directory of mode 0700, whole or not at
// all.
func newSecret(path, secret string) error {
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
	return os.Link(f.Name(), path) // of two that do so at once, the first one wins
}
