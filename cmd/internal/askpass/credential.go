package askpass

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"terminalproxy/gateway/access/secrets"
)

// credentialWord is the argument that makes the helper a credential helper of git. git adds the
// action (gitcredentials(7)).
const credentialWord = "credential"

// maxCredential bounds what git tells of a credential, in bytes.
const maxCredential = 64 << 10

// isCredential reports whether git starts this process as a credential helper: a prompt is one
// argument.
func isCredential() bool { return len(os.Args) == 3 && os.Args[1] == credentialWord }

// serveCredential acts as a credential helper of git (git-credential(1)), for coding agents that
// take GIT_ASKPASS from their commands. It answers only a git that a coding agent runs. Without an
// answer git asks as usual. It stores nothing. The result is the exit status.
func serveCredential(action string, in io.Reader, out io.Writer) int {
	host, user, known := readCredential(in)
	if action != "get" || !known {
		return 0
	}
	isAgents := false
	ask := func(prompt string) ([]byte, error) {
		return askUser(secrets.Question{
			Kind: secrets.KindOf(prompt, ""), Prompt: secrets.CleanPrompt(prompt),
			Proceed: func(agent string) error {
				if isAgents = agent != ""; !isAgents {
					return errOthers
				}
				return nil
			},
		})
	}
	answer, err := []byte(user), error(nil)
	if user == "" {
		answer, err = ask("Username for '" + host + "': ")
		user = string(answer)
	}
	if err == nil {
		place := strings.Replace(host, "://", "://"+url.PathEscape(user)+"@", 1)
		answer, err = ask("Password for '" + place + "': ")
	}
	if err == nil && (strings.ContainsAny(user, "\n\x00") || bytes.ContainsAny(answer, "\n\x00")) {
		err = errors.New("git takes no line break")
	}
	switch {
	case err != nil && !isAgents:
		return 0
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", Name, err)
		_, _ = io.WriteString(out, "quit=1\n") // or git would ask by other ways
		return 1
	}
	text := append([]byte("username="+user+"\npassword="), answer...)
	text = append(text, '\n')
	_, err = out.Write(text)
	clear(answer)
	clear(text)
	if err != nil {
		return 1
	}
	return 0
}

// readCredential reads what git asks for: the place as git writes it in its own prompts, and the
// user, if git knows one. known is false if git does not ask for the password of a website.
func readCredential(in io.Reader) (host, user string, known bool) {
	values := map[string]string{}
	data, err := io.ReadAll(io.LimitReader(in, maxCredential+1))
	if err != nil || len(data) > maxCredential {
		return "", "", false
	}
	for line := range strings.Lines(string(data)) {
		if line == "\n" {
			break
		}
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		values[key] = value
	}
	scheme := values["protocol"]
	if scheme != "http" && scheme != "https" || values["host"] == "" {
		return "", "", false
	}
	host = scheme + "://" + values["host"]
	if values["path"] != "" {
		host += "/" + values["path"]
	}
	return host, values["username"], true
}
