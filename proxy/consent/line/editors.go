package line

import (
	"path"
	"slices"
	"strings"
)

// editor is a program that edits lines itself, in raw mode.
type editor struct {
	// isEditing recognises the mode of its line editor, apart from the modes in which it, or a
	// script in it, reads single keys. The settings were observed in the programs of Debian 12, and
	// read in the source of Python 3.13.
	isEditing func(s Settings, paste bool) bool
	// runsScript reports whether arguments make it run a script rather than prompt.
	runsScript func(args []string) bool
	// evaluating holds the characters that make it evaluate something while they are typed.
	evaluating string
	// utf8 means that it reads keys as UTF-8, or each byte as a character, in every locale.
	utf8 bool
	// noBrackets means that it does not understand bracketed paste, even when enabled.
	noBrackets bool
	// keepsMode means that it stays in this mode while the code that it evaluates waits. It also
	// has timers of its own: V8 collects garbage for a while.
	keepsMode bool
	// repeats reports whether an empty line at that prompt runs the last command again.
	repeats func(prompt string) bool
	// isWindow recognises the mode in which its prompt is in a window of the alternate screen; nil
	// without such a mode.
	isWindow func(s Settings) bool
	// keepsLine means that an interrupt leaves the line as it is.
	keepsLine bool
}

// inPrompts returns a test for a few prompts.
func inPrompts(all ...string) func(prompt string) bool {
	return func(prompt string) bool { return slices.Contains(all, prompt) }
}

// isReadline recognises GNU Readline: it reads the carriage return itself and disables the
// literal-next key, which neither cbreak mode (bash's read -sn1, Python's tty.setcbreak) nor
// cfmakeraw does.
func isReadline(s Settings, _ bool) bool {
	return s.Output && s.Signals && !s.CRToNL && s.LiteralNext == 0
}

// isCbreak recognises the mode that gdb's text interface sets with curses (cbreak, noecho, nonl).
func isCbreak(s Settings) bool { return s.Output && s.Signals && !s.CRToNL && s.Extended }

// isZLE recognises zsh's line editor. read -k leaves the kernel's keys as they were.
func isZLE(s Settings, _ bool) bool {
	return s.Output && s.NLToCR && s.LiteralNext == 0 && s.Quit == 0 && s.Suspend == 0
}

// isFish recognises fish, which uses one mode for its prompt and for its builtin read: read -n 1
// cannot be told from a prompt.
func isFish(s Settings, _ bool) bool {
	return s.Output && !s.CRToNL && !s.Extended && s.Quit == 0 && s.Suspend == 0
}

// isPython recognises Readline before 3.13, and since then Python's own line editor, which always
// enables bracketed paste.
func isPython(s Settings, paste bool) bool {
	return isReadline(s, paste) || paste && s.Output && s.Signals && !s.Flow && !s.Extended
}

// isPromptToolkit recognises the line editor of IPython.
func isPromptToolkit(s Settings, paste bool) bool {
	return paste && s.Output && !s.Signals && !s.CRToNL && !s.Extended && !s.Flow
}

// isLibuv recognises the raw mode of Node.
func isLibuv(s Settings, _ bool) bool {
	return s.Output && !s.Signals && !s.CRToNL && !s.Extended && !s.Flow
}

// editors holds the known editors, by the name of their executable without a version. irb is
// missing on purpose: to suggest methods, it evaluates the text before a dot while it is typed.
var editors = map[string]editor{
	"bash": {isEditing: isReadline, runsScript: hasOperand("c", "o", "O", "rcfile", "init-file")},
	"zsh":  {isEditing: isZLE, runsScript: hasOperand("c", "o")},
	"fish": {
		isEditing:  isFish,
		runsScript: hasOperand("c", "C", "init-command", "d", "debug", "f", "features", "o"),
		utf8:       true,
	},
	"python": {isEditing: isPython, runsScript: hasOperand("cm", "W", "X"), repeats: inPrompts("(Pdb)")},
	"ipython": {
		isEditing:  isPromptToolkit,
		runsScript: always,
		utf8:       true,
		repeats:    inPrompts("ipdb>", "(Pdb)"),
	},
	// the preview evaluates members
	"node": {
		isEditing:  isLibuv,
		runsScript: hasOperand("ep", "r", "require", "import"),
		evaluating: ".[",
		utf8:       true,
		noBrackets: true,
		keepsMode:  true,
	},
	"psql": {isEditing: isReadline, runsScript: never},
	"gdb": {
		isEditing:  isReadline,
		runsScript: never,
		repeats:    func(prompt string) bool { return prompt != ">" },
		isWindow:   isCbreak,
	},
	"sqlite3": {isEditing: isReadline, runsScript: never, keepsLine: true},
}

// findEditor returns the line editor of a program, if it has a known one.
func findEditor(p Program) (editor, bool) {
	name := strings.TrimSuffix(path.Base(p.Exe), " (deleted)") // replaced by an upgrade; proc(5)
	name = strings.TrimRight(name, "0123456789.-")
	args := p.Args
	switch {
	case name == "sqlite":
		name = "sqlite3"
	case name == "nodejs":
		name = "node"
	case name == "python" && isIPython(args):
		name = "ipython"
		args = nil
	}
	e, ok := editors[name]
	if !ok || len(args) > 1 && e.runsScript(args[1:]) {
		return editor{}, false
	}
	return e, true
}

// isIPython reports whether Python was started as plain IPython.
func isIPython(args []string) bool {
	var operands []string
	for i := 1; i < len(args); i++ {
		switch {
		case args[i] == "-m" && i+1 < len(args) && args[i+1] == "IPython":
			return !slices.ContainsFunc(args[i+2:], isOperand)
		case isOperand(args[i]):
			operands = append(operands, args[i])
		}
	}
	return len(operands) == 1 &&
		strings.TrimRight(path.Base(operands[0]), "0123456789.") == "ipython"
}

func isOperand(arg string) bool { return arg != "" && arg[0] != '-' }

func always([]string) bool { return true }
func never([]string) bool  { return false }

// hasOperand returns [findOperand] for these options.
func hasOperand(runs string, takers ...string) func(args []string) bool {
	return func(args []string) bool { return findOperand(args, runs, takers) }
}

// findOperand reports whether arguments have an operand, a script to run, or an option that names a
// command. runs are the letters of such options; takers are options, short or long, whose value is
// the next argument.
func findOperand(args []string, runs string, takers []string) bool {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "" || a == "-" || a == "+":
		case a == "--":
			return i+1 < len(args)
		case strings.HasPrefix(a, "--"):
			name, _, given := strings.Cut(a[2:], "=")
			if name == "command" || name == "eval" || name == "print" {
				return true
			}
			if !given && slices.Contains(takers, name) {
				i++
			}
		case a[0] == '-' || a[0] == '+':
			if strings.ContainsAny(a[1:], runs) {
				return true
			}
			if slices.Contains(takers, a[len(a)-1:]) {
				i++
			}
		default:
			return true
		}
	}
	return false
}
