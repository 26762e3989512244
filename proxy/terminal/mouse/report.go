package mouse

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// The protocols, which choose the reported acts (ctlseqs, DECSET 9 and 1000 to 1003).
const (
	protocolX10       = 9    // buttons going down
	protocolNormal    = 1000 // and up, the wheel, modifiers
	protocolHighlight = 1001 // the program answers each press, or the terminal hangs
	protocolButton    = 1002 // and movement while a button is down
	protocolAny       = 1003 // and all other movement
)

// The encodings (DECSET 1005, 1006, 1015, 1016); without one there is a byte for each number.
const (
	encodingUTF8   = 1005
	encodingSGR    = 1006
	encodingURXVT  = 1015
	encodingPixels = 1016
)

// The last column and row, from 1, that fit into the old encodings: a byte, and a character of two
// bytes in UTF-8, less 32, the offset of every number.
const (
	lastByte = 255 - 32
	lastUTF8 = 2047 - 32
)

// ErrMouseOff means that the program has not turned the mouse on.
var ErrMouseOff = errors.New("the program does not listen to the mouse: use keys")

// Modes holds the program's modes, and the other facts on which a report depends.
type Modes struct {
	Protocol, Encoding uint16 // of DECSET, 0 if off
	// Held means that the left button is down: movement is a drag.
	Held bool
	// CellWidth and CellHeight are the size of a cell in pixels, 0 if unknown.
	CellWidth, CellHeight int
}

// EncodeReports returns the bytes of the act at a cell, in pieces that must reach the program
// whole: a click is one piece, and so is each report of a drag to another cell. If the program's
// modes do not allow the act, the error names an alternative.
func (a Act) EncodeReports(m Modes, at, to Cell) ([][]byte, error) {
	if err := a.checkProtocol(m); err != nil {
		return nil, err
	}
	w := writer{m: m}
	switch a.Kind {
	case Click:
		for range a.Count {
			w.writeReport(a.button|a.mods, at, false)
			if m.Protocol != protocolX10 {
				w.writeReport(a.button|a.mods, at, true)
			}
			w.endPiece()
		}
	case Press, Release:
		w.writeReport(a.button|a.mods, at, a.Kind == Release)
	case Move:
		button := none
		if m.Held {
			button = left
		}
		w.writeReport(button|a.mods|motion, at, false)
	case Drag:
		a.writeDrag(&w, at, to)
	case Wheel:
		for range a.Count {
			w.writeReport(a.button|a.mods, at, false)
			w.endPiece()
		}
	}
	if w.endPiece(); w.err != nil {
		return nil, w.err
	}
	return w.out, nil
}

// writeDrag moves in two steps: many programs take the first movement only as the beginning, and
// the next as the place.
func (a Act) writeDrag(w *writer, at, to Cell) {
	w.writeReport(a.button|a.mods, at, false)
	w.endPiece()
	if next := at.stepToward(to); next != to {
		w.writeReport(a.button|a.mods|motion, next, false)
		w.endPiece()
	}
	w.writeReport(a.button|a.mods|motion, to, false)
	w.writeReport(a.button|a.mods, to, true)
}

// stepToward returns the neighbour of c in the direction of another cell.
func (c Cell) stepToward(to Cell) Cell {
	return Cell{c.Row + sign(to.Row-c.Row), c.Col + sign(to.Col-c.Col)}
}

func sign(n int) int { return min(max(n, -1), 1) }

// checkProtocol refuses an act that the protocol does not report.
func (a Act) checkProtocol(m Modes) error {
	switch m.Protocol {
	case 0:
		return ErrMouseOff
	case protocolHighlight:
		return errors.New("the program asks for the mouse's highlight tracking (mode 1001), " +
			"which needs its answer to every press: use keys")
	case protocolX10:
		switch {
		case a.Kind != Click && a.Kind != Press:
			return fmt.Errorf("the program listens only to mouse buttons going down (mode 9): "+
				"%s cannot be reported, click can", a.name)
		case a.mods != 0:
			return fmt.Errorf("the program's mouse mode (9) does not report modifiers: %s would "+
				"arrive without them", a.name)
		}
	case protocolNormal:
		switch a.Kind {
		case Move:
			return errors.New("the program listens to buttons and the wheel, not to movement " +
				"(mode 1000): move cannot be reported")
		case Drag:
			return errors.New("the program listens to buttons and the wheel, not to movement " +
				"(mode 1000): drag cannot be reported; if the ends are enough, " +
				"send press at the one and release at the other")
		default:
		}
	case protocolButton:
		if a.Kind == Move && !m.Held {
			return errors.New("the program listens to movement only while a button is down " +
				"(mode 1002): press before you move, or drag")
		}
	case protocolAny:
	default:
		return fmt.Errorf("the program asks for mode %d of the mouse, which the proxy does not "+
			"know: use keys", m.Protocol)
	}
	return nil
}

// writer collects reports in pieces.
type writer struct {
	m    Modes
	out  [][]byte
	open []byte
	err  error
}

func (w *writer) endPiece() {
	if len(w.open) > 0 {
		w.out, w.open = append(w.out, w.open), nil
	}
}

func (w *writer) writeReport(code int, at Cell, release bool) {
	x, y := at.Col+1, at.Row+1
	switch w.m.Encoding {
	case encodingSGR, encodingPixels:
		if w.m.Encoding == encodingPixels {
			x, y = w.cellCentre(at)
		}
		final := byte('M')
		if release {
			final = 'm'
		}
		w.writeNumbers("\x1b[<", code, x, y, final)
		return
	}
	if release {
		code |= none
	}
	code += 32
	switch w.m.Encoding {
	case encodingURXVT:
		w.writeNumbers("\x1b[", code, x, y, 'M')
	case encodingUTF8:
		w.checkLimit(at, lastUTF8)
		w.open = append(w.open, "\x1b[M"...)
		for _, n := range []int{code, x + 32, y + 32} {
			w.open = utf8.AppendRune(w.open, rune(n))
		}
	default:
		w.checkLimit(at, lastByte)
		w.open = append(w.open, '\x1b', '[', 'M', byte(code), byte(x+32), byte(y+32))
	}
}

// writeNumbers writes lead code ; x ; y final.
func (w *writer) writeNumbers(lead string, code, x, y int, final byte) {
	w.open = fmt.Appendf(w.open, "%s%d;%d;%d%c", lead, code, x, y, final)
}

// checkLimit sets an error for a cell beyond the encoding's numbers.
func (w *writer) checkLimit(at Cell, last int) {
	if at.Col+1 > last || at.Row+1 > last {
		w.err = fmt.Errorf(
			"the program reads the mouse in an encoding that ends with row and column %d: "+
				"%s cannot be reported", last, at,
		)
	}
}

// cellCentre returns the middle of a cell in pixels, from 1.
func (w *writer) cellCentre(at Cell) (x, y int) {
	if w.m.CellWidth <= 0 || w.m.CellHeight <= 0 {
		w.err = errors.New("the program wants the mouse's place in pixels (mode 1016), " +
			"and the terminal does not say how large its cells are: use keys")
	}
	return at.Col*w.m.CellWidth + w.m.CellWidth/2 + 1, at.Row*w.m.CellHeight + w.m.CellHeight/2 + 1
}
