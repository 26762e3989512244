package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// nodeMasks draws its line anew with every key, as the prompts of Node's libraries do.
const nodeMasks = `
const out = s => process.stdout.write(s); process.stdin.setRawMode(true); let n = 0; out("✔ Geheim › ")
process.stdin.on("data", d => { for (const c of d) {
  if (c === 10 || c === 13) { out("\r\nlength " + n + "\n"); process.exit() }
  n++; out("\r\x1b[K✔ Geheim › " + "*".repeat(n)) } })
`

// masking are prompts for a secret that no word tells, in programs that read raw keys.
var masking = []struct {
	name, needs, line, prompt string
	blind                     bool // nothing at all may be shown for a key: it is known from the start
}{
	{name: "fish", needs: "fish", line: `fish --no-config -c 'read --silent -P "Geheim? " x; echo length (string length $x)'`, prompt: "Geheim?"},
	{name: "whiptail", needs: "whiptail", line: "whiptail --passwordbox Geheim 10 40 2> filled; wc -c < filled | sed 's/^/length /'", prompt: "Geheim", blind: true},
	{name: "dialog", needs: "dialog", line: "dialog --title Zugang --passwordbox Geheim 10 40 2> filled; wc -c < filled | sed 's/^/length /'", prompt: "Geheim", blind: true},
	{name: "dialog with asterisks", needs: "dialog", line: "dialog --insecure --passwordbox Geheim 10 40 2> filled; wc -c < filled | sed 's/^/length /'", prompt: "Geheim", blind: true},
	{name: "node", needs: "node", line: "node mask.js", prompt: "Geheim"},
	{name: "a shell's loop", needs: "bash", line: `bash -c 'printf "Geheim> "; n=0; while IFS= read -rsn1 c && [ -n "$c" ]; do n=$((n+1)); printf "*"; done; echo; echo length $n'`, prompt: "Geheim>"},
	{name: "another machine", needs: "sshd", line: `ssh -t -F none -i user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -p $(cat port) 127.0.0.1 'bash -c '\''printf "Geheim> "; n=0; while IFS= read -rsn1 c && [ -n "$c" ]; do n=$((n+1)); printf "*"; done; echo; echo length $n'\'`, prompt: "Geheim>"},
}

// R78: n keys that are answered by n signs are a prompt for a secret, whatever the language; forms are known by what they were
// asked to draw.
func TestR78SignsForKeys(t *testing.T) {
	for _, a := range masking {
		t.Run(a.name, func(t *testing.T) {
			w := newWorld(t, strings.TrimSuffix(a.needs, "d"))
			w.write("mask.js", nodeMasks)
			s, o := w.asked(prompter{name: a.name, needs: a.needs, line: a.line, prompt: a.prompt})
			if !a.blind {
				require.Nil(t, o.reads().Frame.Blackout, "nothing tells it yet")
				s.typed(canary[:2])
			}
			o.until("it is a prompt", func(got *protocol.ReadResult) bool { return got.Frame.Blackout != nil && got.Frame.Settled })
			shown := o.reads().Frame
			require.Equal(t, protocol.SecretSoft, shown.Blackout.Secret)
			require.Contains(t, strings.Join(shown.Screen.Lines, "\n"), a.prompt)
			got := w.gateway("send", o.id, "--text", "evil")
			require.Equal(t, 1, got.status, "the agent's input: %s", got.err)
			require.Contains(t, got.err, "asks the user for a password")
			rest := canary
			if !a.blind {
				rest = canary[2:]
			}
			for i := range rest {
				s.typed(rest[i : i+1])
				now := o.reads().Frame
				require.Equal(t, shown.Screen.Cursor, now.Screen.Cursor)
				require.NotContains(t, strings.Join(now.Screen.Lines, "\n"), "*")
			}
			s.press("Enter")
			s.wait("length 10")
			s.status()
			w.nothingHas(canary, o, "filled")
			require.NotContains(t, s.screen(), "evil")
		})
	}
}

// R78: the user types asterisks, edits a list of them and answers questions: none of that is a secret.
func TestR78NoFalsePrompts(t *testing.T) {
	w := newWorld(t, "vim", "fzf", "python3")
	s := w.terminal(80, 24)
	w.write("list.md", "* one\n* two\n*** rule ***\n")
	w.write("form.sh", "read -e -p 'Name: ' a; read -p 'Again? ' b; read -rn3 -p 'Three: ' c; echo; echo \"<$a$b$c>\"\n")
	s.run("proxy --agent bash --noprofile --rcfile bashrc -i")
	id := w.session()
	s.wait("$")
	o := w.overhear(id)
	shown := func(text string) {
		t.Helper()
		s.wait(text)
		w.good("wait", id, "--text", text)
		require.Nil(t, o.reads().Frame.Blackout, s.screen())
	}
	each := func(text string) { // key by key, with a look after each
		t.Helper()
		for i := range text {
			s.typed(text[i : i+1])
			require.Nil(t, o.reads().Frame.Blackout, s.screen())
		}
	}
	each("echo ***** 'a*b'")
	shown("echo ***** 'a*b'")
	s.typed("\n")
	each(". ./form.sh\n")
	each("***ab\n")
	shown("Again?")
	each("**\n")
	shown("Three:")
	each("*x*")
	shown("<***ab***x*>")
	s.typed("vim -u NONE -N -n -c 'set autoindent formatoptions+=ro comments=b:*' list.md\n")
	shown("* two")
	each("llkjjllllllllGolll")
	each("*** more **\n* and **on**")
	s.press("Escape")
	shown("and **on**")
	each("0llllhhhhxu.")
	each(":q!\n")
	s.typed("printf '***\\n**a\\n' | fzf\n")
	shown("2/2")
	each("**")
	each("a")
	shown("1/2")
	s.press("Enter")
	s.wait("\n**a\n")
	s.typed("python3 -c 'print(len(input(\"stars: \")))'\n")
	shown("stars:")
	each("****\n")
	shown("4")
	require.NotContains(t, o.all(), `"blackout"`)
	s.typed("exit\n")
	s.status()
}
