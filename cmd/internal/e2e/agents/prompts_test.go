package agents_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// act is one terminal_send and its expected effect.
type act struct {
	send world.Args
	see  string // a regular expression for a row of the screen
	file string // a file that then contains says
	has  string
}

// prompted is a real program with its own way of reading input.
type prompted struct {
	name    string
	program []string
	files   map[string]string
	dirs    []string
	ready   string // a regular expression for a row of the screen
	acts    []act
	// waits: it ends by a key that has another meaning, or none, while it does not wait for input.
	waits  bool
	ends   world.Args // ends the program
	left   string     // a file that then contains leaves
	leaves string
}

// sh runs a line in a shell that becomes the program.
func sh(line string) []string { return []string{"sh", "-c", line} }

func keysOf(names ...string) world.Args { return world.Args{"keys": names} }
func textOf(text string) world.Args     { return world.Args{"text": text} }
func lineOf(text string) world.Args     { return world.Args{"text": text, "enter": true} }

const strange = "ä 世界 🚀 é"

// shellActs work in the line editor of every shell: lines that wait for Enter, whatever they
// contain, and keys that edit.
var shellActs = []act{
	{send: lineOf("printf '%s\\n' '" + strange + "' > one"), see: world.Prompt, file: "one", has: strange + "\n"},
	{send: textOf("touch a1\n  touch a2")}, // on the line, and not run
	{send: keysOf("ctrl-c"), see: world.Prompt},
	{send: lineOf("ls a1 > none 2>&1 || echo none > ended"), see: world.Prompt, file: "ended", has: "none\n"},
	{send: textOf("rld > hello")},
	{send: keysOf("ctrl-a")},
	{send: lineOf("echo wo"), see: world.Prompt, file: "hello", has: "world\n"},
	{send: textOf("echo abXcd > keys")},
	{send: keysOf("ctrl-a", "right*8", "backspace", "end", "enter"), see: world.Prompt, file: "keys", has: "abcd\n"},
	{send: textOf("echo ended > ended\n"), see: world.Prompt, file: "ended", has: "ended\n"},
	{send: textOf("echo spac")},
	{send: keysOf("e", " ", ">", "space", "s", "\n"), see: world.Prompt, file: "s", has: "space\n"},
	{send: keysOf("up*3")},
	{send: world.Args{"text": "2", "keys": []string{"enter"}}, see: world.Prompt, file: "keys2", has: "abcd\n"},
}

// document is a text in which each newline and each blank counts.
const document = "def f(x):\n    if x:\n        return '世界'\n\n    return \"ä\"\n"

var heredoc = act{send: lineOf("cat > two <<'EOF'\n" + document + "EOF"), see: world.Prompt, file: "two", has: document}

var prompts = []prompted{
	{
		name: "bash", program: []string{"bash", "--norc", "--noprofile", "-i"}, ready: world.Prompt, acts: append(shellActs, heredoc), ends: keysOf("ctrl-d"),
	},
	{
		name: "zsh", program: []string{"zsh", "-f"}, ready: world.Prompt, acts: append(shellActs, heredoc), ends: keysOf("ctrl-d"),
	},
	{
		name: "fish", program: []string{"fish"}, ready: world.Prompt,
		dirs: []string{"home/.local/share/fish/generated_completions"}, // otherwise fish generates them in the background
		acts: append(shellActs, act{send: lineOf("begin\n  echo '世界'\n  echo ä\nend > two"), see: world.Prompt, file: "two", has: "世界\nä\n"}),
		ends: keysOf("ctrl-d"),
	},
	{
		name: "python3 (readline)", program: []string{"python3", "-q"}, ready: `^>>>`,
		acts: []act{
			{send: lineOf("6*7"), see: `^42$`},
			{send: lineOf("print('" + strange + "')"), see: "^" + strange},
			{send: lineOf("for i in range(3):\n    if i:\n        print('row', i*i)\n"), see: `^row 4$`},
			{send: lineOf("print(1)\nprint(20)\nprint(300)"), see: `^300$`},
		},
		waits: true, ends: keysOf("ctrl-d"),
	},
	{
		name: "python3, line by line", program: []string{"env", "PYTHON_BASIC_REPL=1", "TERM=dumb", "python3", "-q"}, ready: `^>>>`,
		acts:  []act{{send: textOf("def f():\n return 6*7\n\nf()\n"), see: `^42$`}},
		waits: true, ends: keysOf("ctrl-d"),
	},
	{
		name: "tr, lines of the kernel", program: []string{"tr", "a-z", "A-Z"},
		acts: []act{{send: textOf("one\ntwo\n"), see: `TWO$`}},
		ends: keysOf("ctrl-d"),
	},
	{
		name: "vim, a paste", program: []string{"vim", "-N", "-u", "NONE", "-n", "-c", "set autoindent smartindent expandtab sw=4 fo+=tcro tw=20", "two"}, ready: `\[New`,
		acts: []act{
			{send: keysOf("i")},
			{send: textOf("\tindented\n" + strings.TrimSuffix(document, "\n"))},
			{send: keysOf("esc")},
			{send: lineOf(":w"), file: "two", has: "\tindented\n" + document},
		},
		ends: lineOf(":q"),
	},
	{
		name: "vim, without pastes", program: []string{"vim", "-N", "-u", "NONE", "-n", "-c", "set t_BE=", "two"}, ready: `\[New`,
		acts: []act{
			{send: keysOf("i")},
			{send: textOf(strings.TrimSuffix(document, "\n"))},
			{send: keysOf("esc", "g", "g", "O")},
			{send: textOf(strange)},
			{send: keysOf("esc", ":", "w", "enter"), file: "two", has: strange + "\n" + document},
		},
		ends: lineOf(":q"),
	},
	{
		name: "nvim", program: []string{"nvim", "-u", "NONE", "-n", "-c", "set autoindent tw=20 fo+=t", "two"}, ready: `^two +0,0-1`,
		acts: []act{
			{send: keysOf("i")},
			{send: textOf(strings.TrimSuffix(document, "\n"))},
			{send: keysOf("ctrl-c")}, // it throws away what is typed right after it
			{send: keysOf("ctrl-home", "O")},
			{send: textOf(strange)},
			{send: keysOf("esc")},
			{send: lineOf(":w"), file: "two", has: strange + "\n" + document},
		},
		ends: lineOf(":q"),
	},
	{
		name: "nano", program: []string{"nano", "--ignorercfiles", "--autoindent", "two"}, ready: `New File`,
		acts: []act{
			{send: textOf(strings.TrimSuffix(document, "\n"))},
			{send: keysOf("ctrl-home")},
			{send: lineOf(strange)},
			{send: keysOf("ctrl-o"), see: `File Name to Write: two`},
			{send: keysOf("enter"), file: "two", has: strange + "\n" + document},
		},
		ends: keysOf("ctrl-x"),
	},
	{
		name: "less", program: []string{"less", "long"}, files: map[string]string{"long": numbered(200)}, ready: `^line 1 `,
		acts: []act{
			{send: lineOf("/line 150 世界"), see: `^line 150 世界`},
			{send: keysOf("g"), see: `^line 1 `},
			{send: keysOf("pagedown", "down*2"), see: `^line 48 `},
			{send: textOf("100g"), see: `^line 100 `},
			{send: keysOf("end"), see: `^line 200 `},
		},
		ends: keysOf("q"),
	},
	{
		name: "gdb", program: []string{"gdb", "-nx", "-q"}, ready: `^\(gdb\)`,
		acts: []act{
			{send: lineOf("print 6*7"), see: `^\$1 = 42`},
			{send: lineOf("echo " + strange + "\\n"), see: "^" + strange},
			{send: keysOf("up*2", "enter"), see: `^\$2 = 42`},
		},
		ends: lineOf("quit"),
	},
	{
		name: "fzf", program: sh("printf 'apple\nbanana\ncherry 世界\ncranberry\n' | fzf > picked"), ready: `4/4`,
		acts: []act{
			{send: textOf("世"), see: `1/4`},
			{send: keysOf("ctrl-u"), see: `4/4`},
			{send: textOf("rry"), see: `2/4`},
			{send: keysOf("up", "down", "ctrl-k")},
		},
		ends: world.Args{"enter": true}, left: "picked", leaves: "cranberry\n",
	},
	{
		name: "dialog, a line", program: sh("dialog --inputbox 'your name' 0 0 2> picked"), ready: `your name`,
		acts: []act{
			{send: textOf("Ada X世界 ä"), see: `Ada X世界 ä`},
			{send: keysOf("home", "right*4", "delete")},
		},
		ends: world.Args{"keys": []string{"tab"}, "enter": true}, left: "picked", leaves: "Ada 世界 ä",
	},
	{
		name: "mc", program: []string{"mc", "-a", "-d", "-X", "--nosubshell"}, ready: `10Quit`,
		files: map[string]string{"zz-last": "", "one.txt": "found me\n"},
		acts: []act{
			{send: lineOf("echo '世界 ä' > two"), file: "two", has: "世界 ä\n"},
			{send: keysOf("home", "alt-s"), see: `^.?/ `},
			{send: textOf("one")},
			{send: keysOf("f3"), see: `found me`},
			{send: keysOf("f10"), see: `UP--DIR`},
		},
		ends: keysOf("f10"),
	},
	{name: "htop", program: []string{"htop", "-C"}, ready: `F10Quit`, acts: []act{{send: keysOf("f1"), see: `trace syscalls`}, {send: keysOf("space"), see: `F10Quit`}}, ends: keysOf("f10")},
}

func numbered(n int) string {
	var text strings.Builder
	for i := range n {
		text.WriteString("line " + strconv.Itoa(i+1) + " 世界\n")
	}
	return text.String()
}

// One line, several lines, keys and Enter reach each real program as meant.
func TestTypingLandsInRealPrograms(t *testing.T) {
	t.Parallel()
	for _, p := range prompts {
		t.Run(p.name, func(t *testing.T) {
			needs := p.program[0]
			if needs == "sh" {
				needs, _, _ = strings.Cut(p.name, ",")
			}
			if _, err := exec.LookPath(needs); err != nil {
				t.Skipf("%s is not installed", needs)
			}
			w := world.New(t)
			for name, content := range p.files {
				w.Write(name, content)
			}
			for _, name := range p.dirs {
				require.NoError(t, os.MkdirAll(w.Path(name), 0o700))
			}
			a := w.Agent("claude", world.Eras[1])
			ready := world.Args{"program": p.program[0], "args": p.program[1:], "cwd": w.Dir, "wait_for": "waiting"}
			if p.ready != "" {
				ready["wait_for"], ready["value"] = "regex", p.ready
			}
			a.RunProgram(ready, "matched")
			for _, act := range p.acts {
				typeAndCheck(a, act)
			}
			if p.waits {
				a.MustCall("terminal_wait", world.Args{"for": "waiting"}, "matched")
			}
			p.ends["wait_for"] = "exit"
			require.Contains(t, sendInput(a, p.ends), "exited")
			if p.left != "" {
				require.Equal(t, p.leaves, w.Content(p.left))
			}
		})
	}
}

// typeAndCheck types and checks the effect.
func typeAndCheck(a *world.Agent, do act) {
	a.W.T.Helper()
	if do.see != "" {
		do.send["wait_for"], do.send["value"] = "regex", do.see
	}
	require.NotContains(a.W.T, sendInput(a, do.send), "no match")
	if do.file != "" {
		a.W.Until(func() bool { return a.W.Content(do.file) == do.has }, func() string {
			return do.file + " has " + a.W.Content(do.file) + "\n" + a.MustCall("terminal_read", nil)
		})
	}
}

// sendInput calls terminal_send, and tries again while the terminal looks as if it asked for a
// password, when nothing is typed. It looks so for a moment between ncurses' nocbreak and cbreak.
func sendInput(a *world.Agent, send world.Args) string {
	a.W.T.Helper()
	var got world.Answer
	a.W.Until(func() bool {
		got = a.Call("terminal_send", send)
		return !got.Fails || !strings.Contains(got.Text, "asks for a password") || !strings.Contains(got.Text, "typed: nothing")
	}, func() string { return got.Text })
	require.False(a.W.T, got.Fails, "terminal_send: %s", got.Text)
	return got.Text
}
