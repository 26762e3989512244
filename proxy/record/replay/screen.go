package replay

import (
	"fmt"

	"terminalproxy/protocol"
)

// redraw returns the bytes that show rows on a fresh terminal of their size.
func redraw(m *protocol.Rows) []byte {
	var b []byte
	for _, c := range m.State.Palette {
		b = fmt.Appendf(b, "\x1b]%s;%s\x1b\\", paletteCode(c.Name), c.RGB)
	}
	if m.State.Clusters {
		b = append(b, "\x1b[?2027h"...)
	}
	if m.State.Reverse {
		b = append(b, "\x1b[?5h"...)
	}
	b = fmt.Appendf(b, "\x1b]2;%s\x1b\\", m.State.Title)
	for i, line := range m.Lines {
		b = fmt.Appendf(b, "\x1b[%dH%s", i+1, line)
	}
	b = fmt.Appendf(b, "\x1b[m\x1b[%d;%dH", m.Cursor.Row+1, m.Cursor.Col+1)
	switch m.Cursor.Shape {
	case protocol.CursorUnderline:
		b = append(b, "\x1b[4 q"...)
	case protocol.CursorBar:
		b = append(b, "\x1b[6 q"...)
	}
	if !m.Cursor.Visible {
		b = append(b, "\x1b[?25l"...)
	}
	return b
}

// paletteCode returns the beginning of the sequence that sets a colour (OSC 4, 10 and 11 of xterm).
func paletteCode(name string) string {
	switch name {
	case "foreground":
		return "10"
	case "background":
		return "11"
	}
	return "4;" + name
}
