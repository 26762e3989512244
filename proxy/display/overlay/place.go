package overlay

import (
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/terminal/screen"
)

// moveAfter is how long the cursor has to stay in the line before the line moves: a program that
// draws moves it everywhere.
const moveAfter = 150 * time.Millisecond

// place is where the line is drawn.
type place struct {
	preferTop      bool      // the user wants it on the top rows
	up             bool      // a line is drawn
	top            bool      // on the top rows
	misplacedSince time.Time // since when it should be on the other side, or zero
}

// chooseRow returns the row on which a line begins: at the bottom, or at the top if the cursor is
// visible in the rows that the line needs. If the user wants it on top, it is the other way round.
// The line moves only when the cursor stays in it; again is the time until the next check.
func (p *place) chooseRow(
	now time.Time, m *screen.Screen, line string,
) (row int, again time.Duration) {
	_, rows := m.Size()
	n := min(rows, strings.Count(line, "\n")+1)
	at := m.Cursor()
	low := at.Row >= rows-n
	top := at.Visible && low && at.Row >= n
	if p.preferTop {
		top = !at.Visible || at.Row >= n || low
	}
	switch {
	case !p.up:
		p.up, p.top, p.misplacedSince = true, top, time.Time{}
	case p.top == top:
		p.misplacedSince = time.Time{}
	case p.misplacedSince.IsZero():
		p.misplacedSince, again = now, moveAfter
	case now.Sub(p.misplacedSince) < moveAfter:
		again = moveAfter - now.Sub(p.misplacedSince)
	default:
		p.top, p.misplacedSince = !p.top, time.Time{}
	}
	if p.top {
		return 0, again
	}
	return notice.TopRow(m, line), again
}

// spot is a position of the sign.
type spot struct {
	row, from  int
	wide       bool // it begins a column early, so as not to split a wide character
	coversText bool // it covers text
}

// findSignSpot looks for a right end of a row without text and without the cursor. It tries the
// last row, then the first. On the main screen the cursor is usually in the last row, so the row
// above it comes second: it stays when the window shrinks. If the user wants the sign on top, the
// first row is tried first. If all have text, the sign covers text in the first candidate, or on
// the other side if the cursor is in that row.
func findSignSpot(m *screen.Screen, sign string, top bool) (s spot, ok bool) {
	cols, rows := m.Size()
	from := cols - displaywidth.String(sign)
	if from < 0 {
		return spot{}, false
	}
	at := m.Cursor().Row
	candidates := []int{rows - 1, 0}
	if !m.Alt() && rows > 2 {
		candidates = []int{rows - 1, rows - 2, 0}
	}
	if top {
		candidates = append([]int{0}, candidates[:len(candidates)-1]...)
	}
	for _, row := range candidates {
		if row != at && isRowFree(m, row, from) {
			return spot{row: row, from: from}, true
		}
	}
	s = spot{row: candidates[0], from: from, coversText: true}
	if s.row == at {
		s.row = rows - 1 - candidates[0] // the other side
	}
	if s.row == at {
		return spot{}, false
	}
	if m.Cell(s.row, from).Width == 0 && from > 0 {
		s.from, s.wide = s.from-1, true
	}
	return s, true
}

// isRowFree reports whether a row has no text from a column on, nor right before it.
func isRowFree(m *screen.Screen, row, from int) bool {
	cols, _ := m.Size()
	for col := max(0, from-1); col < cols; col++ {
		if c := m.Cell(row, col); c.Width != 1 || c.Content != "" && c.Content != " " {
			return false
		}
	}
	return true
}
