// Package line answers two questions about the line that a user and an agent share: whether the
// program is at a line prompt, where typed text is known to be only text, and which text is on the
// line.
//
// It decides by what the kernel reports (the terminal's line settings and the leader of the
// foreground process group), and reads the screen through a small port. It does no I/O, and must
// not know who may type, nor how anything is shown.
package line

import (
	"bytes"
	"path"
	"slices"
)

// Settings are the line settings of the program's terminal that tell line editors apart
// (termios(3)).
type Settings struct {
	Canonical bool // ICANON
	Echo      bool // ECHO
	Signals   bool // ISIG
	Extended  bool // IEXTEN
	Flow      bool // IXON
	Output    bool // OPOST
	CRToNL    bool // ICRNL
	NLToCR    bool // INLCR
	SevenBits bool // ISTRIP: the eighth bit of input is dropped
	// LiteralNext, Quit and Suspend are VLNEXT, VQUIT and VSUSP; 0 if disabled.
	LiteralNext, Quit, Suspend byte
	// Special are the characters with an effect in canonical mode: VINTR, VEOF, VEOL and the like.
	Special [8]byte
}

// Program is the leader of the foreground process group.
type Program struct {
	Exe  string   // path of its executable
	Args []string // the first is its own name
	// Crowd: another process of the group has the terminal open, as the pager of a database client
	// has, and may read the keys.
	Crowd bool
}

// Facts describe the program at one moment.
type Facts struct {
	Settings Settings
	// Reads: a process of the foreground group is blocked reading or polling the terminal.
	Reads   bool
	Program Program // zero if unknown
	// Alt: the alternate screen is shown.
	Alt bool
	// Paste: bracketed paste is on (DECSET 2004). Any program can print that, so it grants nothing.
	Paste bool
	// RunsCommand: the foreground shell reported that it runs a command (OSC 133 or 633, C). Any
	// program can print that, too, so it only ever takes a prompt away.
	RunsCommand bool
	// KeysChanged: a key on this line may have changed the meaning of letters, such as Escape in a
	// vi mode.
	KeysChanged bool
	// MayAskKey: after a key on this line the editor may ask for a single key, such as whether to
	// list all completions, and takes paste brackets for keys.
	MayAskKey bool
}

// Prompt says how the program treats typed text.
type Prompt uint8

// The kinds.
const (
	None   Prompt = iota // text may be commands: a full-screen program, a menu, a relay such as ssh
	Cooked               // the kernel collects a line (canonical mode) and the program waits for it
	Editor               // a known line editor has the terminal: a shell, a REPL
)

// PromptOf returns the kind of prompt. Bytes that the program printed can only turn a prompt into
// [None], never the reverse.
func PromptOf(f Facts) Prompt {
	switch {
	case f.Settings.Canonical && f.Settings.Echo && f.Reads && !f.KeysChanged:
		return Cooked
	case f.Settings.Canonical || f.Settings.Echo || f.Alt || f.RunsCommand || f.KeysChanged || f.Program.Crowd:
		return None
	}
	if e, ok := findEditor(f.Program); ok && e.isEditing(f.Settings, f.Paste) {
		return Editor
	}
	return None
}

// EditsInWindow reports whether the program edits a line in a window of the alternate screen. Input
// there is not text at a prompt: keys may go to another window.
func EditsInWindow(f Facts) bool {
	if !f.Alt || f.Settings.Canonical || f.Settings.Echo || f.RunsCommand || f.KeysChanged || f.Program.Crowd {
		return false
	}
	e, ok := findEditor(f.Program)
	return ok && e.isWindow != nil && e.isWindow(f.Settings)
}

// KeepsModeWhileWaiting reports whether the program keeps the mode of its line editor while the
// code that it evaluates waits.
func KeepsModeWhileWaiting(f Facts) bool {
	e, ok := findEditor(f.Program)
	return ok && e.keepsMode
}

// IsCookedShell reports whether the program is a known shell or REPL without a script, and the
// kernel collects its lines: the text before the line is its prompt, or a question of a program
// that it runs.
func IsCookedShell(f Facts) bool {
	if PromptOfUserLine(f) != Cooked {
		return false
	}
	if _, ok := findEditor(f.Program); ok {
		return true
	}
	return plainShells[path.Base(f.Program.Exe)] && len(f.Program.Args) > 0 &&
		!findOperand(f.Program.Args[1:], "c", []string{"o"})
}

// plainShells usually have no active line editor.
var plainShells = map[string]bool{
	"dash": true, "sh": true, "ash": true, "ksh": true, "mksh": true, "yash": true,
	"csh": true, "tcsh": true,
}

// KeepsLineAtInterrupt reports whether the program, unlike most, keeps the line when it is
// interrupted.
func KeepsLineAtInterrupt(f Facts) bool {
	e, ok := findEditor(f.Program)
	return ok && e.keepsLine
}

// PromptOfUserLine is [PromptOf] for the question whether a user's unfinished line is there. The
// kernel also collects a line for a program that does not wait for it yet. A key that changes the
// meaning of letters leaves the line in place, and so do a printed mark and another process of the
// group.
func PromptOfUserLine(f Facts) Prompt {
	f.Reads, f.KeysChanged, f.RunsCommand, f.Program.Crowd = true, false, false, false
	return PromptOf(f)
}

// TakesPasteAsText reports whether the program takes everything between paste brackets for text,
// line ends included. A line editor that enables bracketed paste does so while it edits the line.
func TakesPasteAsText(f Facts) bool {
	e, ok := findEditor(f.Program)
	return ok && !e.noBrackets && f.Paste && !f.MayAskKey && !f.Settings.SevenBits && PromptOf(f) == Editor
}

// TakesUTF8 reports whether a program at prompt p takes bytes from 0x80 on for text. For Readline
// and zsh they are Meta keys or text, depending on the locale, which is unknown: /proc shows the
// environment that a program was started with, not how it uses it.
func TakesUTF8(f Facts, p Prompt) bool {
	e, _ := findEditor(f.Program)
	return !f.Settings.SevenBits && (p == Cooked || p == Editor && e.utf8)
}

// OnlyText reports whether a program at prompt p takes text, which holds no submitting key, only
// for text.
func OnlyText(f Facts, p Prompt, text []byte) bool {
	if !TakesUTF8(f, p) && slices.ContainsFunc(text, func(b byte) bool { return b >= 0x80 }) {
		return false
	}
	switch p {
	case None:
	case Cooked:
		return !slices.ContainsFunc(f.Settings.Special[:], func(c byte) bool {
			return c != 0 && bytes.IndexByte(text, c) >= 0
		})
	case Editor:
		e, _ := findEditor(f.Program)
		return !bytes.ContainsAny(text, e.evaluating)
	}
	return false
}
