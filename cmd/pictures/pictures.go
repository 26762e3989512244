// Package pictures draws the screens that a gateway knows as rows of text, with the terminal model of package proxy: the
// two rooms do not know each other, and the commands plug them together.
package pictures

import (
	"bytes"
	"fmt"
	"io"

	"terminalproxy/gateway/httpapi"
	"terminalproxy/proxy/screen"
	"terminalproxy/proxy/screen/render"
)

// Draw writes a screen as "png" or "svg".
func Draw(w io.Writer, format string, p httpapi.Picture) error {
	s, err := render.Play(replay(p), render.Options{Cols: p.Cols, Rows: p.Rows})
	if err != nil {
		return err
	}
	return write(w, format, s)
}

func write(w io.Writer, format string, s *screen.Screen) error {
	switch format {
	case "png":
		return render.PNG(w, s)
	case "svg":
		_, err := io.WriteString(w, render.SVG(s))
		return err
	}
	return fmt.Errorf("a picture is png or svg, not %q", format)
}

// replay is output that leaves the picture's screen behind (ECMA-48: CUP, SGR; DECAWM and DECTCEM of xterm ctlseqs).
func replay(p httpapi.Picture) []byte {
	var b bytes.Buffer
	b.WriteString("\x1b[?7l") // a row that is too long stays one row
	for i, line := range p.Lines {
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[0m%s", i+1, line)
	}
	fmt.Fprintf(&b, "\x1b[0m\x1b[%d;%dH", p.Cursor.Row+1, p.Cursor.Col+1)
	if !p.Cursor.Visible {
		b.WriteString("\x1b[?25l")
	}
	return b.Bytes()
}
