package typist

import (
	"fmt"
	"strconv"
	"strings"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// Mouse is one act of the mouse.
type Mouse struct {
	// Act is its name, as [protocol.Input] takes it: click, right-click, wheel-down*3.
	Act string
	// On is a text on the screen and At a cell; the act takes place at one of them. A wheel may have neither.
	On string
	At *protocol.Cell
	// To is the end of a drag.
	To *protocol.Cell
}

// MouseWords are the names that an interface has for the parts of an act, for sentences.
type MouseWords struct{ On, At, Act, To string }

// Point reads an act of the mouse from what somebody wrote: a text or a place like 5,12 (row and column from 1), the act,
// click by default, and the place where a drag ends. All of them empty is no act. Errors are sentences that say what to
// write.
func Point(names MouseWords, on, at, act, to string) (*Mouse, error) {
	if on == "" && at == "" && act == "" && to == "" {
		return nil, nil //nolint:nilnil // most that is typed has no mouse
	}
	m := &Mouse{Act: act, On: on}
	switch {
	case act == "" && to != "":
		m.Act = "drag"
	case act == "":
		m.Act = "click"
	}
	drag := strings.HasSuffix(strings.ToLower(m.Act), "drag")
	switch {
	case on != "" && at != "":
		return nil, fmt.Errorf("%s and %s exclude each other: the mouse acts in one place", names.On, names.At)
	case on == "" && at == "" && !strings.Contains(strings.ToLower(m.Act), "wheel"):
		return nil, fmt.Errorf("it is not said where to %.64s: give %s (a text on the screen) or %s (row,column from 1)", m.Act, names.On, names.At)
	case drag && to == "":
		return nil, fmt.Errorf("a drag needs its end: give %s (row,column from 1)", names.To)
	case !drag && to != "":
		return nil, fmt.Errorf("%s is where a drag ends: leave it out, or write drag for %s", names.To, names.Act)
	case len(on) > protocol.MaxPattern:
		return nil, fmt.Errorf("%s is %d bytes long, at most %d can be looked for", names.On, len(on), protocol.MaxPattern)
	}
	var err error
	if m.At, err = cell(names.At, at); err != nil {
		return nil, err
	}
	m.To, err = cell(names.To, to)
	return m, err
}

// cell reads a place, nil for none.
func cell(name, place string) (*protocol.Cell, error) {
	if place == "" {
		return nil, nil //nolint:nilnil // no place is no error
	}
	row, col, ok := strings.Cut(place, ",")
	r, errRow := strconv.Atoi(strings.TrimSpace(row))
	c, errCol := strconv.Atoi(strings.TrimSpace(col))
	if !ok || errRow != nil || errCol != nil || r < 1 || c < 1 || r > protocol.MaxSize || c > protocol.MaxSize {
		return nil, fmt.Errorf("%s is %.32q: write the row and the column, both from 1, like 5,12", name, place)
	}
	return &protocol.Cell{Row: r - 1, Col: c - 1}, nil
}

// words name the act for a receipt; at is where it came to, if that is known by now.
func (m *Mouse) words(at *protocol.Cell) string {
	if m.At != nil {
		at = m.At
	}
	return text.Mouse(m.Act, m.On, at, m.To)
}
