package text

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"terminalproxy/protocol"
)

// longLine is the length in bytes up to which a line is typed. A longer one is pasted if the
// program supports that: some programs redraw after each character, and are still busy when Enter
// arrives.
const longLine = 256

// Typing is one input: a mouse action, then text or a paste, then keys, then Enter; at least one of
// them. The mouse comes first: it sets where the text goes.
type Typing struct {
	Mouse       *protocol.InputPart // see [ParseMouse]
	Text, Paste string
	Keys        []string
	Enter       bool
}

// Parts makes the parts of a terminal.input. Errors are sentences that say what to write.
func (t Typing) Parts() (parts []protocol.InputPart, err error) {
	switch {
	case t.Mouse == nil && t.Text == "" && t.Paste == "" && len(t.Keys) == 0 && !t.Enter:
		return nil, errors.New("nothing to type: give text, paste, keys, enter or click")
	case t.Text != "" && t.Paste != "":
		return nil, errors.New("text and paste cannot be used together: send them one after " +
			"another")
	case slices.Contains(t.Keys, ""):
		return nil, errors.New("one of the keys has no name: leave it out, or name it, as in: " +
			"ctrl-x enter")
	}
	add := func(kind protocol.InputKind, data string) {
		if data != "" {
			parts = append(parts, protocol.InputPart{InputKind: kind, Data: data})
		}
	}
	if t.Mouse != nil {
		parts = append(parts, *t.Mouse)
	}
	add(protocol.InputPaste, t.Paste)
	line, ends := t.typedLine()
	kind := protocol.InputText
	if severalLines(line) || len(line) > longLine {
		kind = protocol.InputLines
	}
	add(kind, line)
	if ends && len(t.Keys) > 0 {
		add(protocol.InputKeys, enter)
	}
	add(protocol.InputKeys, keyNames(t.Keys))
	if t.Enter || ends && len(t.Keys) == 0 {
		add(protocol.InputKeys, enter)
	}
	return parts, nil
}

// typedLine removes the final line end from the text if it means Enter; in a paste it would be part
// of the text. If Enter follows anyhow, several lines keep it: some programs need an empty line.
func (t Typing) typedLine() (line string, ends bool) {
	line, ends = strings.CutSuffix(t.Text, "\n")
	line = strings.TrimSuffix(line, "\r")
	if !ends || t.Enter && severalLines(line) {
		return t.Text, false
	}
	return line, true
}

func severalLines(s string) bool { return strings.ContainsAny(s, "\r\n") }

const enter = "enter"

// blanks are the names of keys that a caller wrote as the characters they type. Blanks separate
// names on the wire.
var blanks = map[string]string{" ": "space", "\t": "tab", "\n": enter, "\r": enter, "\r\n": enter}

// keyNames joins the names of keys as the wire has them.
func keyNames(list []string) string {
	out := slices.Clone(list)
	for i, name := range out {
		if known, ok := blanks[name]; ok {
			out[i] = known
		}
	}
	return strings.Join(out, " ")
}

// MouseWords are an interface's names for the parameters of a mouse action, for error messages.
type MouseWords struct{ On, At, Act, To string }

// ParseMouse parses a mouse action: a text or a place like 5,12 (row and column from 1), the
// action, click by default, and the place where a drag ends. If all are empty, it returns nil.
// Errors are sentences that say what to write.
func ParseMouse(names MouseWords, on, at, act, to string) (*protocol.InputPart, error) {
	if on == "" && at == "" && act == "" && to == "" {
		return nil, nil //nolint:nilnil // most input has no mouse
	}
	m := &protocol.InputPart{InputKind: protocol.InputMouse, Data: act, On: on}
	switch {
	case act == "" && to != "":
		m.Data = "drag"
	case act == "":
		m.Data = "click"
	}
	drag := strings.HasSuffix(strings.ToLower(m.Data), "drag")
	switch {
	case on != "" && at != "":
		return nil, fmt.Errorf("%s and %s cannot be used together: the mouse acts in one place",
			names.On, names.At)
	case on == "" && at == "" && !strings.Contains(strings.ToLower(m.Data), "wheel"):
		return nil, fmt.Errorf("no place to %.64s is given: give %s (a text on the screen) or "+
			"%s (row,column from 1)", m.Data, names.On, names.At)
	case drag && to == "":
		return nil, fmt.Errorf("a drag needs its end: give %s (row,column from 1)", names.To)
	case !drag && to != "":
		return nil, fmt.Errorf("%s is where a drag ends: leave it out, or write drag for %s",
			names.To, names.Act)
	case len(on) > protocol.MaxPattern:
		return nil, fmt.Errorf("%s is %d bytes long, the limit is %d",
			names.On, len(on), protocol.MaxPattern)
	}
	var err error
	if m.At, err = parseCell(names.At, at); err != nil {
		return nil, err
	}
	m.To, err = parseCell(names.To, to)
	return m, err
}

// parseCell parses a place, nil for "".
func parseCell(name, place string) (*protocol.Cell, error) {
	if place == "" {
		return nil, nil //nolint:nilnil // no place is no error
	}
	row, col, ok := strings.Cut(place, ",")
	r, errRow := strconv.Atoi(strings.TrimSpace(row))
	c, errCol := strconv.Atoi(strings.TrimSpace(col))
	if !ok || errRow != nil || errCol != nil || r < 1 || c < 1 || r > protocol.MaxSize ||
		c > protocol.MaxSize {
		return nil, fmt.Errorf("%s is %.32q: write the row and the column, both from 1, like 5,12",
			name, place)
	}
	return &protocol.Cell{Row: r - 1, Col: c - 1}, nil
}
