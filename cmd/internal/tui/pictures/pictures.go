// Package pictures draws the gateway's screens, which are rows of text, with the terminal model of
// package proxy. Proxy and gateway do not import each other; the commands join them here, so that
// the command line, HTTP and MCP show the same picture. Any goroutine may call its functions.
package pictures

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"image"
	"io"
	"strconv"
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/terminal/screen/render"
)

// Draw writes a screen, whose rows carry SGR sequences, as "png" or "svg".
func Draw(w io.Writer, format string, p protocol.Screen) error {
	if format != "png" && format != "svg" {
		return fmt.Errorf("a picture is png or svg, not %q", format)
	}
	s, err := replayScreen(p)
	if err != nil {
		return err
	}
	if format == "png" {
		return render.PNG(w, s)
	}
	_, err = io.WriteString(w, render.SVG(s))
	return err
}

// FitPNG makes a PNG of at most side pixels in width and height, and returns the size of a cell in
// it. It fails if the screen could not be read at that size.
func FitPNG(p protocol.Screen, side int) (png []byte, cell image.Point, err error) {
	s, err := replayScreen(p)
	if err != nil {
		return nil, image.Point{}, err
	}
	var b bytes.Buffer
	cell, err = render.FitPNG(&b, s, side)
	return b.Bytes(), cell, err
}

// MissingGlyphs counts the characters that a picture in pixels shows as boxes with their numbers.
// It returns 0 for a screen that cannot be drawn.
func MissingGlyphs(p protocol.Screen) int {
	s, err := replayScreen(p)
	if err != nil {
		return 0
	}
	n, err := render.CountMissingGlyphs(s)
	if err != nil {
		return 0
	}
	return n
}

// replayScreen makes a terminal model with the same content.
func replayScreen(p protocol.Screen) (*screen.Screen, error) {
	return render.Play(output(p), render.Options{Cols: p.Cols, Rows: p.Rows})
}

// output returns the bytes that make a terminal show a screen (ECMA-48: CUP, SGR; OSC 4, 10 and 11,
// DECAWM, DECTCEM and DECSCUSR of xterm ctlseqs).
func output(p protocol.Screen) []byte {
	var b bytes.Buffer
	for _, c := range p.Palette {
		setPaletteColor(&b, c)
	}
	b.WriteString("\x1b[?7l") // a long row must not wrap
	for i, line := range p.Lines {
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[0m%s", i+1, line)
	}
	fmt.Fprintf(&b, "\x1b[0m\x1b[%d;%dH", p.Cursor.Row+1, p.Cursor.Col+1)
	switch p.Cursor.Shape {
	case protocol.CursorUnderline:
		b.WriteString("\x1b[4 q")
	case protocol.CursorBar:
		b.WriteString("\x1b[6 q")
	}
	if !p.Cursor.Visible {
		b.WriteString("\x1b[?25l")
	}
	return b.Bytes()
}

// setPaletteColor writes a change of the palette. It ignores an invalid colour: the proxy sent it.
func setPaletteColor(b *bytes.Buffer, c protocol.Color) {
	var rgb [3]byte
	if digits, ok := strings.CutPrefix(c.RGB, "#"); !ok || len(digits) != 2*len(rgb) {
		return
	} else if _, err := hex.Decode(rgb[:], []byte(digits)); err != nil {
		return
	}
	switch index, err := strconv.ParseUint(c.Name, 10, 8); {
	case c.Name == "foreground":
		b.WriteString("\x1b]10;")
	case c.Name == "background":
		b.WriteString("\x1b]11;")
	case err == nil:
		fmt.Fprintf(b, "\x1b]4;%d;", index)
	default:
		return
	}
	fmt.Fprintf(b, "#%x\x1b\\", rgb)
}
