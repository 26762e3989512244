// Package terminals lists the proxy's keys that a terminal or multiplexer keeps for itself, and the
// keys that its user presses instead. Its facts are as of the dates beside [All]; it assumes that
// an unknown terminal keeps no keys.
package terminals

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	"terminalproxy/proxy/terminal/keys"
)

// Terminal is a terminal or multiplexer, which reads the user's keys before the proxy does.
type Terminal struct {
	Name string
	// Keeps are the keys that do not arrive with the default settings, by their names in
	// [keys.CtrlKey].
	Keeps []Kept
	// Instead is a key that arrives as Ctrl+G with any settings, as people write it; "" if only
	// Ctrl+G does.
	Instead string
	// Grant is the default grant key, and Other replaces it if Grant is the reclaim key; "" is
	// Ctrl+G.
	Grant, Other string
	// Free describes how to make the keys arrive.
	Free string

	matches func(env func(string) string) bool
	// ask asks the multiplexer which keys it keeps now; nil if it cannot answer.
	ask func(ctx context.Context) ([]Kept, error)
}

// Kept is a key that does not arrive.
type Kept struct {
	Key  string // the pressed key
	As   string // the reclaim or grant key that it sends if it arrives
	Does string // its effect in the terminal
	// Command runs in VS Code.
	Command string
}

// Label returns the key as people write it.
func (k Kept) Label() string {
	return "Ctrl+" + strings.ToUpper(strings.TrimPrefix(k.Key, "ctrl-"))
}

// All holds the terminals, the innermost first: a multiplexer keeps the variables of the terminal
// in which it was started.
//
// Checked on 26 November 2026. zellij: zellij-utils/assets/config/default.kdl at commit 005d2da
// binds Ctrl+G in every mode, and never the reclaim key. VS Code 1.100.3: testdata has its
// DEFAULT_COMMANDS_TO_SKIP_SHELL, and Ctrl+Alt+G sends 0x07 whenever the terminal has the focus.
// Windows Terminal: defaults.json at commit 0175639 binds none of these keys. tmux and screen keep
// only their prefix. JetBrains' IDEs pass all keys on while "Override IDE shortcuts" is on, which
// is the default.
var All = []*Terminal{
	{
		Name: "zellij",
		Keeps: []Kept{
			{Key: "ctrl-g", As: "ctrl-g", Does: "locks and unlocks it"},
			{Key: "ctrl-o", As: "ctrl-o", Does: "opens its session mode"},
			{Key: "ctrl-t", As: "ctrl-t", Does: "opens its tab mode"},
		},
		Grant: "ctrl-]", Other: "ctrl-^",
		Free:    `unbind it in zellij's config.kdl, as in: keybinds { unbind "Ctrl g"; }`,
		matches: hasVariable("ZELLIJ"),
	},
	{
		Name:    "tmux",
		Free:    `tmux unbind-key -n KEY, or another prefix, in ~/.tmux.conf`,
		matches: hasVariable("TMUX"), ask: askTmux,
	},
	{
		Name:    "screen",
		Free:    "screen keeps only its prefix (Ctrl+A, or what `escape` in ~/.screenrc says)",
		matches: hasVariable("STY"),
	},
	{
		Name:    "VS Code",
		Keeps:   vsCode,
		Instead: "Ctrl+Alt+G",
		Free: "gateway init vscode prints the settings that free Ctrl+G and Ctrl+4; " +
			"put them into settings.json and reload the window (on a Mac both arrive anyway)",
		matches: func(env func(string) string) bool { return env("TERM_PROGRAM") == "vscode" },
	},
	{
		Name: "JetBrains",
		Free: `leave "Override IDE shortcuts" on, in Settings, Tools, Terminal`,
		matches: func(env func(string) string) bool {
			return strings.HasPrefix(env("TERMINAL_EMULATOR"), "JetBrains")
		},
	},
	{
		Name:    "Windows Terminal",
		matches: hasVariable("WT_SESSION"),
	},
}

// vsCode holds the keys of the commands that VS Code does not send to the shell. Layouts without
// the symbol send the key by the digit.
var vsCode = []Kept{
	{
		"ctrl-g", "ctrl-g", "goes to a recent directory",
		"workbench.action.terminal.goToRecentDirectory",
	},
	{"ctrl-4", `ctrl-\`, "goes to an editor", "workbench.action.focusFourthEditorGroup"},
	{"ctrl-5", "ctrl-]", "goes to an editor", "workbench.action.focusFifthEditorGroup"},
	{"ctrl-6", "ctrl-^", "goes to an editor", "workbench.action.focusSixthEditorGroup"},
	{"ctrl-7", "ctrl-_", "goes to an editor", "workbench.action.focusSeventhEditorGroup"},
}

// hasVariable returns a test for an environment variable.
func hasVariable(name string) func(func(string) string) bool {
	return func(env func(string) string) bool { return env(name) != "" }
}

// Find returns the terminal of an environment, or nil if it is unknown.
func Find(env func(string) string) *Terminal {
	if i := slices.IndexFunc(All, func(t *Terminal) bool { return t.matches(env) }); i >= 0 {
		return All[i]
	}
	return nil
}

// GrantKey returns the default grant key.
func (t *Terminal) GrantKey(reclaim keys.CtrlKey) keys.CtrlKey {
	if t != nil {
		for _, name := range []string{t.Grant, t.Other} {
			if key, err := keys.ParseGrantKey(name); err == nil && key != reclaim {
				return key
			}
		}
	}
	return keys.Bindings{}.WithDefaults().Grant
}

// Label returns the key that people press here for the grant key.
func (t *Terminal) Label(grant keys.CtrlKey) string {
	return grant.LabelAt(t.ForCtrlG())
}

// ForCtrlG returns the key that arrives as Ctrl+G if Ctrl+G itself may not; "" if there is no such
// key.
func (t *Terminal) ForCtrlG() string {
	if t == nil {
		return ""
	}
	return t.Instead
}

// FindKept returns the presses of a key that do not arrive. It may ask the multiplexer, until ctx
// ends.
func (t *Terminal) FindKept(ctx context.Context, key keys.CtrlKey) (kept []Kept, err error) {
	all := t.Keeps
	if t.ask != nil {
		if all, err = t.ask(ctx); err != nil {
			return nil, err
		}
	}
	for _, k := range all {
		if k.As == key.String() {
			kept = append(kept, k)
		}
	}
	return kept, nil
}

// AsksMultiplexer reports whether FindKept asks the multiplexer, and does not rely on the default
// settings.
func (t *Terminal) AsksMultiplexer() bool { return t.ask != nil }

// VSCodeSettings returns the values of VS Code's terminal.integrated.commandsToSkipShell that let
// both keys arrive.
func VSCodeSettings() (off []string) {
	for _, k := range vsCode {
		if k.As == "ctrl-g" || k.As == `ctrl-\` {
			off = append(off, "-"+k.Command)
		}
	}
	return off
}

// tmuxPatience bounds a question to tmux.
const tmuxPatience = time.Second

// askTmux asks tmux for its prefixes and for its key bindings without a prefix.
func askTmux(ctx context.Context) ([]Kept, error) {
	ctx, cancel := context.WithTimeout(ctx, tmuxPatience)
	defer cancel()
	prefixes, err := exec.CommandContext(ctx, "tmux",
		"show-options", "-gv", "prefix", ";", "show-options", "-gv", "prefix2").Output()
	if err != nil {
		return nil, err
	}
	bound, err := exec.CommandContext(ctx, "tmux", "list-keys", "-T", "root").Output()
	if err != nil {
		return nil, err
	}
	return tmuxKeeps(string(prefixes), string(bound)), nil
}

// tmuxKeeps parses tmux's output: its prefixes, one a line, and the keys of its root table as
// bind-key [-r] -T root KEY COMMAND.
func tmuxKeeps(prefixes, bound string) (all []Kept) {
	keep := func(name, does string) {
		name = strings.ToLower(strings.ReplaceAll(strings.Trim(name, `"'`), `\\`, `\`))
		if key, ok := strings.CutPrefix(name, "c-"); ok {
			all = append(all, Kept{Key: "ctrl-" + key, As: "ctrl-" + key, Does: does})
		}
	}
	for _, name := range strings.Fields(prefixes) {
		keep(name, "is tmux's prefix")
	}
	for line := range strings.Lines(bound) {
		fields := strings.Fields(line)
		if i := slices.Index(fields, "root"); i > 0 && i+2 < len(fields) {
			keep(fields[i+1], "runs "+strings.Join(fields[i+2:], " "))
		}
	}
	return all
}
