package agents_test

import (
	"maps"
	"os"
	"slices"
	"strings"
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
	return typeStep{send: []string{"--timeout", "2s", "--text", text}, asks: world.HeldKeys, never: true}
}

func ahead(text string) typeStep {
	return typeStep{send: []string{"--text", text}, asks: `wants to send "` + text + `"`, ahead: true}
}

const plainFish = "fish --no-config --init-command 'function fish_prompt; echo \"> \"; end'"

// textIsMore are the ways in which text, or a key that edits, does more than edit.
var textIsMore = []typeCase{
	{"vim runs a register", "vim -u NONE -N notes", "touch", []string{"vim"}, map[string]string{"notes": ":silent !touch done\n"}, []typeStep{asksType(`yy@"`)}},
	{"vim's command line window", "vim -u NONE -N notes", "~", []string{"vim"}, nil, []typeStep{asksType("::silent !touch done"), asks("ctrl-f"), asksType(`yy@"`)}},
	{"vim writes and quits", "vim -u NONE -N done", "~", []string{"vim"}, nil, []typeStep{asksType("ix"), asks("esc"), asksType("ZZ")}},
	{
		"zsh completes", "env PS1=next: zsh -f", "next:",
		[]string{"zsh"},
		nil,
		[]typeStep{writes("echo $(touch done)/"), asks("tab")},
	},
	{
		"python completes", "env PYTHONSTARTUP=start python3 -q", ">>>",
		[]string{"python3"},
		map[string]string{"start": "import readline, rlcompleter\nreadline.parse_and_bind('tab: complete')\nclass A:\n @property\n def b(self): open('done', 'w'); return 1\na = A()\n"},
		[]typeStep{writes("a.b."), asks("tab", "tab")},
	},
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
	{"whiptail", "sh -c 'whiptail --yesno sure? 8 30 && touch done'", "sure?", []string{"whiptail"}, nil, []typeStep{asksType(" ")}},
	{"read -n1 in a shell", world.PlainBash, "sure?", nil, map[string]string{"rc": "PS1='$ '\nread -n1 -p 'sure? ' a\n[ $a = y ] && touch done\n"}, []typeStep{asksType("y")}},
	{
		"a menu in a bash function that lies about its prompt", world.PlainBash, "1) go", nil,
		map[string]string{"rc": "PS1='$ '\nmenu() { printf '\\e[?2004h\\e]133;B\\a1) go'; read -sn1 a; [ $a = 1 ] && touch done; }\nmenu\n"},
		[]typeStep{asksType("1")},
	},
	{
		"a menu in a python script that lies about its prompt", "python3 menu", "1) go",
		[]string{"python3"},
		map[string]string{"menu": "import sys, tty\ntty.setcbreak(0)\nprint('\\x1b[?2004h\\x1b]133;B\\a1) go', flush=True)\nif sys.stdin.read(1) == '1': open('done', 'w')\n"},
		[]typeStep{asksType("1")},
	},
	{"fzf runs a binding", "sh -c 'seq 9 | fzf --bind \"change:execute-silent(touch done)\"'", ">", []string{"fzf"}, nil, []typeStep{asksType("1")}},
	{
		"brackets in dash", "dash -i", "up",
		[]string{"dash"},
		map[string]string{"start": "printf '\\033[?2004hup\\n'\n"},
		[]typeStep{asks("--paste", "pasted")},
	},
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
		"a paste into node, which knows no brackets", "env NODE_REPL_HISTORY= node -i -r ./start", ">",
		[]string{"node"},
		map[string]string{"start.js": "process.stdout.write('\\x1b[?2004h')\n", "pasted": "require('fs').writeFileSync('done', '')\n"},
		[]typeStep{asks("--paste", "pasted")},
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
		"zsh reads a variable", "env ZDOTDIR=. zsh -i", "%",
		[]string{"zsh"},
		map[string]string{".zshrc": "PS1='%% '\nf() { vared -p 'name: ' -c x; touch done }\n"},
		[]typeStep{writes("f"), asks("enter"), asksType("y"), asks("enter")},
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
		"bash reads up to a letter", world.PlainBash, "$", nil,
		map[string]string{"rc": "PS1='$ '\nf() { read -e -d y -p 'go: ' a; touch done; }\n"},
		[]typeStep{writes("f"), asks("enter"), asksType("y")},
	},
	{
		"bash asks", world.PlainBash, "$", nil,
		map[string]string{"rc": "PS1='$ '\nf() { read -e -n 1 -p 'Go on [y/N] ' a; [ $a = y ] && touch done; }\n"},
		[]typeStep{writes("f"), asks("enter"), asksType("y")},
	},
	{
		"bash asks before its first prompt", world.PlainBash, "sure?", nil,
		map[string]string{"rc": "PS1='$ '\nread -e -n 1 -p 'sure? ' a; [ $a = y ] && touch done\n"},
		[]typeStep{asksType("y")},
	},
	{
		"bash lets choose", world.PlainBash, "$", nil,
		map[string]string{"rc": "PS1='$ '\nf() { select x in a b; do touch done; break; done; }\n"},
		[]typeStep{writes("f"), asks("enter"), writes("1"), asks("enter")},
	},
	{
		"fish reads a character", plainFish + " --init-command 'function f; read --nchars 1 a; test $a = y; and touch done; end'", ">",
		[]string{"fish"},
		nil,
		[]typeStep{writes("f"), asks("enter"), asksType("y")},
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

var locales = map[string]string{
	"C": "env LC_ALL=C ", "POSIX": "env -u LANG LC_CTYPE=POSIX ", "none": "env -u LANG ", "not installed": "env LANG=xx_XX.UTF-8 ", "UTF-8": "env LC_ALL=C.UTF-8 ",
}

// wide is a program that an agent types into in each locale: trap, which wideText would run, and
// then line, which the user lets through.
type wide struct {
	typeCase
	trap, line string
	// narrow: it does not enable bracketed paste, so that wideText waits for the user; alien:
	// everything waits.
	narrow, alien bool
}

var wides = []wide{
	{typeCase{name: "bash", program: world.PlainBash, ready: "$"}, "#touch hit", "echo ä > done", false, false},
	{typeCase{name: "bash, an expansion", program: world.PlainBash, ready: "$"}, "echo $(touch hit)Å", "echo ä > done", false, false},
	{typeCase{name: "bash, vi keys", program: world.PlainBash + " -o vi", ready: "$"}, "#touch hit", "echo ä > done", false, false},
	{
		typeCase{name: "bash, Meta everywhere", program: "env INPUTRC=inputrc " + world.PlainBash, ready: "$", files: map[string]string{"inputrc": "set convert-meta on\nset input-meta off\n"}},
		"#touch hit", "echo ä > done", false, false,
	},
	{
		typeCase{name: "bash, another locale", program: world.PlainBash, ready: "$", files: map[string]string{"rc": "PS1='$ '\nexport LC_ALL=C\n"}},
		"#touch hit", "echo ä > done", false, false,
	},
	{
		typeCase{name: "bash, brackets off", program: world.PlainBash, ready: "$", files: map[string]string{"rc": "PS1='$ '\nbind 'set enable-bracketed-paste off'\n"}},
		"#touch hit", "echo ä > done", true, false,
	},
	{
		typeCase{name: "zsh, Meta keys", program: "env ZDOTDIR=. zsh -i", ready: "%", needs: []string{"zsh"}, files: map[string]string{".zshrc": "PS1='%% '\nbindkey -e\nbindkey -m 2>/dev/null\n"}},
		"touch hit", "echo ä > done", false, false,
	},
	{typeCase{name: "fish", program: plainFish, ready: ">", needs: []string{"fish"}}, "#touch hit", "echo ä > done", false, false},
	{typeCase{name: "python3", program: "python3 -q", ready: ">>>", needs: []string{"python3"}}, "#open('hit', 'w')", "open('done', 'w').write('ä')", true, false},
	{typeCase{name: "ipython", program: "ipython --no-banner", ready: "In [1]:", needs: []string{"ipython"}}, "#open('hit', 'w')", "open('done', 'w').write('ä')", false, false},
	{typeCase{name: "gdb", program: "gdb -q -nx", ready: "(gdb)", needs: []string{"gdb"}}, "#shell touch hit", "shell echo ä > done", false, false},
	{typeCase{name: "sqlite3", program: "sqlite3", ready: "sqlite>", needs: []string{"sqlite3"}}, "#.shell touch hit", ".shell echo ä > done", false, false},
	{typeCase{name: "dash", program: "env PS1=up: dash -i", ready: "up:", needs: []string{"dash"}}, "#touch hit", "echo ä > done", false, false},
	{typeCase{name: "dash, seven bits", program: "sh -c 'stty istrip; PS1=up: exec dash -i'", ready: "up:", needs: []string{"dash"}}, "touch hit", "echo ä > done", true, false},
	{typeCase{name: "rlwrap", program: "env PS1=up: rlwrap dash -i", ready: "up:", needs: []string{"rlwrap", "dash"}}, "#touch hit", "echo ä > done", false, true},
	{typeCase{name: "lftp", program: "lftp", ready: ">", needs: []string{"lftp"}}, "#!touch hit", "!echo ä > done", false, true},
	{typeCase{name: "bc", program: "bc", ready: "warranty", needs: []string{"bc"}}, "#", "print 6*7", false, true},
}

// in returns the program's case in a locale.
func (p wide) in(locale string) typeCase {
	c := p.typeCase
	c.name, c.program = c.name+", locale "+locale, locales[locale]+c.program
	switch {
	case p.alien:
		c.steps = []typeStep{never(p.trap), never(wideText)}
	case p.narrow:
		c.steps = []typeStep{writes(p.trap), never(wideText), never("ō"), edits("ctrl-u"), writes(strings.ReplaceAll(p.line, "ä", "a")), asks("enter")}
	default:
		c.steps = []typeStep{writes(p.trap), writes(wideText), writes("ō › ś"), edits("ctrl-u"), writes(p.line), {send: []string{"enter"}, asks: world.HeldKeys, says: "ä"}}
	}
	return c
}

// key starts a program that reads a single key.
const key = "bash key"

// starts are programs whose line editor starts others, which read what an agent sends after an
// Enter.
var starts = []typeCase{
	{name: "bash", program: world.PlainBash, ready: "$", steps: []typeStep{writes(key)}},
	{name: "zsh", program: "env PS1=next: zsh -f", ready: "next:", needs: []string{"zsh"}, steps: []typeStep{writes(key)}},
	{name: "fish", program: plainFish, ready: ">", needs: []string{"fish"}, steps: []typeStep{writes(key)}},
	{name: "dash", program: "env PS1=up: dash -i", ready: "up:", needs: []string{"dash"}, steps: []typeStep{writes(key)}},
	{name: "python3", program: "python3 -q", ready: ">>>", needs: []string{"python3"}, steps: []typeStep{writes("import os; os.system('" + key + "')")}},
	{name: "ipython", program: "ipython --no-banner", ready: "In [1]:", needs: []string{"ipython"}, steps: []typeStep{writes("import os; os.system('" + key + "')")}},
	{name: "gdb", program: "gdb -q -nx", ready: "(gdb)", needs: []string{"gdb"}, steps: []typeStep{writes("shell " + key)}},
	{name: "sqlite3", program: "sqlite3", ready: "sqlite>", needs: []string{"sqlite3"}, steps: []typeStep{writes(".shell " + key)}},
	{name: "fish, a pager", program: "env VISUAL='touch done #' EDITOR= LESS= " + plainFish, ready: ">", needs: []string{"fish", "less"}, files: map[string]string{"rows": numbered(99)}, steps: []typeStep{writes("less rows")}},
}

func typeCases() []typeCase {
	all := append(slices.Clone(textIsMore), inLineQuestions...)
	for _, p := range wides {
		for _, locale := range slices.Sorted(maps.Keys(locales)) {
			all = append(all, p.in(locale))
		}
	}
	for _, c := range starts {
		text := "y"
		if strings.Contains(c.name, "pager") {
			text = "v"
		}
		c.name = "behind an Enter in " + c.name
		c.steps = append(slices.Clone(c.steps), typeStep{send: []string{"enter"}, asks: "wants to send <Enter>"}, ahead(text))
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
					s.WaitShown(step.asks)
					require.Equal(t, 124, sent[i].Wait().Status, "in time")
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
