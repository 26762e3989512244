package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// nodeMasks redraws its line with every key, as the prompts of Node's libraries do.
const nodeMasks = `
const out = s => process.stdout.write(s); process.stdin.setRawMode(true); let n = 0; out("✔ Geheim › ")
process.stdin.on("data", d => { for (const c of d) {
  if (c === 10 || c === 13) { out("\r\nlength " + n + "\n"); process.exit() }
  n++; out("\r\x1b[K✔ Geheim › " + "*".repeat(n)) } })
`

// masking are prompts for a secret in programs that read raw keys, without a telling word. Forms
// may show nothing at all for a key: they are recognised from the start.
var masking = []prompter{
	{"fish, by its signs", "fish", `fish --no-config -c 'read --silent -P "Geheim? " x; echo length (string length $x)'`, "Geheim?", protocol.SecretSoft, "length 10", true},
	{"whiptail, by its signs", "whiptail", "whiptail --passwordbox Geheim 10 40 2> filled; wc -c < filled | sed 's/^/length /'", "Geheim", protocol.SecretSoft, "length 10", false},
	{"dialog, by its signs", "dialog", "dialog --title Zugang --passwordbox Geheim 10 40 2> filled; wc -c < filled | sed 's/^/length /'", "Geheim", protocol.SecretSoft, "length 10", false},
	{"dialog with asterisks, by its signs", "dialog", "dialog --insecure --passwordbox Geheim 10 40 2> filled; wc -c < filled | sed 's/^/length /'", "Geheim", protocol.SecretSoft, "length 10", false},
	{"node, by its signs", "node", "node mask.js", "Geheim", protocol.SecretSoft, "length 10", true},
	{"a shell's loop, by its signs", "bash", `bash -c 'printf "Geheim> "; n=0; while IFS= read -rsn1 c && [ -n "$c" ]; do n=$((n+1)); printf "*"; done; echo; echo length $n'`, "Geheim>", protocol.SecretSoft, "length 10", true},
	{"another machine, by its signs", "sshd", `ssh -t -F none -i user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -p $(cat port) 127.0.0.1 'bash -c '\''printf "Geheim> "; n=0; while IFS= read -rsn1 c && [ -n "$c" ]; do n=$((n+1)); printf "*"; done; echo; echo length $n'\'`, "Geheim>", protocol.SecretSoft, "length 10", true},
}

// R78: when the user types asterisks, edits a list of them and answers questions, nothing of it is
// taken for a secret.
func TestNoFalsePromptsR78(t *testing.T) {
	w := newWorld(t, "vim", "fzf", "python3")
	s := w.terminal(80, 24)
	w.write("list.md", "* one\n* two\n*** rule ***\n")
	w.write("form.sh", "read -e -p 'Name: ' a; read -p 'Again? ' b; read -rn3 -p 'Three: ' c; echo; echo \"<$a$b$c>\"\n")
	id := s.runBash("")
	o := w.overhear(id)
	shown := func(text string) {
		t.Helper()
		s.wait(text)
		w.mustGateway("wait", id, "--text", text)
		require.Nil(t, o.readAll().Frame.Blackout, s.screen())
	}
	each := func(text string) { // key by key, with a read after each
		t.Helper()
		for i := range text {
			s.typed(text[i : i+1])
			require.Nil(t, o.readAll().Frame.Blackout, s.screen())
		}
	}
	each("grep -r password: list.md; printf 'the password:'; echo ***** 'a*b'")
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
	s.wait("comments=b:*' list.md\n$") // vim keeps what was typed before it ended
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
