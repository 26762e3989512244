package requests

import (
	"fmt"
	"strconv"
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/mouse"
	"terminalproxy/proxy/terminal/screen"
)

// arrowsPerNotch is how many cursor keys a notch of a person's wheel is on the alternate screen.
// VTE, kitty and others send three.
const arrowsPerNotch = 3

// shownScreen is what a person's keys and mouse depend on, as of when they arrived.
type shownScreen struct {
	screen.Modes
	alt        bool
	cols, rows int
	cellWidth  int // pixels, 0 if unknown; likewise the height
	cellHeight int
}

// shownFor returns the screen for keys or an act of the mouse. It runs on the observer's goroutine.
func shownFor(c *Config, kind protocol.InputKind) shownScreen {
	model := c.Observer.Model()
	s := shownScreen{Modes: model.Modes(), alt: model.Alt()}
	s.cols, s.rows = model.Size()
	if kind == protocol.InputMouse {
		s.cellWidth, s.cellHeight = c.Terminal.CellSize()
	}
	return s
}

// encodePersonMouse returns what a person's own terminal would send for an act of the mouse, which
// is "wheel-down*3 12,40": an act, and a row and a column from 0. It returns nothing if the program
// does not want mouse reports, as a terminal would. The pump's goroutine owns t.
func encodePersonMouse(t *typist, data string, s shownScreen) ([]byte, error) {
	act, at, err := parsePersonMouse(data)
	if err != nil {
		return nil, err
	}
	at.Row, at.Col = min(at.Row, s.rows-1), min(at.Col, s.cols-1) // the screen may be smaller by now
	if act.Kind == mouse.Press || act.Kind == mouse.Release {
		t.held = act.Kind == mouse.Press
	}
	var reports [][]byte
	if s.MouseProtocol == 0 && act.Kind == mouse.Wheel && s.alt {
		reports, err = cursorKeys(act, keyModes(s.Modes), arrowsPerNotch)
	} else {
		reports, err = act.EncodeReports(mouse.Modes{
			Protocol: s.MouseProtocol, Encoding: s.MouseEncoding, Held: t.held,
			CellWidth: s.cellWidth, CellHeight: s.cellHeight,
		}, at, at)
	}
	if err != nil {
		return nil, nil //nolint:nilerr // the program does not want this report
	}
	var b []byte
	for _, r := range reports {
		b = append(b, r...)
	}
	return b, nil
}

// parsePersonMouse reads an act of the mouse and its cell.
func parsePersonMouse(data string) (act mouse.Act, at mouse.Cell, err error) {
	name, place, _ := strings.Cut(data, " ")
	row, col, _ := strings.Cut(place, ",")
	if act, err = mouse.Parse(name); err != nil {
		return act, at, err
	}
	at.Row, err = strconv.Atoi(row)
	if err == nil {
		at.Col, err = strconv.Atoi(col)
	}
	inScreen := func(n int) bool { return n >= 0 && n < protocol.MaxSize }
	if err != nil || !inScreen(at.Row) || !inScreen(at.Col) || act.Kind == mouse.Drag {
		return act, at, fmt.Errorf("the mouse cannot do %.64q: give an act, a row and a column", data)
	}
	return act, at, nil
}
