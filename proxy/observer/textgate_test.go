package observer

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/snapshot"
)

// TestR24NothingWithinALinePassesWhileASecretIsTyped: neither what a program prints for a secret reaches the rolling text, nor
// how it edits the line, from which the secret's length could be read; while the user hides the screen nothing at all does.
func TestR24NothingWithinALinePassesWhileASecretIsTyped(t *testing.T) {
	for name, edit := range map[string]struct {
		at          int // the cursor's column before
		do          func(g *textGate)
		open, whole string // with the mark: what passes, and what is left if nothing does
	}{
		"print":             {6, func(g *textGate) { g.Print([]byte("xy")) }, "abcdefxy|", "abcdef|"},
		"tab":               {6, func(g *textGate) { g.Control('\t') }, "abcdef  |", "abcdef|"},
		"backspace":         {6, func(g *textGate) { g.Control('\b') }, "abcde|", "abcdef|"},
		"column":            {6, func(g *textGate) { g.Column(2) }, "ab|def", "abcdef|"},
		"erase to the end":  {2, func(g *textGate) { g.Erase(0) }, "ab|", "ab|def"},
		"erase the start":   {2, func(g *textGate) { g.Erase(1) }, "  |def", "ab|def"},
		"erase all":         {2, func(g *textGate) { g.Erase(2) }, "  |", "ab|def"},
		"erase characters":  {2, func(g *textGate) { g.EraseChars(2) }, "ab| ef", "ab|def"},
		"insert characters": {2, func(g *textGate) { g.InsertChars(2) }, "ab| cdef", "ab|def"},
		"delete characters": {2, func(g *textGate) { g.DeleteChars(2) }, "ab|f", "ab|def"},
	} {
		for _, kept := range []struct{ secret, hidden bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
			g := &textGate{text: snapshot.NewRolling(protocol.ContentRunes)}
			g.Print([]byte("abcdef"))
			g.Column(edit.at)
			g.secret, g.hidden = kept.secret, kept.hidden
			edit.do(g)
			g.text.Print([]byte("|"))
			want := edit.open
			if kept.secret || kept.hidden {
				want = edit.whole
			}
			require.Equal(t, want, g.text.String(), "%s, %+v", name, kept)
		}
	}
}

// TestR24TheEndOfALinePasses: the line up to the secret is the agents' to read, but nothing of a screen that is hidden.
func TestR24TheEndOfALinePasses(t *testing.T) {
	for name, end := range map[string]struct {
		do   func(g *textGate)
		want string
	}{
		"CR LF": {func(g *textGate) { g.Control('\r'); g.Control('\n') }, "abcdef\n|"},
		"row":   {func(g *textGate) { g.Row(0) }, "abcdef\n|"},
		"clear": {func(g *textGate) { g.Clear() }, "abcdef\n|"},
	} {
		for _, hidden := range []bool{false, true} {
			g := &textGate{text: snapshot.NewRolling(protocol.ContentRunes)}
			g.Print([]byte("abcdef"))
			g.secret, g.hidden = true, hidden
			end.do(g)
			g.text.Print([]byte("|"))
			want := end.want
			if hidden {
				want = "abcdef|"
			}
			require.Equal(t, want, g.text.String(), "%s, hidden %v", name, hidden)
		}
	}
}

// TestTheTextFollowsTheCursorAfterASecret: what comes after it on its line stands where the screen has it, and where nothing was
// kept back the text's own column stays.
func TestTheTextFollowsTheCursorAfterASecret(t *testing.T) {
	for _, c := range []struct {
		prints bool // something for the secret
		ends   bool // the line, after that
		want   string
	}{
		{false, false, "name: |"},
		{true, false, "name:     |"},
		{true, true, "name:\n|"},
	} {
		g := &textGate{text: snapshot.NewRolling(protocol.ContentRunes)}
		g.Print([]byte("name: "))
		g.secret = true
		if c.prints {
			g.Print([]byte("xxxx"))
		}
		if c.ends {
			g.Control('\r')
			g.Control('\n')
		}
		g.secret = false
		g.align(10)
		g.Print([]byte("|"))
		require.Equal(t, c.want, g.text.String(), "%+v", c)
	}
}
