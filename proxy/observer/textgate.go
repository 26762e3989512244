package observer

import "terminalproxy/proxy/snapshot"

// textGate stands between the terminal model and the rolling text: what agents shall not see does not pass. It implements
// [screen.TextSink] and belongs to the observer's goroutine.
type textGate struct {
	text   *snapshot.Rolling
	secret bool // the cursor stands where a secret is typed
	hidden bool // the user hides the screen
	behind bool // something on the line was kept back: the text's column is not the cursor's
}

// shut reports whether something within the line is kept back.
func (g *textGate) shut() bool {
	g.behind = g.behind || g.secret
	return g.secret || g.hidden
}

// align brings the text to the cursor's column after something on its line was kept back.
func (g *textGate) align(col int) {
	if g.behind && !g.hidden {
		g.text.Column(col)
	}
	g.behind = false
}

// forget takes out of the unfinished line what is right of a column: it has turned out to be a secret's.
func (g *textGate) forget(col int) {
	if !g.hidden {
		g.text.Column(col)
		g.text.Erase(0)
		g.behind = true
	}
}

// hide keeps everything back, or lets it pass again, on a line of its own.
func (g *textGate) hide(on bool) {
	g.hidden = on
	if !on {
		g.text.Clear()
		g.behind = false
	}
}

// Print implements screen.TextSink.
func (g *textGate) Print(run []byte) {
	if !g.shut() {
		g.text.Print(run)
	}
}

// Control implements screen.TextSink. The end of a line passes: the line up to the secret is the agents' to read.
func (g *textGate) Control(c byte) {
	switch {
	case g.hidden, c != '\r' && c != '\n' && g.shut():
	default:
		g.text.Control(c)
		g.behind = false
	}
}

// Column implements screen.TextSink.
func (g *textGate) Column(col int) {
	if !g.shut() {
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
	if !g.shut() {
		g.text.Erase(mode)
	}
}

// EraseChars implements screen.TextSink.
func (g *textGate) EraseChars(n int) {
	if !g.shut() {
		g.text.EraseChars(n)
	}
}

// InsertChars implements screen.TextSink.
func (g *textGate) InsertChars(n int) {
	if !g.shut() {
		g.text.InsertChars(n)
	}
}

// DeleteChars implements screen.TextSink.
func (g *textGate) DeleteChars(n int) {
	if !g.shut() {
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
