package tokens

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/userdirs"
)

// filePath returns the path for a new token, or "" to print it. An existing file is an error before
// the token exists.
func (n createOptions) filePath() (path string, err error) {
	switch {
	case n.local:
		path, err = userdirs.LocalTokenPath(n.name)
	case n.save:
		path, err = userdirs.OwnerTokenPath()
	case n.out == "-":
		return "", nil
	default:
		return n.out, checkOut(n.out)
	}
	if err != nil {
		return "", cli.WriteFailure(fmt.Errorf("token create: %w", err), "XDG_CONFIG_HOME")
	}
	return path, nil
}

// checkOut rejects an existing file for a new token, and a file in a missing directory.
func checkOut(path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Size() == 0 && info.Mode().IsRegular() {
			return cli.Fail(cli.StatusRefused,
				"token create: --out: %s is an empty file: it stays as it is", path).WithHint("remove it (rm " + path + "), or name another file")
		}
		return cli.Fail(cli.StatusRefused,
			"token create: --out: %s exists already: it stays as it is", path).WithHint("name another file")
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return cli.Fail(cli.StatusRefused, "token create: --out: %s is not a directory", dir).
			WithHint("make it first: mkdir -p " + dir)
	}
	return nil
}

// hintAtOut adds a hint about --out to an error after which the shell leaves an empty file.
func hintAtOut(env *cli.Env, err error) error {
	file, ok := env.Out.(*os.File)
	if err == nil || !ok {
		return err
	}
	info, statErr := file.Stat()
	if statErr != nil || !info.Mode().IsRegular() || info.Size() != 0 {
		return err
	}
	const hint = "the shell has made an empty file: remove it, and use --out FILE in place of " +
		"> FILE"
	if f, ok := errors.AsType[*cli.Failure](err); ok {
		return f.WithHint(hint)
	}
	return &cli.Failure{Status: cli.StatusUndefined, Cause: err, Hint: hint}
}

// saveToken writes a new token to a file. If that fails it revokes the token, which would be lost.
func saveToken(env *cli.Env, store *auth.Store, t auth.Token, token, path string, save bool) error {
	err := cli.NewSecret(path, token)
	switch {
	case errors.Is(err, fs.ErrExist):
		err = fmt.Errorf("%s exists already: remove it and revoke its token first", path)
		fallthrough
	case err != nil:
		err = fmt.Errorf("token create: %w", errors.Join(err, store.Revoke(t.Name)))
		if t.Local || save {
			return cli.WriteFailure(err, "XDG_CONFIG_HOME")
		}
		return cli.Fail(cli.StatusRefused, "%w", err).
			WithHint("name a file in a directory that you can write")
	case t.Local && !env.JSON:
		_, _ = fmt.Fprintf(env.Err,
			"hint: give it to one agent, as in: claude mcp add term -- gateway mcp "+
				"--agent-token %s\n", path)
	}
	return env.PrintAnswer(map[string]any{"name": t.Name, "role": t.Role, "file": path},
		"saved in "+path)
}
