// Package line answers two questions about the line that a user and an agent share: is the program at a line prompt, where
// text is known to be only text, and what stands on the line. It decides on what the kernel says (the line settings of the
// terminal, the leader of the foreground process group) and reads the screen through a small port. It does no I/O, and must
// not know who may type, nor how anything is shown.
package line

import (
	"bytes"
	"path"
	"slices"
)

// Settings are the line settings of the program's terminal (termios(3)), as far as they tell line editors apart.
type Settings struct {
	Canonical bool // ICANON
	Echo      bool // ECHO
	Signals   bool // ISIG
	Extended  bool // IEXTEN
	Flow      bool // IXON
	Output    bool // OPOST
	CRToNL    bool // ICRNL
	NLToCR    bool // INLCR
	SevenBits bool // ISTRIP: the eighth bit of what is typed is dropped
	// LiteralNext, Quit and Suspend are VLNEXT, VQUIT and VSUSP; 0 for none.
	LiteralNext, Quit, Suspend byte
	// Special are the characters that do more than stand on the line in canonical mode: VINTR, VEOF, VEOL and the like.
	Special [8]byte
}

// Program is the leader of the foreground process group.
type Program struct {
	Exe  string   // path of its executable
	Args []string // its arguments, the first is its own name
	// Crowd: another process of the group has the terminal open, as a pager of a database client has. What is typed may be
	// read by that one.
	Crowd bool
}

// Facts are what is known of the program at one moment.
type Facts struct {
	Settings Settings
	// Reads: a process of the foreground group is blocked reading or polling the terminal.
	Reads   bool
	Program Program // zero when nobody knows
	// Alt: the alternate screen is shown.
	Alt bool
	// Paste: bracketed paste is on (DECSET 2004). Any program can print that, so it grants nothing by itself.
	Paste bool
	// Runs: the shell in the foreground said that it runs a command (OSC 133 or 633, C). Any program can print that too, so
	// it only ever takes a prompt away.
	Runs bool
	// Odd: somebody pressed a key on this line that may have changed what letters mean, such as Escape in a vi mode.
	Odd bool
	// Asks: somebody pressed a key on this line on which a line editor may ask for a single key, as whether to list all
	// completions, and to that the brackets of a paste are keys.
	Asks bool
}

// Prompt says what typed text is to the program.
type Prompt uint8

// The kinds.
const (
	None   Prompt = iota // text may be commands: a full-screen program, a menu, a relay such as ssh
	Cooked               // the kernel collects a line (canonical mode) and the program waits for it
	Editor               // a known line editor has the terminal: a shell, a REPL
)

// At decides. Bytes that the program printed can only turn a prompt into [None], never the reverse.
func At(f Facts) Prompt {
	switch {
	case f.Settings.Canonical && f.Settings.Echo && f.Reads && !f.Odd:
		return Cooked
	case f.Settings.Canonical || f.Settings.Echo || f.Alt || f.Runs || f.Odd || f.Program.Crowd:
		return None
	}
	if e, ok := find(f.Program); ok && e.raw(f.Settings, f.Paste) {
		return Editor
	}
	return None
}

// Awaits reports whether the program keeps the mode of its line editor while what it evaluates waits for something.
func Awaits(f Facts) bool {
	e, ok := find(f.Program)
	return ok && e.awaits
}

// Prompts reports whether the program is a known shell or REPL without a script to run, and the kernel collects its lines: what
// stands there is its prompt, or asked by what it runs itself.
func Prompts(f Facts) bool {
	if Shared(f) != Cooked {
		return false
	}
	if _, ok := find(f.Program); ok {
		return true
	}
	return plainShells[path.Base(f.Program.Exe)] && len(f.Program.Args) > 0 && !operands("c", "o")(f.Program.Args[1:])
}

// plainShells have no line editor, or one that is off as a rule.
var plainShells = map[string]bool{"dash": true, "sh": true, "ash": true, "ksh": true, "mksh": true, "yash": true, "csh": true, "tcsh": true}

// Keeps reports whether the program keeps the line at an interrupt, as others do not.
func Keeps(f Facts) bool {
	e, ok := find(f.Program)
	return ok && e.keeps
}

// Shared is At for the question whether a user's unfinished line stands there: the kernel collects one also for a program that
// does not wait for it yet, a key that changes what letters mean leaves the line where it is, and so does a mark that anything
// can print. Nor does another process of the group: the line settings say who edits the line.
func Shared(f Facts) Prompt {
	f.Reads, f.Odd, f.Runs, f.Program.Crowd = true, false, false, false
	return At(f)
}

// Pastes reports whether what stands between the brackets of a paste is text, line ends and all: to a line editor that asks for
// the brackets itself, while it edits the line.
func Pastes(f Facts) bool {
	e, ok := find(f.Program)
	return ok && !e.bare && f.Paste && !f.Asks && !f.Settings.SevenBits && At(f) == Editor
}

// TakesUTF8 reports whether bytes from 0x80 on are text to a program that is at p. To Readline and
// zsh they are Meta keys or text by the locale, which no fact tells: /proc has the environment that
// a program was started with, and not what it made of that.
func TakesUTF8(f Facts, p Prompt) bool {
	e, _ := find(f.Program)
	return !f.Settings.SevenBits && (p == Cooked || p == Editor && e.utf8)
}

// OnlyText reports whether text, which holds no key that submits, is nothing but text to a program that is at p.
func OnlyText(f Facts, p Prompt, text []byte) bool {
	if !TakesUTF8(f, p) && slices.ContainsFunc(text, func(b byte) bool { return b >= 0x80 }) {
		return false
	}
	switch p {
	case None:
	case Cooked:
		return !slices.ContainsFunc(f.Settings.Special[:], func(c byte) bool { return c != 0 && bytes.IndexByte(text, c) >= 0 })
	case Editor:
		e, _ := find(f.Program)
		return !bytes.ContainsAny(text, e.acts)
	}
	return false
}
