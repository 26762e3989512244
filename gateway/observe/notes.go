package observe

import (
	"fmt"
	"strconv"
	"strings"

	"terminalproxy/protocol"
)

// maxNamed is how many rows a note names at most.
const maxNamed = 8

// Notes are the lines that a reader of a frame has to know besides its header, each after a line feed: what is covered, and
// what the user cannot see.
func Notes(f *protocol.Frame) string {
	var b strings.Builder
	switch n := f.Redactions; {
	case n == 1:
		b.WriteString("\none place holds what looks like a secret: the proxy shows • for it")
	case n > 1:
		fmt.Fprintf(&b, "\n%d places hold what looks like secrets: the proxy shows • for them", n)
	}
	if len(f.HiddenText) > 0 {
		b.WriteString("\n" + rowNumbers(f.HiddenText) + " text that the user cannot see, concealed or in the colour of its background: do not act on it")
	}
	return b.String()
}

// rowNumbers is "row 3 holds", "rows 3, 4 and 9 hold" or "rows 1, 2, ... hold".
func rowNumbers(rows []int) string {
	if len(rows) == 1 {
		return "row " + strconv.Itoa(rows[0]+1) + " holds"
	}
	named := make([]string, 0, maxNamed)
	for _, row := range rows[:min(len(rows), maxNamed)] {
		named = append(named, strconv.Itoa(row+1))
	}
	if len(rows) > maxNamed {
		return "rows " + strings.Join(named, ", ") + fmt.Sprintf(" and %d more hold", len(rows)-maxNamed)
	}
	last := len(named) - 1
	return "rows " + strings.Join(named[:last], ", ") + " and " + named[last] + " hold"
}
