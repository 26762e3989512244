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

// Arguments are those for Claude Code: the user's, with our hooks, and with the id of a new conversation.
func (d *TUI) Arguments() ([]string, error) {
	args, theirs := slices.Clone(d.config.Args), ""
	if has(args, "-p", "--print") {
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
	settings, err := withHooks(theirs, d.config.Hook)
	if err != nil {
		return nil, fmt.Errorf("--settings: %w", err)
	}
	ours := []string{"--settings", settings}
	if !has(args, resuming...) {
		ours = append(ours, "--session-id", d.config.ID)
	}
	if !has(args, asking...) {
		d.chosen = cmp.Or(defaultMode([]byte(settings)), defaultMode(userSettings(d.config.Settings)), asksMode)
		ours = append(ours, "--permission-mode", d.chosen)
	}
	return append(ours, args...), nil
}

// asksMode is the permission mode in which Claude Code asks a person; that of a new configuration has a model decide.
const asksMode = "default"

// defaultMode is the permission mode that settings name, "" for none.
func defaultMode(settings []byte) string {
	var m struct{ Permissions struct{ DefaultMode string } }
	_ = json.Unmarshal(settings, &m) // Claude Code says what is wrong with them
	return m.Permissions.DefaultMode
}

// userSettings are the user's settings in a file, nil where there are none.
func userSettings(path string) []byte {
	if path == "" {
		return nil
	}
	b, _ := os.ReadFile(path)
	return b
}

// startMode is the permission mode that the command line names, "" where that is not known.
func (d *TUI) startMode() string {
	mode := d.chosen
	for i, arg := range d.config.Args {
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return mode
		case name == "--dangerously-skip-permissions":
			return "bypassPermissions"
		case name == "--permission-mode" && joined:
			mode = value
		case name == "--permission-mode" && i+1 < len(d.config.Args):
			mode = d.config.Args[i+1]
		}
	}
	return mode
}

// resuming are flags that say which conversation it is.
var resuming = []string{"--session-id", "--resume", "-r", "--continue", "-c", "--fork-session", "--from-pr", "--teleport"}

// Conversation is the id of the conversation as far as the arguments tell it: "" for one that is chosen later.
func (d *TUI) Conversation() string {
	for i, arg := range d.config.Args {
		name, value, joined := strings.Cut(arg, "=")
		if arg == "--" {
			break
		}
		if !slices.Contains(resuming, name) {
			continue
		}
		if !joined && i+1 < len(d.config.Args) {
			value = d.config.Args[i+1]
		}
		if name != "--session-id" && name != "--resume" && name != "-r" || !isID(value) {
			return ""
		}
		return value
	}
	return d.config.ID
}

// LeavesChoice reports whether the arguments have a person pick the conversation at the terminal.
func (d *TUI) LeavesChoice() bool {
	for i, arg := range d.config.Args {
		name, value, joined := strings.Cut(arg, "=")
		if arg == "--" {
			break
		}
		if !joined && i+1 < len(d.config.Args) {
			value = d.config.Args[i+1]
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

// has reports whether one of the flags is among the arguments.
func has(args []string, flags ...string) bool {
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

// withHooks are settings, from a file or as JSON, with our hooks behind those that are there.
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
	for _, event := range hooked {
		patience := 2 * int(hookPatience.Seconds())
		if event == "PermissionRequest" {
			patience = askPatience
		}
		hooks[event] = append(hooks[event], map[string]any{
			"hooks": []any{map[string]any{"type": "command", "command": command + " " + event, "timeout": patience}},
		})
	}
	var err error
	if settings["hooks"], err = json.Marshal(hooks); err != nil {
		return "", err
	}
	b, err := json.Marshal(settings)
	return string(b), err
}
