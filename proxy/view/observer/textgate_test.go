package observer

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/corpus"
	"terminalproxy/proxy/view/snapshot"
)

// Neither what a program prints for a secret reaches the rolling text, nor how it edits the line,
// which could show the secret's length. Agents may read the line up to the secret, but nothing of a
// hidden screen.
func TestNothingWithinALinePassesWhileASecretIsTypedR24(t *testing.T) {
	for _, c := range corpus.Rows[struct {
		Name                 string
		Column               int
		In                   string
		Open, Secret, Hidden string
	}](t, "textgate") {
		for i, want := range []string{c.Open, c.Secret, c.Hidden, c.Hidden} {
			g := &textGate{text: snapshot.NewRolling(protocol.ContentRunes)}
			s := screen.New(screen.Config{Cols: 40, Rows: 3, Text: g})
			s.Feed(fmt.Appendf(nil, "abcdef\x1b[%dG", c.Column))
			g.secret, g.hidden = i%2 == 1, i >= 2
			s.Feed([]byte(c.In))
			g.text.Print([]byte("|"))
			require.Equal(t, want, g.text.String(), "%s, %d", c.Name, i)
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
