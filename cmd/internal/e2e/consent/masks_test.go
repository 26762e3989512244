package consent_test

import (
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
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
	w := world.New(t, "vim", "fzf", "python3")
	s := w.Terminal(80, 24)
	w.Write("list.md", "* one\n* two\n*** rule ***\n")
	w.Write("form.sh", "read -e -p 'Name: ' a; read -p 'Again? ' b; read -rn3 -p 'Three: ' c; echo; echo \"<$a$b$c>\"\n")
	id := s.RunBash("")
	o := w.Overhear(id)
	shown := func(text string) {
		t.Helper()
		s.Wait(text)
		w.MustGateway("wait", id, "--text", text)
		require.Nil(t, readAll(o).Frame.Blackout, s.Screen())
	}
	each := func(text string) { // key by key, with a read after each
		t.Helper()
		for i := range text {
			s.Typed(text[i : i+1])
			require.Nil(t, readAll(o).Frame.Blackout, s.Screen())
		}
	}
	each("grep -r password: list.md; printf 'the password:'; echo ***** 'a*b'")
	shown("echo ***** 'a*b'")
	s.Typed("\n")
	each(". ./form.sh\n")
	each("***ab\n")
	shown("Again?")
	each("**\n")
	shown("Three:")
	each("*x*")
	shown("<***ab***x*>")
	s.Typed("vim -u NONE -N -n -c 'set autoindent formatoptions+=ro comments=b:*' list.md\n")
	shown("* two")
	each("llkjjllllllllGolll")
	each("*** more **\n* and **on**")
	s.Press("Escape")
	shown("and **on**")
	each("0llllhhhhxu.")
	each(":q!\n")
	s.Wait("comments=b:*' list.md\n$") // vim keeps what was typed before it ended
	s.Typed("printf '***\\n**a\\n' | fzf\n")
	shown("2/2")
	each("**")
	each("a")
	shown("1/2")
	s.Press("Enter")
	s.Wait("\n**a\n")
	s.Typed("python3 -c 'print(len(input(\"stars: \")))'\n")
	shown("stars:")
	each("****\n")
	shown("4")
	require.NotContains(t, o.All(), `"blackout"`)
	s.Typed("exit\n")
	s.Status()
}
