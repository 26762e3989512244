package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"terminalproxy/cmd/internal/askpass"
	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/access/secrets"
)

// linkHelper creates the link under which the gateway's program acts as a helper, and returns its
// path.
func (s *snippet) linkHelper(name string) (path string, err error) {
	if !secrets.Supported {
		return "", cli.Fail(cli.StatusRefused, "init: on this system no program can ask the user")
	}
	if path, err = askpass.Path(name); err == nil {
		err = s.linkProgram(path)
	}
	if err != nil {
		return "", cli.WriteFailure(fmt.Errorf("init: %w", err), "XDG_STATE_HOME")
	}
	return path, nil
}

// linkProgram makes path a link to the gateway's program.
func (s *snippet) linkProgram(path string) error {
	if to, err := os.Readlink(path); err == nil && to == s.gateway {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	err := errors.Join(os.Symlink(s.gateway, fresh), os.Rename(fresh, path))
	if err != nil {
		_ = os.Remove(fresh)
	}
	return err
}

// variables returns the assignments that make sudo, git and ssh ask through the helper, for sh.
// sudo needs a display, whose name may be empty, to use a helper.
func (s *snippet) variables() ([]string, error) {
	path, err := s.linkHelper(askpass.Name)
	if err != nil {
		return nil, err
	}
	path = quoteShell(path)
	return []string{
		"SUDO_ASKPASS=" + path, "GIT_ASKPASS=" + path, "SSH_ASKPASS=" + path,
		"SSH_ASKPASS_REQUIRE=force", `DISPLAY="${DISPLAY-}"`,
	}, nil
}

// agentLines returns the lines for the environment of an agent.
func (s *snippet) agentLines() (string, error) {
	variables, err := s.variables()
	if err != nil {
		return "", err
	}
	return "export " + strings.Join(variables, "\nexport ") + "\n", nil
}

// gitLines returns the lines that make the helper a credential helper of git. git starts it in a
// shell, which execs it: the broker has to see git as its parent.
func (s *snippet) gitLines() (string, error) {
	path, err := s.linkHelper(askpass.Name)
	if err != nil {
		return "", err
	}
	command := strings.NewReplacer(`\`, `\\`, `"`, `\"`).
		Replace("!exec " + quoteShell(path) + " credential")
	return "[credential]\n\thelper = \"" + command + "\"\n", nil
}

// gpgLines returns the line that makes gpg-agent ask through the helper.
func (s *snippet) gpgLines() (string, error) {
	path, err := s.linkHelper(askpass.PinentryName)
	if err != nil {
		return "", err
	}
	return "pinentry-program " + path + "\n", nil // gpg-agent accepts blanks in the path
}

// agentFunctions returns the lines that start each known coding agent with these variables. The
// user's own commands do not get them, and ask at the terminal.
func (s *snippet) agentFunctions(shell string) (string, error) {
	if !secrets.Supported {
		return "", nil
	}
	variables, err := s.variables()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("\n# sudo, git and ssh in a coding agent's own shell ask you, at your terminal.\n")
	for _, name := range secrets.Agents() {
		if shell == "fish" {
			fmt.Fprintf(&b, "function %s --wraps %[1]s; env %s %[1]s $argv; end\n",
				name, strings.Replace(strings.Join(variables, " "), "${DISPLAY-}", "$DISPLAY", 1))
			continue
		}
		fmt.Fprintf(&b, "[[ $- != *i* ]] || function %s { %s command %[1]s \"$@\"; }\n",
			name, strings.Join(variables, " "))
	}
	return b.String(), nil
}
