// Package terminals knows which of the proxy's keys a terminal, or a multiplexer around the
// program, keeps for itself, and what its user presses there instead. What it knows is of the dates
// beside [All]; a terminal that it does not know keeps nothing.
package terminals

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	"terminalproxy/proxy/keys"
)

// Terminal is what reads the user's keys before the proxy does.
type Terminal struct {
	Name string
	// Keeps are the keys that do not arrive, as this terminal is set up when it comes, by the name
	// that [keys.CtrlKey] has.
	Keeps []Kept
	// Instead is what arrives as Ctrl+G whatever the settings are, as people write it; "" where
	// nothing but Ctrl+G does.
	Instead string
	// Grant is the grant key here unless the user names one, and Other the one where that is the
	// reclaim key; "" is Ctrl+G.
	Grant, Other string
	// Free says how to have the keys arrive.
	Free string

	is func(env func(string) string) bool
	// ask asks the multiplexer what it keeps now; nil where that cannot be asked.
	ask func(ctx context.Context) ([]Kept, error)
}

// Kept is a key that does not arrive.
type Kept struct {
	Key  string // the key that is pressed
	As   string // the reclaim or grant key that it sends where it does arrive
	Does string // what it does instead
	// Command is the one that it runs in VS Code.
	Command string
}

// Label returns the key as people write it.
func (k Kept) Label() string { return "Ctrl+" + strings.ToUpper(strings.TrimPrefix(k.Key, "ctrl-")) }

// All are the terminals, what is innermost first: a multiplexer keeps the variables of the terminal
// that it was started in.
//
// Looked up on 26 November 2026. zellij: zellij-utils/assets/config/default.kdl at commit 005d2da
// binds Ctrl+G in every mode, and the reclaim key in none. VS Code 1.100.3: its
// DEFAULT_COMMANDS_TO_SKIP_SHELL is in testdata, and Ctrl+Alt+G sends 0x07 whenever the terminal has
// the focus. Windows Terminal: defaults.json at commit 0175639 binds no key that can be one of these.
// tmux and screen keep their prefix alone. JetBrains' IDEs pass all keys on while "Override IDE
// shortcuts" is on, as it is by default.
var All = []*Terminal{
	{
		Name: "zellij",
		Keeps: []Kept{
			{Key: "ctrl-g", As: "ctrl-g", Does: "locks and unlocks it"},
			{Key: "ctrl-o", As: "ctrl-o", Does: "opens its session mode"},
			{Key: "ctrl-t", As: "ctrl-t", Does: "opens its tab mode"},
		},
		Grant: "ctrl-]", Other: "ctrl-^",
		Free: `unbind it in zellij's config.kdl, as in: keybinds { unbind "Ctrl g"; }`,
		is:   has("ZELLIJ"),
	},
	{
		Name: "tmux",
		Free: `tmux unbind-key -n KEY, or another prefix, in ~/.tmux.conf`,
		is:   has("TMUX"), ask: askTmux,
	},
	{
		Name: "screen",
		Free: "screen keeps its prefix alone (Ctrl+A, or what `escape` in ~/.screenrc says)",
		is:   has("STY"),
	},
	{
		Name:    "VS Code",
		Keeps:   vsCode,
		Instead: "Ctrl+Alt+G",
		Free:    "gateway init vscode prints the settings that free Ctrl+G and Ctrl+4; put them into settings.json and reload the window (on a Mac both arrive anyway)",
		is:      func(env func(string) string) bool { return env("TERM_PROGRAM") == "vscode" },
	},
	{
		Name: "JetBrains",
		Free: `leave "Override IDE shortcuts" on, in Settings, Tools, Terminal`,
		is:   func(env func(string) string) bool { return strings.HasPrefix(env("TERMINAL_EMULATOR"), "JetBrains") },
	},
	{
		Name: "Windows Terminal",
		is:   has("WT_SESSION"),
	},
}

// vsCode are the keys that run one of the commands that VS Code keeps from the shell. The digits
// are what sends the key on a layout without the symbol.
var vsCode = []Kept{
	{"ctrl-g", "ctrl-g", "goes to a recent directory", "workbench.action.terminal.goToRecentDirectory"},
	{"ctrl-4", `ctrl-\`, "goes to an editor", "workbench.action.focusFourthEditorGroup"},
	{"ctrl-5", "ctrl-]", "goes to an editor", "workbench.action.focusFifthEditorGroup"},
	{"ctrl-6", "ctrl-^", "goes to an editor", "workbench.action.focusSixthEditorGroup"},
	{"ctrl-7", "ctrl-_", "goes to an editor", "workbench.action.focusSeventhEditorGroup"},
}

// has reports whether a variable is there.
func has(name string) func(func(string) string) bool {
	return func(env func(string) string) bool { return env(name) != "" }
}

// Find returns the terminal that an environment speaks of, nil for one that is not known.
func Find(env func(string) string) *Terminal {
	if i := slices.IndexFunc(All, func(t *Terminal) bool { return t.is(env) }); i >= 0 {
		return All[i]
	}
	return nil
}

// GrantKey returns the grant key of a user who names none.
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

// Label returns what people press for the grant key here.
func (t *Terminal) Label(grant keys.CtrlKey) string {
	return grant.LabelAt(t.ForCtrlG())
}

// ForCtrlG returns what arrives as Ctrl+G where that does not; "" where it does, or nothing else
// would.
func (t *Terminal) ForCtrlG() string {
	if t == nil {
		return ""
	}
	return t.Instead
}

// Kept returns which presses of a key do not arrive. It may ask the multiplexer, which is bounded
// by ctx.
func (t *Terminal) Kept(ctx context.Context, key keys.CtrlKey) (kept []Kept, err error) {
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

// Asks reports whether Kept knows what the terminal keeps now, and not only how it comes.
func (t *Terminal) Asks() bool { return t.ask != nil }

// VSCodeSettings are the commands that VS Code's terminal.integrated.commandsToSkipShell takes off
// its list, so that both keys arrive.
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

// askTmux asks tmux for its prefixes and for what it binds without one.
func askTmux(ctx context.Context) ([]Kept, error) {
	ctx, cancel := context.WithTimeout(ctx, tmuxPatience)
	defer cancel()
	prefixes, err := exec.CommandContext(ctx, "tmux", "show-options", "-gv", "prefix", ";", "show-options", "-gv", "prefix2").Output()
	if err != nil {
		return nil, err
	}
	bound, err := exec.CommandContext(ctx, "tmux", "list-keys", "-T", "root").Output()
	if err != nil {
		return nil, err
	}
	return tmuxKeeps(string(prefixes), string(bound)), nil
}

// tmuxKeeps reads what tmux says of its prefixes, one a line, and of the keys of its root table:
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
