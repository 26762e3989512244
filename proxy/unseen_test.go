//go:build linux

package proxy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// An input that waited while the user typed goes to what its agent saw, or nowhere.
func TestHeldInputAnswersNothingUnseen(t *testing.T) {
	const key = `stty raw -echo; printf 'Continue? '; a=$(dd bs=1 count=1 2>/dev/null); printf '\r\nDelete? '; b=$(dd bs=1 count=1 2>/dev/null); stty sane; printf "\r\ngot-$a-$b\n"; cat`
	for _, c := range []struct {
		name    string
		command []string
		ready   string
		user    []string // bursts, before and after the agent's input comes
		after   string
		parts   []protocol.InputPart
		refused string // with words of the message; "" if it is typed
		shows   string
	}{
		{
			"a question of lines",
			[]string{"bash", "-c", `read -p 'Continue? ' a; read -p 'Delete? ' b; echo got-$a-$b; cat`},
			"Continue?",
			[]string{"n"},
			"\r",
			[]protocol.InputPart{text("y"), named("enter")},
			`in "Delete?"`, "Delete?",
		},
		{
			"the same question again",
			[]string{"bash", "-c", `read -p 'Overwrite? ' a; read -p 'Overwrite? ' b; echo got-$a-$b; cat`},
			"Overwrite?",
			[]string{"n"},
			"\r",
			[]protocol.InputPart{text("y"), named("enter")},
			"no longer what you saw", "Overwrite? n",
		},
		{"a question of keys", []string{"sh", "-c", key}, "Continue?", []string{"n"}, "", []protocol.InputPart{text("y")}, `in "Delete?"`, "Delete?"},
		{
			"a text that both write",
			[]string{"vim", "-u", "NONE", "-N", "notes"},
			"~",
			[]string{"ihello"},
			"",
			[]protocol.InputPart{text("theirs")},
			`in "hello`, "hello",
		},
		{
			"another place",
			[]string{"bash", "-c", `stty raw -echo; printf '\033[2J\033[5;1Hname: '; while read -rn1 k; do printf "\0337\033[1;1H$k\0338"; done`},
			"name:",
			[]string{"z"},
			"",
			[]protocol.InputPart{text("a")},
			"", "a",
		},
		{"lines without a prompt", []string{"sed", "-u", "s/^/got-/"}, "", []string{"mine"}, "\r", []protocol.InputPart{text("theirs"), named("enter")}, "", "got-theirs"},
		{
			"the prompt of a shell",
			[]string{"bash", "--norc", "--noprofile", "-i"},
			"$",
			[]string{"cd /"},
			"\r",
			[]protocol.InputPart{text("echo $((6*7))"), named("enter")},
			"", "\n42",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := beginSceneWith(t, 2*time.Second, nil, c.command...)
			s.p.attaches(s.id, 100, 24)
			if c.ready != "$" {
				s.p.waitForText(c.ready)
			}
			s.readScreen()
			for _, burst := range c.user {
				s.typeKeys(burst)
			}
			m := s.typeParts(c.parts...)
			if c.after != "" {
				hear(s.p, func(m *protocol.Snapshot) bool { return m.Keyboard.HeldWhy == protocol.HeldLine })
				s.p.types(s.id, c.after)
			}
			r := s.receipt(m)
			if c.refused == "" {
				require.Equal(t, protocol.StatusWritten, r.Status, r.Message)
			} else {
				require.Equal(t, protocol.StatusRefused, r.Status, r.Message)
				require.Equal(t, protocol.CodeScreenChanged, r.Reason, r.Message)
				require.Contains(t, r.Message, c.refused)
				require.NotNil(t, r.Frame, "with the new rows")
			}
			s.p.waitForText(c.shows)
		})
	}
}
