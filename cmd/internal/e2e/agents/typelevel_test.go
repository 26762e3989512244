package agents_test

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// typeCase is what an agent of level type does in a program. The file "done" is the effect of its
// last step.
type typeCase struct {
	name, program, ready string
	needs                []string // programs
	files                map[string]string
	steps                []typeStep
}

// typeStep is an input, after gateway send ID --as codex, and its outcome.
type typeStep struct {
	send  []string
	asks  string // a part of the question about it, or "" for no question
	never bool   // the user does not let it through
	says  string // the file "done" then has this text, "" for any
	ahead bool   // it is sent while the user is asked about the one before
}

// writes and edits pass without the user. asks and asksType take effect only when the user lets
// them through; so does ahead, which is sent during the question about the previous step. never is
// not let through.
func writes(text string) typeStep   { return typeStep{send: []string{"--text", text}} }
func edits(keys ...string) typeStep { return typeStep{send: keys} }
func asks(send ...string) typeStep  { return typeStep{send: send, asks: world.HeldKeys} }
func asksType(text string) typeStep { return asks("--text", text) }
func never(text string) typeStep {
	return typeStep{send: []string{"--text", text}, asks: world.HeldKeys, never: true}
}

func ahead(text string) typeStep {
	return typeStep{send: []string{"--text", text}, asks: `wants to send "` + text + `"`, ahead: true}
}

const plainFish = "fish --no-config --init-command 'function fish_prompt; echo \"> \"; end'"

// textIsMore are the ways in which text, or a key that edits, does more than edit.
var textIsMore = []typeCase{
	{"vim runs a register", "vim -u NONE -N notes", "touch", []string{"vim"}, map[string]string{"notes": ":silent !touch done\n"}, []typeStep{asksType(`yy@"`)}},
	{"zsh completes", "env PS1=next: zsh -f", "next:", []string{"zsh"}, nil, []typeStep{writes("echo $(touch done)/"), asks("tab")}},
	{
		"node's preview", "env NODE_REPL_HISTORY= node -i -r ./start", ">",
		[]string{"node"},
		map[string]string{"start.js": "globalThis.o = {get g() { require('fs').writeFileSync('done', ''); return {} }}\n"},
		[]typeStep{writes("o"), asksType(".g.a")},
	},
	{"less starts an editor", "env -u LESSSECURE VISUAL='touch done #' EDITOR= less notes", "two", []string{"less"}, map[string]string{"notes": "one\ntwo\n"}, []typeStep{asksType("v")}},
	{
		"tmux inside", "sh -c 'tmux -L inner -f /dev/null new \"echo up; trap : HUP; read x; :\"; touch done'", "up",
		[]string{"tmux"},
		nil,
		[]typeStep{asks("ctrl-b"), asksType("x"), asksType("y")},
	},
	{"dialog", "sh -c 'dialog --yesno sure? 6 30 && touch done'", "sure?", []string{"dialog"}, nil, []typeStep{asksType("y")}},
	{
		"a menu in a bash function that lies about its prompt", world.PlainBash, "1) go", nil,
		map[string]string{"rc": "PS1='$ '\nmenu() { printf '\\e[?2004h\\e]133;B\\a1) go'; read -sn1 a; [ $a = 1 ] && touch done; }\nmenu\n"},
		[]typeStep{asksType("1")},
	},
	{"brackets in dash", "dash -i", "up", []string{"dash"}, map[string]string{"start": "printf '\\033[?2004hup\\n'\n"}, []typeStep{asks("--paste", "pasted")}},
	{
		"a REPL's pager", "env PYTHONSTARTUP=start python3 -q", "two",
		[]string{"less", "python3"},
		map[string]string{"notes": "one\ntwo\n", "start": "import os\nos.system('less -X notes; touch done')\n"},
		[]typeStep{asksType("q")},
	},
	{
		"a paste where bash asks for a key", world.PlainBash, "$", nil,
		map[string]string{"rc": "PS1='$ '\nbind 'set show-all-if-ambiguous on'\n", "pasted": "n\ntouch done\n"},
		[]typeStep{writes("/usr/bin/"), asks("tab"), asks("--paste", "pasted")},
	},
	{
		"fish changes the directory", "fish --no-config --init-command 'mkdir in; cd in; function moved --on-variable PWD; touch done; end; function fish_prompt; echo \"> \"; end'", ">",
		[]string{"fish"},
		nil,
		[]typeStep{asks("alt-left")},
	},
	{"a vi mode's editor", world.PlainBash, "$", nil, map[string]string{"rc": "PS1='$ '\nset -o vi\nEDITOR='touch done #'\n"}, []typeStep{asks("esc"), asksType("v")}},
}

// inLineQuestions are the programs that ask inside their line editor: to the kernel, a question for
// a single key is a prompt like any other.
var inLineQuestions = []typeCase{
	{
		"zsh corrects", "env ZDOTDIR=. zsh -i", "%",
		[]string{"zsh"},
		map[string]string{".zshrc": "PS1='%% '\nsetopt correct\nx1() { touch done }\n"},
		[]typeStep{writes("x2"), asks("enter"), asksType("y")},
	},
	{
		"zsh lets choose", "env ZDOTDIR=. zsh -i", "%",
		[]string{"zsh"},
		map[string]string{".zshrc": "PS1='%% '\nf() { select x in a b; do touch done; break; done }\n"},
		[]typeStep{writes("f"), asks("enter"), writes("1"), asks("enter")},
	},
	{
		"bash reads three characters", world.PlainBash, "$", nil,
		map[string]string{"rc": "PS1='$ '\nf() { read -e -N 3 a; [ $a = yes ] && touch done; }\n"},
		[]typeStep{writes("f"), asks("enter"), asksType("y"), asksType("es")},
	},
	{
		"bash asks before its first prompt", world.PlainBash, "sure?", nil,
		map[string]string{"rc": "PS1='$ '\nread -e -n 1 -p 'sure? ' a; [ $a = y ] && touch done\n"},
		[]typeStep{asksType("y")},
	},
	{
		"fish asks", plainFish + " --init-command 'function f; read -n 1 -P \"go: \" a; test $a = y; and touch done; end'", ">",
		[]string{"fish"},
		nil,
		[]typeStep{writes("f"), asks("enter"), asksType("y")},
	},
	{
		"prompt_toolkit confirms", "ipython --no-banner", "In [1]:",
		[]string{"ipython"},
		nil,
		[]typeStep{writes("from prompt_toolkit.shortcuts import confirm; confirm('Go') and open('done', 'w')"), asks("enter"), asksType("y")},
	},
	{
		"rm asks", world.PlainBash, "$", nil,
		map[string]string{"here": ""},
		[]typeStep{writes("rm -i here; ls here || touch done"), asks("enter"), writes("y"), asks("enter")},
	},
	{
		"gdb repeats", "gdb -q -nx", "(gdb)",
		[]string{"gdb"},
		nil,
		[]typeStep{writes("shell ls once && touch done; touch once"), asks("enter"), {send: []string{"enter"}, asks: "wants to send <Enter> · repeats the last command"}},
	},
}

// wideText is a command to a line editor for which bytes from 0x80 on are Meta keys: M-a, M-1 and
// M-#, with which Readline comments the line in and accepts it. C and "no such locale" are the
// same; an environment proves neither.
const wideText = "\u1c63"

// wide is a program in the locale C that an agent types into: trap, which wideText would run, and
// then line, which the user lets through.
type wide struct {
	program, ready, needs string
	files                 map[string]string
	trap, line            string
	// narrow: it does not enable bracketed paste, so that wideText waits for the user; alien:
	// everything waits.
	narrow, alien bool
}

var wides = []wide{
	{program: world.PlainBash, ready: "$"},
	{program: "env LC_ALL=C.UTF-8 " + world.PlainBash, ready: "$"},
	{program: "env -u LC_ALL LANG=xx_XX.UTF-8 " + world.PlainBash, ready: "$"},
	{program: world.PlainBash + " -o vi", ready: "$"},
	{program: "env INPUTRC=inputrc " + world.PlainBash, ready: "$", files: map[string]string{"inputrc": "set convert-meta on\nset input-meta off\n"}},
	{program: world.PlainBash, ready: "$", files: map[string]string{"rc": "PS1='$ '\nbind 'set enable-bracketed-paste off'\n"}, narrow: true},
	{program: "env ZDOTDIR=. zsh -i", ready: "%", needs: "zsh", files: map[string]string{".zshrc": "PS1='%% '\nbindkey -e\nbindkey -m 2>/dev/null\n"}, trap: "touch hit"},
	{program: plainFish, ready: ">", needs: "fish"},
	{program: "python3 -q", ready: ">>>", needs: "python3", trap: "#open('hit', 'w')", line: "open('done', 'w').write('ä')", narrow: true},
	{program: "gdb -q -nx", ready: "(gdb)", needs: "gdb", trap: "#shell touch hit", line: "shell echo ä > done"},
	{program: "sqlite3", ready: "sqlite>", needs: "sqlite3", trap: "#.shell touch hit", line: ".shell echo ä > done"},
	{program: "sh -c 'stty istrip; PS1=up: exec dash -i'", ready: "up:", needs: "dash", trap: "touch hit", narrow: true},
	{program: "env PS1=up: rlwrap dash -i", ready: "up:", needs: "rlwrap", alien: true},
}

func (p wide) typeCase() typeCase {
	c := typeCase{name: "bytes from 0x80 on: " + p.program, program: "env LC_ALL=C " + p.program, ready: p.ready, files: p.files}
	if p.needs != "" {
		c.needs = []string{p.needs}
	}
	trap, line := cmp.Or(p.trap, "#touch hit"), cmp.Or(p.line, "echo ä > done")
	switch {
	case p.alien:
		c.steps = []typeStep{never(trap), never(wideText)}
	case p.narrow:
		c.steps = []typeStep{writes(trap), never(wideText), edits("ctrl-u"), writes(strings.ReplaceAll(line, "ä", "a")), asks("enter")}
	default:
		c.steps = []typeStep{writes(trap), writes(wideText), writes("ō › ś"), edits("ctrl-u"), writes(line), {send: []string{"enter"}, asks: world.HeldKeys, says: "ä"}}
	}
	return c
}

// starts are programs whose line editor starts one that reads a single key, which an agent sends
// after an Enter.
var starts = []typeCase{
	{name: "bash", program: world.PlainBash, ready: "$", steps: []typeStep{writes("bash key")}},
	{name: "fish", program: plainFish, ready: ">", needs: []string{"fish"}, steps: []typeStep{writes("bash key")}},
	{name: "dash", program: "env PS1=up: dash -i", ready: "up:", needs: []string{"dash"}, steps: []typeStep{writes("bash key")}},
	{name: "python3", program: "python3 -q", ready: ">>>", needs: []string{"python3"}, steps: []typeStep{writes("import os; os.system('bash key')")}},
}

func typeCases() []typeCase {
	all := append(slices.Clone(textIsMore), inLineQuestions...)
	for _, p := range wides {
		all = append(all, p.typeCase())
	}
	for _, c := range starts {
		c.name = "behind an Enter in " + c.name
		c.steps = append(slices.Clone(c.steps), typeStep{send: []string{"enter"}, asks: "wants to send <Enter>"}, ahead("y"))
		all = append(all, c)
	}
	return all
}

// Level type is a promise about a line. Outside a line prompt every input waits for the user, and
// takes effect once the user lets it through.
func TestInputTakesEffectOnlyOnceTheUserConfirmsR65(t *testing.T) {
	t.Parallel()
	for _, c := range typeCases() {
		t.Run(c.name, func(t *testing.T) {
			w := world.New(t, c.needs...)
			w.Write("rc", "PS1='$ '\n")
			w.Write("key", "read -n1 a\ntest $a = y && touch done\n")
			w.Write("pasted", "#\ntouch done\n")
			w.Env = append(w.Env, "ENV="+w.Path("start"))
			for name, content := range c.files {
				w.Write(name, content)
			}
			s := w.Terminal(100, 24)
			s.Run("proxy --agent --grant type --yield 100ms " + c.program)
			s.Wait(c.ready)
			id := w.Session()
			w.RequestGrant(id, "--level", "type", "--as", "codex")
			sent := make([]*world.Running, len(c.steps))
			send := func(i int) {
				if sent[i] == nil {
					sent[i] = w.Start("gateway", append([]string{"send", id, "--as", "codex"}, c.steps[i].send...)...)
				}
			}
			for i, step := range c.steps {
				require.NoFileExists(t, w.Path("done"))
				send(i)
				switch {
				case step.never:
					s.Wait(step.asks)
					w.Kill(strconv.Itoa(sent[i].Cmd.Process.Pid), syscall.SIGINT)
					sent[i].Wait()
					s.WaitGone(step.asks)
					continue
				case step.asks != "":
					s.Wait(step.asks)
					require.NoFileExists(t, w.Path("done"))
					if i+1 < len(c.steps) && c.steps[i+1].ahead {
						send(i + 1)
					}
					s.PressWhile("C-g", step.asks)
				}
				got := sent[i].Wait()
				if i < len(c.steps)-1 { // the last one may end the program
					require.Zero(t, got.Status, got.Err)
				}
				require.False(t, step.asks == "" && strings.Contains(s.Screen(), world.HeldKeys), s.Screen())
			}
			last := c.steps[len(c.steps)-1]
			require.NoFileExists(t, w.Path("hit"))
			if last.never {
				return
			}
			w.Until(func() bool { _, err := os.Stat(w.Path("done")); return err == nil }, s.Screen)
			require.NoFileExists(t, w.Path("hit"))
			if last.says != "" {
				require.Equal(t, last.says, strings.TrimSpace(w.WaitHeard("done", ".")))
			}
		})
	}
}
