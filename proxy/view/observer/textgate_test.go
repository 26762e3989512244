package observer

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/view/snapshot"
)

// Neither what a program prints for a secret reaches the rolling text, nor how it edits the line,
// which could show the secret's length. While the user hides the screen nothing passes.
func TestNothingWithinALinePassesWhileASecretIsTypedR24(t *testing.T) {
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

// Agents may read the line up to the secret, but nothing of a hidden screen.
func TestTheEndOfALinePassesR24(t *testing.T) {
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

// The suppressed output leaves the text behind the cursor: it is brought back to the cursor's
// column, and only then.
func TestTheTextGoesOnInTheCursorsColumn(t *testing.T) {
	g := &textGate{text: snapshot.NewRolling(100)}
	g.Print([]byte("ask: "))
	g.alignColumn(0)
	g.Print([]byte("1"))
	g.secret = true
	g.Print([]byte("***"))
	g.secret = false
	g.alignColumn(9)
	g.Print([]byte("2"))
	require.Equal(t, "ask: 1   2", g.text.String())
	g.secret = true
	g.Print([]byte("***"))
	g.Control('\r')
	g.Control('\n')
	g.secret = false
	g.alignColumn(3)
	g.Print([]byte("next"))
	require.Equal(t, "ask: 1   2\nnext", g.text.String())
	g.dropRight(2)
	require.Equal(t, "ask: 1   2\nne", g.text.String())
}
