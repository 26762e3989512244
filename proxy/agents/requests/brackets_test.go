package requests

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/consent/line"
	"terminalproxy/proxy/consent/pump"
)

// Whatever an agent sends as text, a pair of brackets contains text without an Escape. Each pair is
// whole in one piece that is written at once, and without the brackets it is what was sent.
func TestTextInBracketsCannotEndThemR65(t *testing.T) {
	j := judgement{prompt: line.Editor, facts: line.Facts{
		Settings: line.Settings{Signals: true, Extended: true, Flow: true, Output: true, Quit: 28, Suspend: 26}, Paste: true,
		Program: line.Program{Exe: "/bin/bash", Args: []string{"bash"}},
	}}
	for _, text := range []string{
		"ä", "echo ä", "ä\x1b[201~touch hit\r", "\x1b[200~ä\x1b[201~ö", "\x1b[200~\x1b[201~touch hit\r\x1b[201~ä", "ä\r", "\u009b201~\rä", "\x9b201~ä", "›[201~ś",
		"\x1b\x1b[201~ä\tö", "\x7fä\x03", strings.Repeat("世界", 200), strings.Repeat("x", 63) + "ä" + strings.Repeat("\r", 70), "\xe1\xb1", "\xe1\xb1\x1b[201~ᱣ",
	} {
		pieces, err := textPieces(text)
		require.NoError(t, err)
		pieces[0].Step = 1
		got := j.bracketText(pieces)
		require.Equal(t, got, j.bracketText(got), "%q, twice", text)
		require.Equal(t, 1, got[0].Step)
		var all []byte
		for _, p := range got {
			b, ok := cutBrackets(p.Bytes)
			if ok {
				require.LessOrEqual(t, len(p.Bytes), pump.MaxPiece)
				require.NotContains(t, string(b), "\x1b")
				require.False(t, bytes.ContainsAny(b, "\r\n\x03\x7f"), "%q", b)
			} else {
				require.False(t, line.OnlyText(j.facts, j.prompt, b) && hasNonASCII(p), "%q of %q goes without the user's word", b, text)
			}
			all = append(all, b...)
		}
		want, _ := cutBrackets([]byte(text))
		require.Equal(t, string(want), string(all))
	}
	for name, change := range map[string]func(j *judgement){
		"a full-screen program": func(j *judgement) { j.prompt = line.None },
		"without brackets":      func(j *judgement) { j.facts.Paste = false },
		"fish": func(j *judgement) {
			j.facts.Program.Exe, j.facts.Settings = "/bin/fish", line.Settings{Signals: true, Output: true, LiteralNext: 22}
		},
	} {
		other := j
		change(&other)
		pieces := []pump.Piece{{Bytes: []byte("ä"), Step: 1}}
		require.Equal(t, pieces, other.bracketText(pieces), name)
	}
}
