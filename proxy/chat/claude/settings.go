package claude

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// launch is how Claude Code is started.
type launch struct {
	config TUIConfig
	chosen string // our permission mode on the command line, "" if the user's arguments decide
}

// Arguments returns Claude Code's arguments: the user's, our hooks, and the id of a new
// conversation.
func (l *launch) Arguments() ([]string, error) {
	args, theirs := slices.Clone(l.config.Args), ""
	if hasFlag(args, "-p", "--print") {
		return nil, errors.New("--chat goes with the interface of claude, which -p leaves out: use gateway chat, or leave out --chat")
	}
	for i := 0; i < len(args); i++ {
		value, joined := strings.CutPrefix(args[i], "--settings=")
		switch {
		case args[i] == "--":
			i = len(args)
		case joined:
			theirs = value
			args = slices.Delete(args, i, i+1)
			i--
		case args[i] == "--settings" && i+1 < len(args):
			theirs = args[i+1]
			args = slices.Delete(args, i, i+2)
			i--
		}
	}
	settings, err := withHooks(theirs, l.config.Hook)
	if err != nil {
		return nil, fmt.Errorf("--settings: %w", err)
	}
	ours := []string{"--settings", settings}
	if !hasFlag(args, conversationFlags...) {
		ours = append(ours, "--session-id", l.config.ID)
	}
	if !hasFlag(args, permissionFlags...) {
		own := defaultMode(userSettings(l.config.Settings))
		l.chosen = cmp.Or(defaultMode([]byte(settings)), own, asksMode)
		ours = append(ours, "--permission-mode", l.chosen)
	}
	return append(ours, args...), nil
}

// asksMode is the permission mode in which Claude Code asks a person; that of a new configuration
// has a model decide.
const asksMode = "default"

// defaultMode reads the permission mode from settings, "" if they name no mode.
func defaultMode(settings []byte) string {
	var m struct{ Permissions struct{ DefaultMode string } }
	_ = json.Unmarshal(settings, &m) // Claude Code reports errors in them
	return m.Permissions.DefaultMode
}

// userSettings reads the user's settings from a file; nil if it is missing.
func userSettings(path string) []byte {
	if path == "" {
		return nil
	}
	b, _ := os.ReadFile(path)
	return b
}

// startMode returns the permission mode from the command line, "" if it is not known.
func (l *launch) startMode() string {
	mode := l.chosen
	for i, arg := range l.config.Args {
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return mode
		case name == "--dangerously-skip-permissions":
			return "bypassPermissions"
		case name == "--permission-mode" && joined:
			mode = value
		case name == "--permission-mode" && i+1 < len(l.config.Args):
			mode = l.config.Args[i+1]
		}
	}
	return mode
}

// conversationFlags are flags that say which conversation it is.
var conversationFlags = []string{
	"--session-id", "--resume", "-r", "--continue", "-c", "--fork-session", "--from-pr", "--teleport",
}

// Conversation returns the id of the conversation, "" if the arguments leave the choice until
// later.
func (l *launch) Conversation() string {
	for i, arg := range l.config.Args {
		name, value, joined := strings.Cut(arg, "=")
		if arg == "--" {
			break
		}
		if !slices.Contains(conversationFlags, name) {
			continue
		}
		if !joined && i+1 < len(l.config.Args) {
			value = l.config.Args[i+1]
		}
		if name != "--session-id" && name != "--resume" && name != "-r" || !isID(value) {
			return ""
		}
		return value
	}
	return l.config.ID
}

// LeavesChoice reports whether the arguments have a person pick the conversation at the terminal.
func (l *launch) LeavesChoice() bool {
	for i, arg := range l.config.Args {
		name, value, joined := strings.Cut(arg, "=")
		if arg == "--" {
			break
		}
		if !joined && i+1 < len(l.config.Args) {
			value = l.config.Args[i+1]
		}
		if (name == "--resume" || name == "-r") && !isID(value) {
			return true
		}
	}
	return false
}

// isID reports whether a text is a UUID.
func isID(s string) bool {
	return len(s) == 36 && strings.Count(s, "-") == 4 && strings.Trim(s, "0123456789abcdefABCDEF-") == ""
}

// hasFlag reports whether the arguments contain one of the flags.
func hasFlag(args []string, flags ...string) bool {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return false
		case slices.Contains(flags, name):
			return true
		}
	}
	return false
}

// withHooks adds our hooks to the user's settings, which are a file or JSON.
func withHooks(theirs, command string) (string, error) {
	settings := map[string]json.RawMessage{}
	if theirs != "" {
		b := []byte(theirs)
		if !strings.HasPrefix(strings.TrimSpace(theirs), "{") {
			var err error
			if b, err = os.ReadFile(theirs); err != nil {
				return "", err
			}
		}
		if err := json.Unmarshal(b, &settings); err != nil {
			return "", err
		}
	}
	hooks := map[string][]any{}
	if there := settings["hooks"]; there != nil {
		if err := json.Unmarshal(there, &hooks); err != nil {
			return "", fmt.Errorf("hooks: %w", err)
		}
	}
	for _, event := range hookEvents {
		patience := 2 * int(hookPatience.Seconds())
		if event == "PermissionRequest" {
			patience = askPatience
		}
		hooks[event] = append(hooks[event], map[string]any{
			"hooks": []any{map[string]any{
				"type": "command", "command": command + " " + event, "timeout": patience,
			}},
		})
	}
	var err error
	if settings["hooks"], err = json.Marshal(hooks); err != nil {
		return "", err
	}
	b, err := json.Marshal(settings)
	return string(b), err
}
