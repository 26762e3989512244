package observer

import "terminalproxy/proxy/view/snapshot"

// textGate stands between the terminal model and the rolling text, and keeps back what agents must
// not see. It implements [screen.TextSink]. The observer's goroutine owns it.
type textGate struct {
	text   *snapshot.Rolling
	secret bool // the cursor is where a secret is typed
	hidden bool // the user hides the screen
	behind bool // part of the line was kept back: the text's column is not the cursor's
}

// withhold reports whether text within the line is kept back, and notes that some was.
func (g *textGate) withhold() bool {
	g.behind = g.behind || g.secret
	return g.secret || g.hidden
}

// alignColumn moves the text to the cursor's column after part of its line was kept back.
func (g *textGate) alignColumn(col int) {
	if g.behind && !g.hidden {
		g.text.Column(col)
	}
	g.behind = false
}

// dropRight removes the text right of a column from the unfinished line: it turned out to belong to
// a secret.
func (g *textGate) dropRight(col int) {
	if !g.hidden {
		g.text.Column(col)
		g.text.Erase(0)
		g.behind = true
	}
}

// setHidden keeps everything back, or lets it pass again, on a new line.
func (g *textGate) setHidden(on bool) {
	g.hidden = on
	if !on {
		g.text.Clear()
		g.behind = false
	}
}

// Print implements screen.TextSink.
func (g *textGate) Print(run []byte) {
	if !g.withhold() {
		g.text.Print(run)
	}
}

// Control implements screen.TextSink. The end of a line passes: agents may read the line up to the
// secret.
func (g *textGate) Control(c byte) {
	switch {
	case g.hidden, c != '\r' && c != '\n' && g.withhold():
	default:
		g.text.Control(c)
		g.behind = false
	}
}

// Column implements screen.TextSink.
func (g *textGate) Column(col int) {
	if !g.withhold() {
		g.text.Column(col)
	}
}

// Row implements screen.TextSink.
func (g *textGate) Row(col int) {
	if !g.hidden {
		g.text.Row(col)
		g.behind = false
	}
}

// Erase implements screen.TextSink.
func (g *textGate) Erase(mode int) {
	if !g.withhold() {
		g.text.Erase(mode)
	}
}

// EraseChars implements screen.TextSink.
func (g *textGate) EraseChars(n int) {
	if !g.withhold() {
		g.text.EraseChars(n)
	}
}

// InsertChars implements screen.TextSink.
func (g *textGate) InsertChars(n int) {
	if !g.withhold() {
		g.text.InsertChars(n)
	}
}

// DeleteChars implements screen.TextSink.
func (g *textGate) DeleteChars(n int) {
	if !g.withhold() {
		g.text.DeleteChars(n)
	}
}

// Clear implements screen.TextSink.
func (g *textGate) Clear() {
	if !g.hidden {
		g.text.Clear()
		g.behind = false
	}
}
