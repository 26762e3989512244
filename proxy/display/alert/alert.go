// Package alert makes the control strings with which a terminal shows a desktop notification, for
// terminals known to support it. It writes nothing to the terminal itself and does not depend on
// sessions.
package alert

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

// Kind is a control string for notifications.
type Kind uint8

// The kinds. They move nothing on the screen.
const (
	None   Kind = iota
	OSC9        // iTerm2's; many terminals show its text
	OSC777      // rxvt's, with a title
	OSC99       // kitty's, shown only while its window has no focus
)

// knownTerminals lists the terminals that show notifications, by a lower-case prefix of their name:
// in TERM, in TERM_PROGRAM, or in the answer to the question for their version (XTVERSION).
var knownTerminals = []struct {
	name string
	kind Kind
}{
	{"xterm-kitty", OSC99},
	{"kitty", OSC99},
	{"xterm-ghostty", OSC777},
	{"ghostty", OSC777},
	{"foot", OSC777},
	{"wezterm", OSC777},
	{"contour", OSC777},
	{"iterm", OSC9},
	{"warpterminal", OSC9},
}

// kindOf returns the kind of control string for a terminal with one of these names.
func kindOf(names ...string) Kind {
	for _, name := range names {
		for _, k := range knownTerminals {
			if strings.HasPrefix(strings.ToLower(name), k.name) {
				return k.kind
			}
		}
	}
	return None
}

// Terminal describes the user's terminal.
type Terminal struct {
	Env func(string) string
	// Forced sends OSC 9 to an unknown terminal.
	Forced bool
	// Tmux asks the enclosing tmux for the names of the terminal around it, and whether it passes a
	// program's sequences through to that terminal; nil runs the tmux command.
	Tmux func(ctx context.Context) (names []string, passes bool)
}

// tmuxPatience bounds the question to tmux.
const tmuxPatience = time.Second

// Bytes returns the bytes that make the terminal show text, or nil if the terminal cannot. Inside
// tmux it asks tmux, which may take a moment.
func (t Terminal) Bytes(text string) []byte {
	if t.Env("TMUX") == "" {
		return t.controlString(kindOf(t.Env("TERM"), t.Env("TERM_PROGRAM"), t.Env("LC_TERMINAL")), text)
	}
	ask := t.Tmux
	if ask == nil {
		ask = func(ctx context.Context) ([]string, bool) { return askTmux(ctx, t.Env("TMUX_PANE")) }
	}
	ctx, cancel := context.WithTimeout(context.Background(), tmuxPatience)
	defer cancel()
	names, passes := ask(ctx)
	if !passes {
		return nil
	}
	return wrapForTmux(t.controlString(kindOf(names...), text))
}

func (t Terminal) controlString(kind Kind, text string) []byte {
	if kind == None && t.Forced {
		kind = OSC9
	}
	text = plainText(text)
	switch kind {
	case OSC9:
		return []byte("\x1b]9;" + text + "\x1b\\")
	case OSC777:
		return []byte("\x1b]777;notify;proxy;" + text + "\x1b\\")
	case OSC99:
		return []byte("\x1b]99;i=proxy:o=unfocused;" + text + "\x1b\\")
	case None:
	}
	return nil
}

// plainText returns text without characters that a terminal could interpret: printable ASCII
// without semicolons, which separate fields. It never begins with a digit, which ConEmu takes for a
// command of OSC 9 (SAFETY R43).
func plainText(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == ';' {
			return '?'
		}
		return r
	}, text)
	if text != "" && text[0] >= '0' && text[0] <= '9' {
		text = " " + text
	}
	return text
}

// wrapForTmux addresses a control string to the terminal around tmux (tmux(1), allow-passthrough).
func wrapForTmux(control []byte) []byte {
	if control == nil {
		return nil
	}
	return []byte("\x1bPtmux;" + strings.ReplaceAll(string(control), "\x1b", "\x1b\x1b") + "\x1b\\")
}

// askTmux asks the tmux in which this process runs.
func askTmux(ctx context.Context, pane string) (names []string, passes bool) {
	args := []string{"display-message", "-p"}
	if pane != "" {
		args = append(args, "-t", pane)
	}
	out, err := exec.CommandContext(ctx, "tmux", append(args, "#{allow-passthrough}\n#{client_termtype}\n#{client_termname}")...).Output()
	if err != nil {
		return nil, false
	}
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	switch lines[0] {
	case "1", "on", "all": // tmux 3.3 prints 1 for on
		return lines[1:], true
	}
	return nil, false
}
