package line_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/consent/line"
)

// With or without a known prompt, a program's question is told from a prompt by its looks.
func TestAQuestionInALineEditorIsNotAPromptR65(t *testing.T) {
	for _, c := range []struct {
		before, here string // the prompt of the previous command, or "", and the text left of the cursor now
		want         bool
	}{
		{"$ ", "$ ", true},
		{"$ ", "/tmp $ ", true},
		{"me@host ~ ❯ ", "me@host ~/src git:(main) ✗ ", true},
		{">>> ", "... ", true},
		{">>> ", "(Pdb) ", true},
		{"(gdb) ", "(gdb) ", true},
		{"db=# ", "db-# ", true},
		{"In [1]: ", "In [2]: ", true},
		{"next: ", "next: ", true},
		{"", "next: ", true},
		{"", "[me@host src]$ ", true},
		{"", "(venv) [me@host a/b] ", true},
		{"", "[me/src] > ", true},
		{"", "(main|MERGING) ", true},
		{"> ", "      ", true}, // fish continues in the next row
		{"$ ", "zsh: correct 'x2' to 'x1' [nyae]? ", false},
		{"$ ", "Continue? ", false},
		{"", "Continue? ", false},
		{"", "Delete it [y/N] ", false},
		{"", "Delete it (yes/no/[all]): ", false},
		{"", "Display all 200 possibilities? (y or n)", false},
		{"", "Go (y|n) > ", false},
		{"", "Удалить [д/н]: ", false},
		{"$ ", "name: ", false},
		{"> ", "read> ", false},
		{"$ ", "", false},
		{"", "", false},
		{"? ", "? ", false},
	} {
		p := newTyping(t, 70, 8, c.before)
		if c.before != "" {
			p.agent("ls", "ls")
			p.agent("\r", "\r\nout\r\n")
		}
		p.shows("\r" + c.here)
		p.tracker.ReadPrompt(p.m)
		at := func() bool { return line.AtCommand(p.m, p.group, p.tracker.TypedLine()) }
		require.Equal(t, c.want, at(), "%q after %q", c.here, c.before)
		p.agent("y", "y")
		require.Equal(t, c.want, at(), "%q after %q, and a letter", c.here, c.before)
		p.agent("es", "es")
		require.Equal(t, c.want, at(), "%q after %q, and a word", c.here, c.before)
	}
}

// A command remains one whatever follows the prompt, over any number of rows.
func TestALongLineIsStillACommandR65(t *testing.T) {
	p := newTyping(t, 20, 4, "$ ")
	for _, text := range []string{"echo Continue?", " [y/N]", strings.Repeat("x", 30), strings.Repeat("?", 60)} {
		p.agent(text, text)
		require.True(t, line.AtCommand(p.m, p.group, p.tracker.TypedLine()), text)
	}
	p = newTyping(t, 20, 4, "$ ")
	p.agent("echo this is long.", "echo this is long.\r\n") // as editors do that do not leave the wrap to the terminal
	require.True(t, line.AtCommand(p.m, p.group, p.tracker.TypedLine()))
}

// Answering a question by Enter does not make it a command's prompt.
func TestAnAnswerIsNotACommandR65(t *testing.T) {
	p := newTyping(t, 40, 8, "$ ")
	p.agent("f", "f")
	for _, enter := range []string{"\r", "\x1b[13u", "\n"} {
		p.agent(enter, "\r\nname: ")
		p.tracker.ReadPrompt(p.m)
		require.False(t, line.AtCommand(p.m, p.group, p.tracker.TypedLine()))
		p.agent("x", "x")
	}
	p.agent("\r", "\r\n$ ")
	require.True(t, line.AtCommand(p.m, p.group, p.tracker.TypedLine()))
}

// The user is asked once, and not again at a prompt like it.
func TestAPromptThatEndsWithItsRowR65(t *testing.T) {
	p := newTyping(t, 40, 8, "~/src\r\n")
	require.False(t, line.AtCommand(p.m, p.group, p.tracker.TypedLine()))
	p.agent("ls", "ls")
	p.agent("\r", "\r\n~/src\r\n")
	require.True(t, line.AtCommand(p.m, p.group, p.tracker.TypedLine()))
}

// Text, or Meta keys.
func TestWhatBytesFrom0x80OnAreR65(t *testing.T) {
	narrow := cooked
	narrow.SevenBits = true
	for name, c := range map[string]struct {
		f    line.Facts
		at   line.Prompt
		want bool
	}{
		"readline":           {line.Facts{Settings: isReadline, Program: run("/bin/bash"), Paste: true}, line.Editor, false},
		"zle":                {line.Facts{Settings: isZLE, Program: run("/bin/zsh"), Paste: true}, line.Editor, false},
		"fish":               {line.Facts{Settings: isFish, Program: run("/bin/fish")}, line.Editor, true},
		"node":               {line.Facts{Settings: node, Program: run("/bin/node")}, line.Editor, true},
		"ipython":            {line.Facts{Settings: ipython, Program: run("/bin/ipython"), Paste: true}, line.Editor, true},
		"the kernel":         {line.Facts{Settings: cooked}, line.Cooked, true},
		"the kernel, ISTRIP": {line.Facts{Settings: narrow}, line.Cooked, false},
		"no prompt":          {line.Facts{Settings: isReadline}, line.None, false},
	} {
		require.Equal(t, c.want, line.TakesUTF8(c.f, c.at), name)
		require.Equal(t, c.want, line.OnlyText(c.f, c.at, []byte("ä")), name)
		require.Equal(t, c.at != line.None, line.OnlyText(c.f, c.at, []byte("a")), name)
	}
	strip := line.Facts{Settings: isReadline, Program: run("/bin/bash"), Paste: true}
	strip.Settings.SevenBits = true
	require.False(t, line.TakesPasteAsText(strip), "ś would hold an Escape")
}

// The programs, and the prompts, at which an empty line repeats.
func TestAnEmptyLineThatRepeatsR66(t *testing.T) {
	for name, c := range map[string]struct {
		exe, prompt, shown string
		want               bool
	}{
		"gdb": {"/usr/bin/gdb", "(gdb) ", "", true}, "gdb, nothing is typed": {"/usr/bin/gdb", "(gdb) ", "(gdb)", true}, "gdb, a line": {"/usr/bin/gdb", "(gdb) ", "next", false},
		"gdb, the rest of a definition": {"/usr/bin/gdb", ">", "", false}, "pdb": {"/usr/bin/python3", "(Pdb) ", "", true}, "python": {"/usr/bin/python3", ">>> ", "", false},
		"bash": {"/bin/bash", "$ ", "", false},
	} {
		require.Equal(t, c.want, line.RepeatsLastCommand(line.Facts{Program: run(c.exe)}, c.prompt, c.shown), name)
	}
}
