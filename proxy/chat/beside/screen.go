package beside

import (
	"strings"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/terminal/screen"
)

// readScreen returns the screen, and whether it is completely drawn.
func readScreen(m *screen.Screen) (out chat.Screen, whole bool) {
	cols, rows := m.Size()
	out = chat.Screen{Rows: make([]chat.Row, rows), Pastes: m.Modes().BracketedPaste}
	for y := range rows {
		out.Rows[y] = readRow(m, y, cols)
	}
	return out, !m.Modes().Sync
}

func readRow(m *screen.Screen, y, cols int) chat.Row {
	var text, plain strings.Builder
	caret, n := -1, 0
	for x := range cols {
		c := m.Cell(y, x)
		content := c.Content
		switch {
		case c.Width == 0 && x > 0 && content == "" && m.Cell(y, x-1).Width == 2:
			continue
		case content == "":
			content = " "
		}
		if caret < 0 && c.Style.Attrs&screen.Inverse != 0 {
			caret = n
		}
		text.WriteString(content)
		if c.Style.Fg == 0 && c.Style.Attrs&screen.Faint == 0 {
			plain.WriteString(content)
		} else {
			plain.WriteString(strings.Repeat(" ", len([]rune(content))))
		}
		n += len([]rune(content))
	}
	return chat.Row{
		Text:  strings.TrimRight(text.String(), " "),
		Plain: strings.TrimRight(plain.String(), " "),
		Caret: caret,
	}
}
