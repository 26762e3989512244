package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/proxy"
)

// TerminalPatience is how long a terminal may block before the person is detached.
const TerminalPatience = time.Minute

const hintOwnerToken = "create one with: gateway token create owner --role owner --save"

// OwnerToken returns the owner's token: from the file that the command line names, otherwise from
// the default file, otherwise from the file that the environment names, which may be an agent's.
func (env *Env) OwnerToken() (string, error) {
	own, err := userdirs.OwnerTokenPath()
	if err != nil {
		return "", err
	}
	path := own
	if _, missing := os.Lstat(own); env.TokenFile != "" && (env.TokenNamed || missing != nil) {
		path = env.TokenFile
	}
	token, err := auth.ReadTokenFile(path)
	switch {
	case path == own && errors.Is(err, fs.ErrNotExist):
		return "", Fail(StatusForbidden, "%s: there is no owner token at %s", env.Command,
			path).WithHint(hintOwnerToken)
	case err != nil:
		return "", &Failure{Status: StatusForbidden, Cause: err, Hint: hintOwnerToken}
	}
	return token, nil
}

var errNotAgreed = errors.New("cancelled, nothing was changed")

// RequirePerson returns the terminal at which the owner confirms. An act that gives agents rights
// always needs one: an agent's shell has no terminal at which to confirm.
func (env *Env) RequirePerson() (*os.File, error) {
	in, ok := env.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil, Fail(StatusForbidden,
			"%s: standard input is not a terminal, so no person can be asked", env.Command).
			WithHint(
				"run it in a terminal, as the owner; an agent asks with: gateway request ID " +
					"--reason REASON")
	}
	return in, nil
}

// RequireOutside refuses an act that only a person may do, if an agent may be typing.
func (env *Env) RequireOutside(hint string) error {
	if session := os.Getenv(proxy.SessionVariable); session != "" {
		return Fail(StatusForbidden,
			"%s: this shell runs inside the session %s, where an agent may be typing", env.Command,
			session).WithHint(hint)
	}
	return nil
}

// AskAgreement asks the owner to confirm with yes.
func (env *Env) AskAgreement(ctx context.Context, in io.Reader, question string) error {
	_, _ = fmt.Fprintf(env.Err, "%s [y/N] ", question)
	answer := make(chan string, 1)
	// ends with a line or with the process
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case said := <-answer:
		if said == "y" || said == "yes" {
			return nil
		}
	case <-ctx.Done():
	}
	return Fail(StatusRefused, "%s: %w", env.Command, errNotAgreed)
}

// RequireTerminal returns the terminal for a program that draws. Without one it fails; the argument
// is the hint at the alternative.
func (env *Env) RequireTerminal(without string) (in, out *os.File, err error) {
	in, isIn := env.In.(*os.File)
	out, isOut := env.Out.(*os.File)
	if !isIn || !isOut || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return nil, nil, Fail(StatusUsage,
			"standard input and output must be a terminal").WithHint(without)
	}
	return in, out, nil
}
