package requests

import (
	"errors"
	"fmt"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/terminal/keys"
	"terminalproxy/proxy/terminal/mouse"
	"terminalproxy/proxy/terminal/screen"
)

// scrollStep is the number of cursor keys that xterm sends for a notch of the wheel on the
// alternate screen, if the program wants that (DECSET 1007).
const scrollStep = 5

// encodeMouse makes the reports of an act of the mouse for the present modes. It also decides the
// place only now: a button that has moved since the agent looked is hit at its new place.
func (e *encoder) encodeMouse(
	in *delivery, m protocol.InputPart, modes screen.Modes, km keys.Modes,
) ([]pump.Piece, error) {
	act, err := mouse.Parse(m.Data)
	if err != nil {
		return nil, &refusal{protocol.CodeBadMessage, err.Error()}
	}
	at, to, err := findCells(e.Observer, m, act)
	if err != nil {
		return nil, err
	}
	var reports [][]byte
	if modes.MouseProtocol == 0 && act.Kind == mouse.Wheel && modes.AlternateScroll &&
		e.Observer.Model().Alt() {
		reports, err = cursorKeys(act, km, scrollStep)
	} else {
		width, height := e.Terminal.CellSize()
		reports, err = act.EncodeReports(mouse.Modes{
			Protocol:   modes.MouseProtocol,
			Encoding:   modes.MouseEncoding,
			Held:       e.held != 0 && e.held == e.Control.NewestState().Epoch,
			CellWidth:  width,
			CellHeight: height,
		}, at, to)
	}
	if err != nil {
		return nil, &refusal{protocol.CodeBadMessage, err.Error()}
	}
	in.at = &protocol.Cell{Row: at.Row, Col: at.Col}
	target := m.On
	if target == "" && act.UsesButton() && act.Kind != mouse.Drag {
		target = e.Observer.WordAt(at)
	}
	return mousePieces(reports, describeAct(act.DescribeAt(at, to), target)), nil
}

// findCells returns where the mouse acts, and where a drag ends.
func findCells(o Observer, m protocol.InputPart, act mouse.Act) (at, to mouse.Cell, err error) {
	cols, rows := o.Model().Size()
	switch {
	case m.On != "" && m.At != nil:
		err = &refusal{
			protocol.CodeBadMessage,
			"at and on are both given: the mouse acts in one place",
		}
	case m.On != "":
		if at, err = o.FindText(m.On); err != nil {
			err = &refusal{protocol.CodeScreenChanged, err.Error()}
		}
	case m.At != nil:
		at, err = checkCell("the place", *m.At, cols, rows)
	case act.Kind == mouse.Wheel: // the place rarely matters for scrolling
		at = mouse.Cell{Row: rows / 2, Col: cols / 2}
	default:
		err = &refusal{
			protocol.CodeBadMessage,
			"no place for the mouse is given: give at (a row and a column) or on (a text on the " +
				"screen)",
		}
	}
	if err != nil {
		return at, to, err
	}
	switch {
	case act.Kind == mouse.Drag && m.To == nil:
		err = &refusal{
			protocol.CodeBadMessage,
			"a drag needs its end: give to (a row and a column)",
		}
	case act.Kind != mouse.Drag && m.To != nil:
		err = &refusal{
			protocol.CodeBadMessage,
			"to is the end of a drag: leave it out, or send drag",
		}
	case m.To != nil:
		to, err = checkCell("the end of the drag", *m.To, cols, rows)
	}
	return at, to, err
}

// checkCell refuses a cell outside the screen.
func checkCell(place string, c protocol.Cell, cols, rows int) (mouse.Cell, error) {
	at := mouse.Cell{Row: c.Row, Col: c.Col}
	if c.Row < 0 || c.Row >= rows || c.Col < 0 || c.Col >= cols {
		return at, &refusal{
			protocol.CodeBadMessage,
			fmt.Sprintf(
				"%s is row %d and column %d, counted from 1, and the screen has %d rows "+
					"and %d columns", place, c.Row+1, c.Col+1, rows, cols,
			),
		}
	}
	return at, nil
}

// cursorKeys returns what the wheel sends on the alternate screen to a program without mouse
// reports that wants to be scrolled.
func cursorKeys(act mouse.Act, km keys.Modes, perNotch int) ([][]byte, error) {
	up, vertical := act.Vertical()
	if !vertical || act.HasModifiers() {
		return nil, errors.New(
			"the program takes the wheel for cursor keys (mode 1007): it turns up and down only, " +
				"without modifiers",
		)
	}
	name := "down"
	if up {
		name = "up"
	}
	key, err := keys.Parse(name)
	if err != nil {
		return nil, err
	}
	b, err := key.Encode(km)
	if err != nil {
		return nil, err
	}
	reports := make([][]byte, act.Count*perNotch)
	for i := range reports {
		reports[i] = b
	}
	return reports, nil
}

// mousePieces joins as many reports as fit between two looks at the keyboard. An undivided drag
// leaves no button down if the user takes the keyboard back.
func mousePieces(reports [][]byte, act string) []pump.Piece {
	var pieces []pump.Piece
	for _, r := range reports {
		if last := len(pieces) - 1; last >= 0 && len(pieces[last].Bytes)+len(r) <= pump.MaxPiece {
			pieces[last].Bytes = append(pieces[last].Bytes, r...)
			continue
		}
		pieces = append(pieces, pump.Piece{
			Bytes:       append(make([]byte, 0, pump.MaxPiece), r...),
			Description: act,
		})
	}
	return pieces
}

// describeAct describes an act of the mouse and its target to the user.
func describeAct(words, on string) string {
	if on == "" {
		return words
	}
	return words + " on " + keys.FormatPieces([]byte(on))
}

// describeWish describes an act of the mouse before its place is known.
func describeWish(m protocol.InputPart) string {
	words := keys.FormatPieces([]byte(m.Data))
	if act, err := mouse.Parse(m.Data); err == nil && m.At != nil {
		to := mouse.Cell{}
		if m.To != nil {
			to = mouse.Cell{Row: m.To.Row, Col: m.To.Col}
		}
		words = act.DescribeAt(mouse.Cell{Row: m.At.Row, Col: m.At.Col}, to)
	} else if err == nil {
		words = m.Data
	}
	return describeAct(words, m.On)
}

// recordLanding sets where the mouse acted in the receipt, and follows the left button. Call
// it after the program has the reports.
func (e *encoder) recordLanding(in *delivery, result *protocol.InputResult) {
	first := in.steps[0]
	if first.InputKind != protocol.InputMouse || result.WrittenBytes == 0 {
		return
	}
	result.At = in.at
	switch act, err := mouse.Parse(first.Data); {
	case err != nil:
	case act.Kind == mouse.Press:
		e.held = in.epoch
	case act.UsesButton():
		e.held = 0
	}
}

// mayTrigger reports whether an act of the mouse may have an effect.
func mayTrigger(m protocol.InputPart) bool {
	act, err := mouse.Parse(m.Data)
	return err != nil || act.UsesButton()
}
