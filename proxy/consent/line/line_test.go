package line_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/consent/line"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/corpus"
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

// The line settings that the programs of Debian 12 have at their prompts, read from their
// terminals.
var (
	cooked     = line.Settings{Canonical: true, Echo: true, Signals: true, Extended: true, Flow: true, Output: true, CRToNL: true, LiteralNext: 22, Quit: 28, Suspend: 26, Special: [8]byte{3, 28, 26, 4}}
	isReadline = line.Settings{Signals: true, Extended: true, Flow: true, Output: true, Quit: 28, Suspend: 26}
	isZLE      = line.Settings{Signals: true, Extended: true, Flow: true, Output: true, CRToNL: true, NLToCR: true}
	isFish     = line.Settings{Signals: true, Output: true, LiteralNext: 22}
	node       = line.Settings{Output: true, LiteralNext: 22, Quit: 28, Suspend: 26}
	ipython    = node
	isCbreak   = line.Settings{Signals: true, Extended: true, Flow: true, Output: true, CRToNL: true, LiteralNext: 22, Quit: 28, Suspend: 26}
	pyrepl     = line.Settings{Signals: true, Output: true, CRToNL: true, LiteralNext: 22, Quit: 28, Suspend: 26}
)

func run(exe string, args ...string) line.Program {
	return line.Program{Exe: exe, Args: append([]string{exe}, args...)}
}

// Only in a known line editor, in the mode that its prompt has.
func TestWhereTextIsOnlyTextR65(t *testing.T) {
	settings := map[string]line.Settings{
		"cooked": cooked, "readline": isReadline, "zle": isZLE, "fish": isFish, "node": node, "ipython": ipython, "cbreak": isCbreak, "pyrepl": pyrepl, "noEcho": {Canonical: true},
	}
	verdicts := map[string]line.Prompt{"none": line.None, "editor": line.Editor, "cooked": line.Cooked}
	for _, c := range corpus.Rows[struct{ Name, Want, Settings, Exe, Args, Flags string }](t, "prompts") {
		is := func(flag string) bool { return strings.Contains(c.Flags, flag) }
		f := line.Facts{Settings: settings[c.Settings], Paste: is("paste"), RunsCommand: is("runs"), KeysChanged: is("odd"), Alt: is("alt"), Reads: is("reads")}
		f.Program = line.Program{Exe: c.Exe, Args: []string{c.Exe}, Crowd: is("crowd")}
		if c.Args != "" {
			f.Program.Args = strings.Fields(c.Args)
		}
		require.Equal(t, verdicts[c.Want], line.PromptOf(f), c.Name)
	}
	bash := run("/usr/bin/bash", "--norc", "-i")
	require.Equal(t, line.Editor, line.PromptOfUserLine(line.Facts{Settings: isReadline, Program: bash, RunsCommand: true}), "anything can print that it runs")
	require.Equal(t, line.Cooked, line.PromptOfUserLine(line.Facts{Settings: cooked, KeysChanged: true}), "a user's line waits for a program that does not read yet")
}

func TestTextThatActsR65(t *testing.T) {
	js := line.Facts{Settings: node, Program: run("/usr/bin/node")}
	require.True(t, line.OnlyText(js, line.Editor, []byte("1+1")))
	require.False(t, line.OnlyText(js, line.Editor, []byte("o.g")), "its preview runs a getter")
	stty := cooked
	stty.Special[4] = ';' // stty eol ';'
	require.False(t, line.OnlyText(line.Facts{Settings: stty}, line.Cooked, []byte("a;b")))
	require.True(t, line.OnlyText(line.Facts{Settings: cooked}, line.Cooked, []byte("a;b")))
	require.False(t, line.OnlyText(js, line.None, []byte("a")))
}

// typing is a screen with a prompt, where people type.
type typing struct {
	t       *testing.T
	m       model
	tracker line.Tracker
	cooked  bool
	group   int
	spell   uint64
	doing   line.Activity // without group and spell
}

// waiting is a line editor that waits at its prompt.
var waiting = line.Activity{Prompt: line.Editor, Read: true, Waits: true, Known: true}

func newTyping(t *testing.T, cols, rows int, prompt string) *typing {
	p := &typing{t: t, m: newModel(cols, rows), group: 7, doing: waiting}
	p.tracker.Cooked = func() bool { return p.cooked }
	p.tracker.Group = func() int { return p.group }
	p.tracker.Spell = func() uint64 { return p.spell }
	p.shows(prompt)
	p.tracker.ReadPrompt(p.m)
	return p
}

func (p *typing) shows(s string) {
	p.m.Feed([]byte(s))
	row, col := p.m.Cursor()
	p.tracker.SetPlace(line.Place{Alt: p.m.Alt(), Line: p.m.Line(row), Col: col})
}

// user types keys, for which the program shows echo.
func (p *typing) user(keys, echo string)  { p.tracker.NoteUserKeys([]byte(keys)); p.shows(echo) }
func (p *typing) agent(keys, echo string) { p.tracker.NoteAgentKeys([]byte(keys)); p.shows(echo) }

// owner returns the line's owner, and the user's text.
func (p *typing) owner() (line.Owner, string) {
	typed := p.tracker.TypedLine()
	p.doing.Group, p.doing.Spell = p.group, p.spell
	owner, b := line.OwnerOf(p.m, p.doing, typed)
	if owner == line.Free {
		p.tracker.NoteLineFree(typed, false)
	}
	return owner, b.Text()
}

func (p *typing) occupied() bool {
	owner, _ := p.owner()
	return owner == line.Taken
}

// setDoing makes the program do something else than to wait at its prompt.
func (p *typing) setDoing(what string) {
	p.doing = waiting
	switch p.doing.Waits = false; what {
	case "cooked":
		p.doing.Prompt, p.doing.Waits = line.Cooked, true
	case "no-prompt":
		p.doing.Prompt = line.None
	case "unread":
		p.doing.Read = false
	case "sleeps":
		p.doing.Sleeps = true
	case "unknown", "quiet":
		p.doing.Known, p.doing.Quiet = false, what == "quiet"
	case "keeps":
		p.doing.KeepsLine, p.doing.Waits = true, true
	default:
		require.Equal(p.t, "runs", what)
	}
}

// TestPlays plays what people and agents type.
func TestPlays(t *testing.T) {
	corpus.Plays(t, "plays", func(t *testing.T, steps []corpus.Step) {
		var p *typing
		size := func(s string) (cols, rows int) {
			_, err := fmt.Sscanf(s, "%dx%d", &cols, &rows)
			require.NoError(t, err)
			return cols, rows
		}
		for _, s := range steps {
			switch what, arg := s.Words[0], s.Arg(1); what {
			case "typing":
				cols, rows := size(arg)
				p = newTyping(t, cols, rows, s.Arg(2))
			case "user":
				p.user(arg, s.Arg(2))
			case "agent":
				p.agent(arg, s.Arg(2))
			case "shows":
				p.shows(arg)
			case "rested":
				p.tracker.ReadPrompt(p.m)
			case "allow":
				p.tracker.AllowAgents()
			case "group":
				p.group = int(arg[0] - '0')
			case "cooked", "raw":
				p.cooked = what == "cooked"
			case "spell":
				p.spell = uint64(arg[0] - '0')
			case "doing":
				p.setDoing(arg)
			case "resize":
				p.m.Resize(size(arg))
			default:
				require.FailNow(t, "no such step", s.Line)
			}
			for _, w := range s.Wants {
				p.is(w, s.Line)
			}
		}
	})
}

// is checks a step's expectation.
func (p *typing) is(w corpus.Want, why string) {
	p.t.Helper()
	found := func(typed line.Start) string {
		b := line.ReadBuffer(p.m, typed)
		if !typed.Known || !b.Known {
			return "unknown"
		}
		require.Empty(p.t, b.After, why)
		return strings.TrimSuffix(b.Before+"|"+b.Tail, "|")
	}
	typed := p.tracker.TypedLine()
	switch w.Name + w.Value {
	case "asks", "asks-nothing":
		require.Equal(p.t, w.Value == "asks", typed.MayAskKey, why)
		return
	}
	switch w.Name {
	case "own":
		require.Equal(p.t, w.Value, found(typed.Own), why)
	case "line":
		require.Equal(p.t, w.Value, found(typed.Line), why)
	default:
		owner, text := p.owner()
		owners := map[string]line.Owner{"free": line.Free, "held": line.Taken, "holds": line.Taken, "pending": line.Pending}
		require.Equal(p.t, owners[cmp.Or(w.Name, w.Value)], owner, why)
		if w.Value != "held" {
			require.Equal(p.t, map[bool]string{true: w.Value}[w.Name == "holds"], text, why)
		}
	}
}

func (p *typing) free() {
	p.t.Helper()
	require.False(p.t, p.occupied())
}

// Otherwise, an agent's line would continue it.
func TestTheUserBeginsALineR63(t *testing.T) {
	for _, c := range corpus.Rows[struct {
		Prompt, Rest string
		Held         bool
	}](t, "began") {
		p := newTyping(t, 40, 8, c.Prompt)
		for _, begun := range []string{"begin", "more"} {
			p.user(begun, begun)
			p.user("\r", "\r\n"+c.Rest)
			p.tracker.ReadPrompt(p.m)
			require.Equal(t, c.Held, p.occupied(), "%q after %q, %s", c.Rest, c.Prompt, begun)
		}
		p.tracker.AllowAgents()
		p.free()
		p.user("\x03", "^C\r\n"+c.Prompt)
		p.free()
	}
}

// Keys that came before the first prompt was drawn, or seen, begin a line all the same.
func TestKeysBeforeThePromptBeginALineR63(t *testing.T) {
	for rest, held := range map[string]bool{"> ": true, "... ": true, "for> ": true, "      ": true, "$ ": false, "root@vm /tmp# ": false, "": false} {
		p := newTyping(t, 40, 8, "")
		p.user("for i in 1", "")
		p.shows("$ for i in 1")
		p.user("\r", "\r\n"+rest)
		p.tracker.ReadPrompt(p.m)
		require.Equal(t, held, p.occupied(), "%q", rest)
	}
}

// node keeps the mode of its prompt while it waits for what was submitted.
func TestBehindAPrompt(t *testing.T) {
	for shown, want := range map[string]bool{"> ": true, "$ ls": true, "> await x\r\n": false, "> 1\r\n    ": false, "> " + strings.Repeat("x", 38): true, "": false} {
		require.Equal(t, want, line.HasPromptText(newTyping(t, 40, 8, shown).m), "%q", shown)
	}
}

func TestASuggestionIsNotSentR66(t *testing.T) {
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
		b := line.ReadBuffer(p.m, p.tracker.TypedLine().Line)
		require.True(t, b.Known, name)
		sent, suggested := b.SplitSuggested(c.moved)
		require.Equal(t, [2]string{c.sent, c.suggested}, [2]string{sent, suggested}, name)
	}
	require.True(t, line.LacksTyped("ls", []string{"rm", "ls"}))
	require.False(t, line.LacksTyped("ls", []string{"l", "s"}))
	require.False(t, line.LacksTyped("one\ntwo", []string{"two", "one"}))
	require.True(t, line.LacksTyped("# rm x", []string{"rm x", "# rm x"}), "what shows one shows no other")
}

// For a line editor that enabled bracketed paste, while it edits the line.
func TestWhereAPasteIsTextR65(t *testing.T) {
	bash := line.Facts{Settings: isReadline, Program: run("/bin/bash"), Paste: true}
	require.True(t, line.TakesPasteAsText(bash))
	for name, f := range map[string]line.Facts{
		"2004 is off":                  {Settings: isReadline, Program: run("/bin/bash")},
		"it may ask for a key":         {Settings: isReadline, Program: run("/bin/bash"), Paste: true, MayAskKey: true},
		"node, and something printed":  {Settings: node, Program: run("/usr/bin/node"), Paste: true},
		"a vi mode":                    {Settings: isReadline, Program: run("/bin/bash"), Paste: true, KeysChanged: true},
		"the kernel collects the line": {Settings: cooked, Program: run("/bin/bash"), Paste: true, Reads: true},
	} {
		require.False(t, line.TakesPasteAsText(f), name)
	}
}

// A quoted Enter, or Enter pressed with Escape as one key, does not end a line.
func TestWhatEndsALineR66(t *testing.T) {
	for keys, want := range map[string]bool{"\r": true, "\n": true, "\x16|\n": false, "\x11|\r": false, "\x1b\r": false, "\x1b|\r": false} {
		p := newTyping(t, 20, 3, "$ ")
		p.agent("a", "a")
		for _, key := range strings.Split(keys, "|") {
			p.agent(key, "")
		}
		require.Equal(t, want, !p.tracker.TypedLine().Line.Set, "%q", keys)
	}
}

// Escape leads into a vi mode, ^X begins a command.
func TestAKeyThatChangesWhatLettersMeanR65(t *testing.T) {
	for keys, want := range map[string]bool{"\x1b": true, "\x1bx": true, "\x18": true, "\x16": true, "\x1b[A": false, "\x1bOA": false, "abc": false} {
		p := newTyping(t, 20, 3, "$ ")
		p.user(keys, "")
		require.Equal(t, want, p.tracker.TypedLine().KeysChanged, "%q", keys)
		p.agent("x", "x")
		p.agent("\r", "\r\n$ ")
		require.False(t, p.tracker.TypedLine().KeysChanged, "a new line")
	}
}
