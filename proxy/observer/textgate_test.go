package observer

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/snapshot"
)

// R24: where a secret is typed, and on a hidden screen, nothing that the program does changes the rolling text, but for what
// ends the line or leaves it.
func TestR24TheTextGateKeepsAllOfASecretBack(t *testing.T) {
	for _, c := range []struct {
		name           string
		do             func(g *textGate)
		secret, hidden string // the text then; "" for that it is the same
	}{
		{"print", func(g *textGate) { g.Print([]byte("x")) }, "", ""},
		{"backspace", func(g *textGate) { g.Control('\b') }, "", ""},
		{"tab", func(g *textGate) { g.Control('\t') }, "", ""},
		{"column", func(g *textGate) { g.Column(1); g.text.Print([]byte("!")) }, "ask: abc!", "ask: abc!"},
		{"erase to the end", func(g *textGate) { g.Erase(0) }, "", ""},
		{"erase to the start", func(g *textGate) { g.Erase(1) }, "", ""},
		{"erase the line", func(g *textGate) { g.Erase(2) }, "", ""},
		{"erase characters", func(g *textGate) { g.text.Column(5); g.EraseChars(2) }, "", ""},
		{"insert characters", func(g *textGate) { g.text.Column(5); g.InsertChars(2) }, "", ""},
		{"delete characters", func(g *textGate) { g.text.Column(5); g.DeleteChars(2) }, "", ""},
		{"the end of the line", func(g *textGate) { g.Control('\n') }, "ask: abc\n", ""},
		{"another row", func(g *textGate) { g.Row(0) }, "ask: abc\n", ""},
		{"a cleared screen", func(g *textGate) { g.Clear() }, "ask: abc\n", ""},
	} {
		for _, hidden := range []bool{false, true} {
			g := &textGate{text: snapshot.NewRolling(100)}
			g.Print([]byte("ask: abc"))
			want := c.secret
			if hidden {
				want = c.hidden
				g.hide(true)
			} else {
				g.secret = true
			}
			if want == "" {
				want = "ask: abc"
			}
			c.do(g)
			require.Equal(t, want, g.text.String(), "%s, hidden: %v", c.name, hidden)
		}
	}
}

// What was kept back leaves the text behind the cursor: it is brought back to the cursor's column, and only then.
func TestTheTextGoesOnInTheCursorsColumn(t *testing.T) {
	g := &textGate{text: snapshot.NewRolling(100)}
	g.Print([]byte("ask: "))
	g.align(0)
	g.Print([]byte("1"))
	g.secret = true
	g.Print([]byte("***"))
	g.secret = false
	g.align(9)
	g.Print([]byte("2"))
	require.Equal(t, "ask: 1   2", g.text.String())
	g.forget(6)
	require.Equal(t, "ask: 1", g.text.String())
}
