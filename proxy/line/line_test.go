package line_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/line"
	"terminalproxy/proxy/screen"
)

// model is a terminal model as this package reads it.
type model struct{ *screen.Screen }

func newModel(cols, rows int) model {
	return model{screen.New(screen.Config{Cols: cols, Rows: rows, Scrollback: 100})}
}

func (m model) Cursor() (row, col int) {
	c := m.Screen.Cursor()
	if c.Pending {
		c.Col++
	}
	return c.Row, c.Col
}

func (m model) Line(row int) uint64 {
	return m.HistoryNumber() + uint64(m.HistoryLen()) + uint64(row)
}

func (m model) Cell(row, col int) (string, int) {
	c := m.Screen.Cell(row, col)
	return c.Content, c.Width
}

func (m model) Wrapped(row int) bool {
	if row < 0 {
		return m.HistoryWrapped(m.HistoryLen() + row)
	}
	return m.RowWrapped(row)
}

// The line settings that the programs of Debian 12 have at their prompts, read off their terminals.
var (
	cooked   = line.Settings{Canonical: true, Echo: true, Signals: true, Extended: true, Flow: true, Output: true, CRToNL: true, LiteralNext: 22, Quit: 28, Suspend: 26, Special: [8]byte{3, 28, 26, 4}}
	readline = line.Settings{Signals: true, Extended: true, Flow: true, Output: true, Quit: 28, Suspend: 26}
	zle      = line.Settings{Signals: true, Extended: true, Flow: true, Output: true, CRToNL: true, NLToCR: true}
	fish     = line.Settings{Signals: true, Output: true, LiteralNext: 22}
	node     = line.Settings{Output: true, LiteralNext: 22, Quit: 28, Suspend: 26}
	ipython  = node
	cbreak   = line.Settings{Signals: true, Extended: true, Flow: true, Output: true, CRToNL: true, LiteralNext: 22, Quit: 28, Suspend: 26}
	pyrepl   = line.Settings{Signals: true, Output: true, CRToNL: true, LiteralNext: 22, Quit: 28, Suspend: 26}
)

func run(exe string, args ...string) line.Program {
	return line.Program{Exe: exe, Args: append([]string{exe}, args...)}
}

// TestR65WhereTextIsOnlyText: a known line editor in the mode that its prompt has, and nothing else.
func TestR65WhereTextIsOnlyText(t *testing.T) {
	bash := run("/usr/bin/bash", "--norc", "-i")
	for name, c := range map[string]struct {
		facts line.Facts
		want  line.Prompt
	}{
		"bash":                       {line.Facts{Settings: readline, Program: bash}, line.Editor},
		"bash, a login shell":        {line.Facts{Settings: readline, Program: line.Program{Exe: "/usr/bin/bash", Args: []string{"-bash"}}}, line.Editor},
		"bash, replaced":             {line.Facts{Settings: readline, Program: run("/usr/bin/bash (deleted)")}, line.Editor},
		"bash, an option's value":    {line.Facts{Settings: readline, Program: run("/bin/bash", "--rcfile", "rc", "-o", "vi")}, line.Editor},
		"bash, a script":             {line.Facts{Settings: readline, Program: run("/bin/bash", "menu.sh")}, line.None},
		"bash, a command":            {line.Facts{Settings: readline, Program: run("/bin/bash", "-lc", "menu")}, line.None},
		"bash, read -sn1":            {line.Facts{Settings: cbreak, Program: bash, Paste: true}, line.None},
		"bash, says that it runs":    {line.Facts{Settings: readline, Program: bash, Runs: true}, line.None},
		"bash, a pager in its group": {line.Facts{Settings: readline, Program: line.Program{Exe: "/bin/bash", Crowd: true}}, line.None},
		"bash, after Escape":         {line.Facts{Settings: readline, Program: bash, Odd: true}, line.None},
		"bash, another screen":       {line.Facts{Settings: readline, Program: bash, Alt: true}, line.None},
		"zsh":                        {line.Facts{Settings: zle, Program: run("/usr/bin/zsh", "-f")}, line.Editor},
		"zsh, read -sk1":             {line.Facts{Settings: cbreak, Program: run("/usr/bin/zsh"), Paste: true}, line.None},
		"fish":                       {line.Facts{Settings: fish, Program: run("/usr/bin/fish", "-C", "x")}, line.Editor},
		"python":                     {line.Facts{Settings: readline, Program: run("/usr/bin/python3.11", "-q")}, line.Editor},
		"python 3.13":                {line.Facts{Settings: pyrepl, Program: run("/usr/bin/python3.13"), Paste: true}, line.Editor},
		"python, setcbreak":          {line.Facts{Settings: cbreak, Program: run("/usr/bin/python3.11"), Paste: true}, line.None},
		"python, a script":           {line.Facts{Settings: readline, Program: run("/usr/bin/python3.11", "-i", "x.py")}, line.None},
		"python, a module":           {line.Facts{Settings: readline, Program: run("/usr/bin/python3.11", "-m", "pdb", "x.py")}, line.None},
		"ipython":                    {line.Facts{Settings: ipython, Paste: true, Program: run("/usr/bin/python3.11", "/usr/bin/ipython3")}, line.Editor},
		"ipython, a script":          {line.Facts{Settings: ipython, Paste: true, Program: run("/usr/bin/python3.11", "/usr/bin/ipython3", "x.py")}, line.None},
		"node":                       {line.Facts{Settings: node, Program: run("/usr/bin/node")}, line.Editor},
		"node, a script":             {line.Facts{Settings: node, Program: run("/usr/bin/node", "x.js")}, line.None},
		"psql":                       {line.Facts{Settings: readline, Program: run("/usr/lib/postgresql/15/bin/psql", "-h", "db", "mydb")}, line.Editor},
		"gdb":                        {line.Facts{Settings: readline, Program: run("/usr/bin/gdb", "./a.out")}, line.Editor},
		"vim":                        {line.Facts{Settings: node, Program: run("/usr/bin/vim")}, line.None},
		"ssh":                        {line.Facts{Settings: node, Program: run("/usr/bin/ssh", "host")}, line.None},
		"nobody knows who":           {line.Facts{Settings: readline}, line.None},
		"a line for the kernel":      {line.Facts{Settings: cooked, Reads: true}, line.Cooked},
		"nobody reads it yet":        {line.Facts{Settings: cooked}, line.None},
		"a password":                 {line.Facts{Settings: line.Settings{Canonical: true}, Reads: true}, line.None},
	} {
		require.Equal(t, c.want, line.At(c.facts), name)
	}
	require.Equal(t, line.Editor, line.Shared(line.Facts{Settings: readline, Program: bash, Runs: true}), "anything can print that it runs")
	require.Equal(t, line.Cooked, line.Shared(line.Facts{Settings: cooked, Odd: true}), "a user's line waits for a program that does not read yet")
}

func TestR65TextThatActs(t *testing.T) {
	js := line.Facts{Settings: node, Program: run("/usr/bin/node")}
	require.True(t, line.OnlyText(js, line.Editor, []byte("1+1")))
	require.False(t, line.OnlyText(js, line.Editor, []byte("o.g")), "its preview runs a getter")
	stty := cooked
	stty.Special[4] = ';' // stty eol ';'
	require.False(t, line.OnlyText(line.Facts{Settings: stty}, line.Cooked, []byte("a;b")))
	require.True(t, line.OnlyText(line.Facts{Settings: cooked}, line.Cooked, []byte("a;b")))
	require.False(t, line.OnlyText(js, line.None, []byte("a")))
}

// typing is a screen on which a prompt stands and people type.
type typing struct {
	t       *testing.T
	m       model
	tracker line.Tracker
	cooked  bool
	group   int
}

func newTyping(t *testing.T, cols, rows int, prompt string) *typing {
	p := &typing{t: t, m: newModel(cols, rows), group: 7}
	p.tracker.Cooked = func() bool { return p.cooked }
	p.tracker.Group = func() int { return p.group }
	p.shows(prompt)
	p.tracker.Rested(p.m)
	return p
}

func (p *typing) shows(s string) {
	p.m.Feed([]byte(s))
	row, col := p.m.Cursor()
	p.tracker.Moved(line.Place{Alt: p.m.Alt(), Line: p.m.Line(row), Col: col})
}

// user types keys, on which the program shows echo.
func (p *typing) user(keys, echo string)  { p.tracker.User([]byte(keys)); p.shows(echo) }
func (p *typing) agent(keys, echo string) { p.tracker.Agent([]byte(keys)); p.shows(echo) }

func (p *typing) occupied() (string, bool) {
	typed := p.tracker.Typed()
	b, yes := line.Occupied(p.m, line.Editor, p.group, typed)
	if !yes {
		p.tracker.Free(typed)
	}
	return b.Text(), yes
}

func (p *typing) free() {
	p.t.Helper()
	text, yes := p.occupied()
	require.False(p.t, yes, text)
}

func (p *typing) holds(want string) {
	p.t.Helper()
	text, yes := p.occupied()
	require.True(p.t, yes)
	require.Equal(p.t, want, text)
}

// TestR63WhatOccupiesTheLine: the screen's row is the fact, and the end of the line its end.
func TestR63WhatOccupiesTheLine(t *testing.T) {
	p := newTyping(t, 40, 5, "out\r\n$ ")
	p.free()
	p.user("echo", "echo")
	p.holds("echo")
	p.user("\x1b[D", "\b")
	p.holds("echo")
	p.user("\x05", "\x1b[C")
	p.user("\x15", "\b\b\b\b\x1b[K")
	p.free()
	p.agent("ls", "ls")
	p.free() // the agent's own
	p.user("x", "x")
	p.holds("lsx")
	p.user("\r", "\r\nlsx: not found\r\n$ ")
	p.free()
	p.user("\x1b[A", "lsx") // recalled
	p.holds("lsx")
	p.user("\x03", "^C\r\n$ ")
	p.free()
	p.user("one", "one")
	p.tracker.Allow()
	p.free()
	p.user("!", "!")
	p.holds("one!")
	p.user("\r", "\r\n")
	p.user("\x1b[200~a\rb\x1b[201~", "$ a\r\n> b") // a paste's line end submits nothing
	_, yes := p.occupied()
	require.True(t, yes)
}

// TestR63TheUserEmptiesTheAgentsLine: nothing is left that an agent could wait for, although the user's first key came behind
// what the agent had typed.
func TestR63TheUserEmptiesTheAgentsLine(t *testing.T) {
	p := newTyping(t, 40, 5, "$ ")
	p.agent("echo one", "echo one")
	p.tracker.Rested(p.m)
	p.user("X", "X")
	p.holds("echo oneX")
	p.user("\x7f\x7f", "\b\b\x1b[K")
	p.holds("echo on")
	p.user("\x15", "\r$ \x1b[K")
	p.free()
	p.agent("ls", "ls")
	p.free()
}

// TestR63AQuickUser: the prompt may be noted after the key, as long as that does not show; who types before it stands types behind
// the one of before.
func TestR63AQuickUser(t *testing.T) {
	p := newTyping(t, 40, 8, "$ ")
	p.user("ls", "ls")
	p.user("\r", "\r\nfile\r\n")
	p.shows("$ ")
	p.user("for", "")
	p.tracker.Rested(p.m)
	p.shows("for")
	p.tracker.Rested(p.m) // too late to be the prompt
	require.Equal(t, line.Buffer{Known: true, Before: "for"}, line.Find(p.m, p.tracker.Typed().Own))
	p.user("\r", "\r\n> ")
	_, yes := p.occupied()
	require.True(t, yes, "the rest of it")

	p.user("\x03", "^C\r\n")
	p.user("for", "$ for") // typed ahead
	require.False(t, p.tracker.Typed().Own.Known)
	p.user("\r", "\r\n> ")
	_, yes = p.occupied()
	require.True(t, yes, "the rest of it")

	p = newTyping(t, 40, 8, "")
	p.shows(">>> ")
	p.user("for i in x:", "for i in x:")
	p.user("\r", "\r\n... ") // and nobody has looked yet
	p.tracker.Rested(p.m)
	p.holds("for i in x:\n... ")
	p.user("f()", "f()")
	p.user("\r", "\r\n... ")
	p.tracker.Rested(p.m)
	_, yes = p.occupied()
	require.True(t, yes, "the rest of it")
	p.user("\r", "\r\n>>> ")
	p.tracker.Rested(p.m)
	p.free()
}

func TestR63WhatWasTypedElsewhere(t *testing.T) {
	p := newTyping(t, 40, 5, "~\r\n")
	p.user("ZZ", "") // vim took them
	p.group = 8
	p.shows("$ ")
	p.free()

	p = newTyping(t, 40, 5, "$ sleep 3\r\n")
	p.cooked = true
	p.user("abc", "abc") // typed ahead: the kernel keeps it for the shell
	p.group, p.cooked = 8, false
	p.shows("\r\n$ abc")
	_, yes := p.occupied()
	require.True(t, yes)
	p.user("\x15", "\b\b\b\x1b[K")
	p.user("\r", "\r\n$ ")
	p.free()

	p = newTyping(t, 40, 5, "name: ")
	p.cooked = true
	p.user("abc", "abc")
	p.user("\x15", "\b\b\b   \b\b\b") // the kernel's kill character
	p.free()
}

// TestR63TheLineIsEmptyAgain: a bare prompt of the same program holds nothing of the user's, whatever was typed before it came.
func TestR63TheLineIsEmptyAgain(t *testing.T) {
	p := newTyping(t, 40, 8, "$ ")
	p.user("s", "s")
	p.user("\r", "\r\n")
	p.cooked = true
	p.user("abc", "abc") // typed ahead
	p.cooked = false
	p.shows("\r\n$ abc")
	_, yes := p.occupied()
	require.True(t, yes)
	p.user("\x7f\x7f\x7f", "\b\b\b\x1b[K")
	p.free()

	p = newTyping(t, 40, 8, "\x1b[?1049h:")
	p.user("f", "") // to a pager in the group of its database client
	p.agent("q", "\x1b[?1049l=# ")
	p.free()
	p.tracker.Rested(p.m)
	p.agent("x", "x")
	require.Equal(t, line.Buffer{Known: true, Before: "x"}, line.Find(p.m, p.tracker.Typed().Line))
	p.user("y", "y")
	p.holds("xy")

	p = newTyping(t, 40, 8, "$ ")
	p.agent("ls", "ls")
	p.tracker.Rested(p.m)
	p.user("x", "x")
	p.user("\x15", "\r\x1b[K$ ") // the agent's text too
	p.free()

	p = newTyping(t, 40, 8, "$ ")
	p.cooked = true
	p.user("abc\x1a", "abc^Z") // the kernel forgets the line
	p.group, p.cooked = 8, false
	p.shows("\r\n$ ")
	p.free()

	p = newTyping(t, 40, 8, "$ ")
	p.cooked = true
	p.user("abc", "abc")
	p.user("\x04", "") // dash has it, and waits for the rest
	p.holds("abc")

	p = newTyping(t, 40, 8, "$ ")
	p.cooked = true
	p.user("G", "G")
	p.cooked, p.group = false, 8
	p.user("q", "") // less takes both
	p.group = 7
	p.shows("\r\n~/elsewhere$ ")
	p.free()
}

// TestR63WhatTheUserBegan: an agent's line would be the rest of it.
func TestR63WhatTheUserBegan(t *testing.T) {
	for _, c := range []struct {
		prompt, rest string
		held         bool
	}{
		{"$ ", "> ", true},
		{"vm% ", "for> ", true},
		{"vm% ", "cmdsubst quote> ", true},
		{">>> ", "... ", true},
		{"In [1]: ", "   ...: ", true},
		{"sqlite> ", "   ...> ", true},
		{"db=# ", "db-# ", true},
		{"db=> ", "db(> ", true},
		{"vm /# ", "      ", true}, // fish
		{"$ ", "$ ", false},
		{"/tmp$ ", "/$ ", false},
		{"src> ", "proxy> ", false},
		{"db=# ", "db=*# ", false},
		{"db=# ", "ab=# ", false},
		{"$ ", "", false},
	} {
		p := newTyping(t, 40, 8, c.prompt)
		p.user("begin", "begin")
		p.user("\r", "\r\n"+c.rest)
		p.tracker.Rested(p.m)
		_, yes := p.occupied()
		require.Equal(t, c.held, yes, "%q after %q", c.rest, c.prompt)
		p.user("more", "more")
		p.user("\r", "\r\n"+c.rest)
		p.tracker.Rested(p.m)
		_, yes = p.occupied()
		require.Equal(t, c.held, yes, "%q after %q, again", c.rest, c.prompt)
		p.tracker.Allow()
		p.free()
		p.user("\x03", "^C\r\n"+c.prompt)
		p.free()
	}
	p := newTyping(t, 40, 8, "$ ")
	p.agent("for", "for")
	p.agent("\r", "\r\n> ")
	p.free() // its own
}

// TestR63TheLineIsFoundAgain: after a clear, a resize, a list of completions it stands in another row behind the same prompt,
// and a right prompt is none of it.
func TestR63TheLineIsFoundAgain(t *testing.T) {
	p := newTyping(t, 20, 6, "$ \x1b[s\x1b[16GRIGHT\x1b[u")
	p.user("ab", "ab")
	b := line.Find(p.m, p.tracker.Typed().Own)
	require.Equal(t, line.Buffer{Known: true, Before: "ab", Tail: "RIGHT"}, b)
	p.user("\x0c", "\x1b[H\x1b[2J$ ab")
	p.holds("ab")
	p.m.Resize(17, 6)
	p.holds("ab")
	p.shows("\r\nab1 ab2\r\n$ ab")
	p.holds("ab")
	p.user("cdefghijklmnopqr", "cdefghijklmnopqr")
	p.holds("abcdefghijklmnopqr")
	p.user("\x7f", "\x1b[H\x1b[2J$ ")
	p.free()
}

// TestR66WhatRunsAndWhatIsSuggested tells what Enter sends from what a shell suggests.
func TestR66WhatRunsAndWhatIsSuggested(t *testing.T) {
	for name, c := range map[string]struct {
		shown, typed    string
		moved           bool
		sent, suggested string
	}{
		"typed, the cursor at its end":   {"$ ls", "ls", false, "ls", ""},
		"typed, the cursor at its begin": {"$ echo x ;y\x1b[3D", "echo x ;y", true, "echo x ;y", ""},
		"typed from right to left":       {"$ ls\x1b[D", "s\x1b[Dl", true, "ls", ""},
		"a ghost":                        {"$ git\x1b[s push\x1b[u", "git", false, "git", " push"},
		"a ghost of what was typed":      {"$ 2 + 0\x1b[s\r\n2\x1b[u", "2 + 0", false, "2 + 0", "\n2"},
		"perhaps the user's":             {"$ git\x1b[s push\x1b[u", "git", true, "git push", ""},
		"two rows":                       {"$ one\r\ntwo", "onetwo", false, "one\ntwo", ""},
		"a bracket that was closed":      {"$ f()\x1b[D", "f(", false, "f()", ""},
	} {
		p := newTyping(t, 40, 5, "$ ")
		p.agent(c.typed, "\r"+c.shown)
		b := line.Find(p.m, p.tracker.Typed().Line)
		require.True(t, b.Known, name)
		sent, suggested := b.Split(c.moved)
		require.Equal(t, [2]string{c.sent, c.suggested}, [2]string{sent, suggested}, name)
	}
	require.True(t, line.Hides("ls", []string{"rm", "ls"}))
	require.False(t, line.Hides("ls", []string{"l", "s"}))
	require.False(t, line.Hides("one\ntwo", []string{"two", "one"}))
	require.True(t, line.Hides("# rm x", []string{"rm x", "# rm x"}), "what shows one shows no other")
}

// TestR65WhereAPasteIsText: for a line editor that asked for the brackets, while it edits the line.
func TestR65WhereAPasteIsText(t *testing.T) {
	bash := line.Facts{Settings: readline, Program: run("/bin/bash"), Paste: true}
	require.True(t, line.Pastes(bash))
	for name, f := range map[string]line.Facts{
		"2004 is off":                  {Settings: readline, Program: run("/bin/bash")},
		"it may ask for a key":         {Settings: readline, Program: run("/bin/bash"), Paste: true, Asks: true},
		"node, and something printed":  {Settings: node, Program: run("/usr/bin/node"), Paste: true},
		"a vi mode":                    {Settings: readline, Program: run("/bin/bash"), Paste: true, Odd: true},
		"the kernel collects the line": {Settings: cooked, Program: run("/bin/bash"), Paste: true, Reads: true},
	} {
		require.False(t, line.Pastes(f), name)
	}
}

// TestR66WhatEndsALine: an Enter that is quoted, or one key with an Escape, ends none.
func TestR66WhatEndsALine(t *testing.T) {
	for keys, want := range map[string]bool{"\r": true, "\n": true, "\x16|\n": false, "\x11|\r": false, "\x1b\r": false, "\x1b|\r": false} {
		p := newTyping(t, 20, 3, "$ ")
		p.agent("a", "a")
		for _, key := range strings.Split(keys, "|") {
			p.agent(key, "")
		}
		require.Equal(t, want, !p.tracker.Typed().Line.Set, "%q", keys)
	}
	p := newTyping(t, 20, 3, "$ ")
	p.user("a", "a")
	p.user("\x1b", "")
	p.user("\r", "\r\n$ ")
	p.free() // Enter in a vi mode
	p.agent("\t", "")
	require.True(t, p.tracker.Typed().Asks)
	p.agent("\r", "\r\n$ ")
	require.False(t, p.tracker.Typed().Asks)
	p.agent("\x1b[200~a\tb", "a b")
	p.agent("\x1b[201~\x01\x15", "")
	require.False(t, p.tracker.Typed().Asks, "a tab in a paste is text, and so are keys that edit")
}

// TestR65AKeyThatChangesWhatLettersMean: Escape leads into a vi mode, ^X begins a command.
func TestR65AKeyThatChangesWhatLettersMean(t *testing.T) {
	for keys, want := range map[string]bool{"\x1b": true, "\x1bx": true, "\x18": true, "\x16": true, "\x1b[A": false, "\x1bOA": false, "abc": false} {
		p := newTyping(t, 20, 3, "$ ")
		p.user(keys, "")
		require.Equal(t, want, p.tracker.Typed().Odd, "%q", keys)
		p.agent("x", "x")
		p.agent("\r", "\r\n$ ")
		require.False(t, p.tracker.Typed().Odd, "a new line")
	}
}
