package overlay

import (
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"terminalproxy/proxy/notice"
	"terminalproxy/proxy/screen"
)

// inTheWay is how long the cursor has to rest in the line before that makes way: a program that draws passes everywhere.
const inTheWay = 150 * time.Millisecond

// place is where the line stands.
type place struct {
	high  bool      // the user wants it on the top rows
	up    bool      // there is one
	top   bool      // on the top rows
	since time.Time // when it was first seen that it should be elsewhere, zero while it should not
}

// put says on which row a line begins: at the bottom, or at the top where the user sees the cursor in the rows that it
// needs; the other way round where the user wants it on top. What stands moves only when the cursor rests where it does; again
// is when to look whether it does.
func (p *place) put(now time.Time, m *screen.Screen, line string) (row int, again time.Duration) {
	_, rows := m.Size()
	n := min(rows, strings.Count(line, "\n")+1)
	at := m.Cursor()
	low := at.Row >= rows-n
	top := at.Visible && low && at.Row >= n
	if p.high {
		top = !at.Visible || at.Row >= n || low
	}
	switch {
	case !p.up:
		p.up, p.top, p.since = true, top, time.Time{}
	case p.top == top:
		p.since = time.Time{}
	case p.since.IsZero():
		p.since, again = now, inTheWay
	case now.Sub(p.since) < inTheWay:
		again = inTheWay - now.Sub(p.since)
	default:
		p.top, p.since = !p.top, time.Time{}
	}
	if p.top {
		return 0, again
	}
	return notice.Top(m, line), again
}

// spot is a place for the sign.
type spot struct {
	row, from int
	wide      bool // it begins a column earlier than it needs, where a wide character does
	over      bool // text stands below it
}

// signSpot is where a sign goes: at the right end of a row that has no text there, and not the cursor. That is the last row;
// on the main screen, where the cursor is in that one as a rule, the row above, since the first leaves the screen when the
// window shrinks; then the first, which is the first to be tried where the user wants it on top. Without any it covers text in the last one, or in the first if the cursor is in that.
func signSpot(m *screen.Screen, sign string, top bool) (s spot, ok bool) {
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
		if row != at && free(m, row, from) {
			return spot{row: row, from: from}, true
		}
	}
	s = spot{row: candidates[0], from: from, over: true}
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

// free reports whether no text stands on a row from a column on, nor right before it.
func free(m *screen.Screen, row, from int) bool {
	cols, _ := m.Size()
	for col := max(0, from-1); col < cols; col++ {
		if c := m.Cell(row, col); c.Width != 1 || c.Content != "" && c.Content != " " {
			return false
		}
	}
	return true
}
