package line

import (
	"path"
	"slices"
	"strings"
)

// editor is a program that edits lines itself, in raw mode.
type editor struct {
	// raw recognises the mode that its line editor sets, apart from the modes in which it, or a script in it, reads single
	// keys. The figures were read off the programs of Debian 12 and the source of Python 3.13.
	raw func(s Settings, paste bool) bool
	// script reports whether arguments make it run something rather than prompt.
	script func(args []string) bool
	// acts are the characters that make it evaluate something as they are typed.
	acts string
	// utf8 says that it takes what is typed for UTF-8, or each byte for a character, whatever the
	// locale is.
	utf8 bool
	// bare says that it does not know the brackets of a paste, whoever asked for them.
	bare bool
	// awaits says that it keeps the mode while what it evaluates waits for something. It also has timers of its own: V8 looks for garbage
	// for a while after it had some.
	awaits bool
	// repeats reports whether an empty line at a prompt of its is the last command again.
	repeats func(prompt string) bool
	// keeps says that the line stays at an interrupt.
	keeps bool
}

// inPrompts makes a test for a few prompts.
func inPrompts(all ...string) func(prompt string) bool {
	return func(prompt string) bool { return slices.Contains(all, prompt) }
}

// readline is GNU Readline: it takes the carriage return itself and the literal-next key away, which neither cbreak mode
// (bash's read -sn1, Python's tty.setcbreak) nor cfmakeraw does.
func readline(s Settings, _ bool) bool {
	return s.Output && s.Signals && !s.CRToNL && s.LiteralNext == 0
}

// zle is zsh's line editor. read -k leaves the keys of the kernel as they were.
func zle(s Settings, _ bool) bool {
	return s.Output && s.NLToCR && s.LiteralNext == 0 && s.Quit == 0 && s.Suspend == 0
}

// fish has the same mode for its prompt and for read, whose -n 1 cannot be told from a prompt.
func fish(s Settings, _ bool) bool {
	return s.Output && !s.CRToNL && !s.Extended && s.Quit == 0 && s.Suspend == 0
}

// python is Readline before 3.13, and a line editor of its own since, which always asks for bracketed paste.
func python(s Settings, paste bool) bool {
	return readline(s, paste) || paste && s.Output && s.Signals && !s.Flow && !s.Extended
}

// promptToolkit is that of IPython.
func promptToolkit(s Settings, paste bool) bool {
	return paste && s.Output && !s.Signals && !s.CRToNL && !s.Extended && !s.Flow
}

// libuv is the raw mode of Node.
func libuv(s Settings, _ bool) bool {
	return s.Output && !s.Signals && !s.CRToNL && !s.Extended && !s.Flow
}

// editors are the known ones by the name of their executable, without a version. irb is missing on purpose: it evaluates
// what stands before a dot while it is typed, to suggest a method.
var editors = map[string]editor{
	"bash":    {raw: readline, script: operands("c", "o", "O", "rcfile", "init-file")},
	"zsh":     {raw: zle, script: operands("c", "o")},
	"fish":    {raw: fish, script: operands("c", "C", "init-command", "d", "debug", "f", "features", "o"), utf8: true},
	"python":  {raw: python, script: operands("cm", "W", "X"), repeats: inPrompts("(Pdb)")},
	"ipython": {raw: promptToolkit, script: anything, utf8: true, repeats: inPrompts("ipdb>", "(Pdb)")},
	"node":    {raw: libuv, script: operands("ep", "r", "require", "import"), acts: ".[", utf8: true, bare: true, awaits: true}, // its preview evaluates members
	"psql":    {raw: readline, script: never},
	"gdb":     {raw: readline, script: never, repeats: func(prompt string) bool { return prompt != ">" }},
	"sqlite3": {raw: readline, script: never, keeps: true},
}

// find looks a program up.
func find(p Program) (editor, bool) {
	name := strings.TrimSuffix(path.Base(p.Exe), " (deleted)") // replaced by an upgrade; proc(5)
	name = strings.TrimRight(name, "0123456789.-")
	args := p.Args
	switch {
	case name == "sqlite":
		name = "sqlite3"
	case name == "nodejs":
		name = "node"
	case name == "python" && ipython(args):
		name = "ipython"
		args = nil
	}
	e, ok := editors[name]
	if !ok || len(args) > 1 && e.script(args[1:]) {
		return editor{}, false
	}
	return e, true
}

// ipython reports whether Python was started as IPython, with nothing else to run.
func ipython(args []string) bool {
	var operands []string
	for i := 1; i < len(args); i++ {
		switch {
		case args[i] == "-m" && i+1 < len(args) && args[i+1] == "IPython":
			return !slices.ContainsFunc(args[i+2:], operand)
		case operand(args[i]):
			operands = append(operands, args[i])
		}
	}
	return len(operands) == 1 && strings.TrimRight(path.Base(operands[0]), "0123456789.") == "ipython"
}

func operand(arg string) bool { return arg != "" && arg[0] != '-' }

func anything([]string) bool { return true }
func never([]string) bool    { return false }

// operands makes a test of arguments: whether one of them is an operand, a script to run, or an option that names a command.
// runs are the letters of the latter; takers are options, short or long, whose value is the next argument.
func operands(runs string, takers ...string) func(args []string) bool {
	return func(args []string) bool {
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
}
