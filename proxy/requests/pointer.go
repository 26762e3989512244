package requests

import (
	"errors"
	"fmt"

	"terminalproxy/protocol"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/mouse"
	"terminalproxy/proxy/screen"
)

// scrollStep is how many cursor keys a notch of the wheel is on the alternate screen where the program wants that (DECSET
// 1007): as many as xterm sends.
const scrollStep = 5

// pointer is what is known of the mouse that agents move. It belongs to the observer's goroutine.
type pointer struct {
	epoch uint64 // of the grant under which the left button went down, 0 while it is up
}

// point makes the reports of an act of the mouse for the modes that are on now. Where it acts is decided now as well: a
// button that moved since the agent looked is hit where it is.
func (h *Handler) point(in *typing, m protocol.InputPart, modes screen.Modes, km keys.Modes) ([]input.Piece, error) {
	act, err := mouse.Parse(m.Data)
	if err != nil {
		return nil, &refusal{protocol.CodeBadMessage, err.Error()}
	}
	at, to, err := h.places(m, act)
	if err != nil {
		return nil, err
	}
	var reports [][]byte
	if modes.MouseProtocol == 0 && act.Kind == mouse.Wheel && modes.AlternateScroll && h.Observer.Model().Alt() {
		reports, err = cursorKeys(act, km)
	} else {
		width, height := h.Terminal.CellSize()
		reports, err = act.Reports(mouse.Modes{
			Protocol: modes.MouseProtocol, Encoding: modes.MouseEncoding, Held: h.pointer.epoch != 0 && h.pointer.epoch == h.Control.Newest().Epoch,
			CellWidth: width, CellHeight: height,
		}, at, to)
	}
	if err != nil {
		return nil, &refusal{protocol.CodeBadMessage, err.Error()}
	}
	in.at = &protocol.Cell{Row: at.Row, Col: at.Col}
	what := m.On
	if what == "" && act.Commits() && act.Kind != mouse.Drag {
		what = h.Observer.WordAt(at)
	}
	return mousePieces(reports, said(act.Words(at, to), what)), nil
}

// places are where the mouse acts, and where a drag ends.
func (h *Handler) places(m protocol.InputPart, act mouse.Act) (at, to mouse.Cell, err error) {
	cols, rows := h.Observer.Model().Size()
	switch {
	case m.On != "" && m.At != nil:
		err = &refusal{protocol.CodeBadMessage, "at and on are both given: the mouse acts in one place"}
	case m.On != "":
		if at, err = h.Observer.Locate(m.On); err != nil {
			err = &refusal{protocol.CodeScreenChanged, err.Error()}
		}
	case m.At != nil:
		at, err = inside("the place", *m.At, cols, rows)
	case act.Kind == mouse.Wheel: // for scrolling it mostly does not matter where
		at = mouse.Cell{Row: rows / 2, Col: cols / 2}
	default:
		err = &refusal{protocol.CodeBadMessage, "it is not said where the mouse acts: give at (a row and a column) or on (a text on the screen)"}
	}
	if err != nil {
		return at, to, err
	}
	switch {
	case act.Kind == mouse.Drag && m.To == nil:
		err = &refusal{protocol.CodeBadMessage, "a drag needs its end: give to (a row and a column)"}
	case act.Kind != mouse.Drag && m.To != nil:
		err = &refusal{protocol.CodeBadMessage, "to is the end of a drag: leave it out, or send drag"}
	case m.To != nil:
		to, err = inside("the end of the drag", *m.To, cols, rows)
	}
	return at, to, err
}

// inside refuses a cell that is not on the screen.
func inside(what string, c protocol.Cell, cols, rows int) (mouse.Cell, error) {
	at := mouse.Cell{Row: c.Row, Col: c.Col}
	if c.Row < 0 || c.Row >= rows || c.Col < 0 || c.Col >= cols {
		return at, &refusal{protocol.CodeBadMessage, fmt.Sprintf("%s is row %d and column %d, counted from 1, and the screen has %d rows and %d columns", what, c.Row+1, c.Col+1, rows, cols)}
	}
	return at, nil
}

// cursorKeys are what the wheel sends on the alternate screen to a program that has no mouse but wants to be scrolled.
func cursorKeys(act mouse.Act, km keys.Modes) ([][]byte, error) {
	up, vertical := act.Vertical()
	if !vertical || act.Modified() {
		return nil, errors.New("the program takes the wheel for cursor keys (mode 1007): it turns up and down only, without modifiers")
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
	reports := make([][]byte, act.Count*scrollStep)
	for i := range reports {
		reports[i] = b
	}
	return reports, nil
}

// mousePieces puts reports together, as many as fit between two looks at the keyboard: a drag that is not torn leaves no
// button down when the user takes the keyboard back.
func mousePieces(reports [][]byte, say string) []input.Piece {
	var pieces []input.Piece
	for _, r := range reports {
		if last := len(pieces) - 1; last >= 0 && len(pieces[last].Bytes)+len(r) <= input.PieceMax {
			pieces[last].Bytes = append(pieces[last].Bytes, r...)
			continue
		}
		pieces = append(pieces, input.Piece{Bytes: append(make([]byte, 0, input.PieceMax), r...), Say: say})
	}
	return pieces
}

// said is what the mouse does and on what, as the user reads it.
func said(words, on string) string {
	if on == "" {
		return words
	}
	return words + " on " + keys.Show([]byte(on))
}

// wished is what an agent wants of the mouse, before it is known where that is.
func wished(m protocol.InputPart) string {
	words := keys.Show([]byte(m.Data))
	if act, err := mouse.Parse(m.Data); err == nil && m.At != nil {
		to := mouse.Cell{}
		if m.To != nil {
			to = mouse.Cell{Row: m.To.Row, Col: m.To.Col}
		}
		words = act.Words(mouse.Cell{Row: m.At.Row, Col: m.At.Col}, to)
	} else if err == nil {
		words = m.Data
	}
	return said(words, m.On)
}

// landed puts into the receipt where the mouse was, and follows the left button. It runs on the observer's goroutine, when it is
// known what the program has of the reports.
func (p *pointer) landed(in *typing, result *protocol.InputResult) {
	first := in.steps[0]
	if first.InputKind != protocol.InputMouse || result.WrittenBytes == 0 {
		return
	}
	result.At = in.at
	switch act, err := mouse.Parse(first.Data); {
	case err != nil:
	case act.Kind == mouse.Press:
		p.epoch = in.epoch
	case act.Commits():
		p.epoch = 0
	}
}

// commits reports whether an input of the mouse may set something off.
func commits(m protocol.InputPart) bool {
	act, err := mouse.Parse(m.Data)
	return err != nil || act.Commits()
}
