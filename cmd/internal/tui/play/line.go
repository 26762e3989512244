package play

import (
	"fmt"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
	"terminalproxy/cmd/internal/tui/fullscreen"

	"terminalproxy/cmd/internal/tui/cells"
	"terminalproxy/protocol"
	"terminalproxy/proxy/record/replay"
)

// These are the colours of the page's time line.
const (
	agentColor = "\x1b[33m"
	userColor  = "\x1b[32m"
	faint      = "\x1b[2m"
	plain      = "\x1b[m"
)

const (
	keysWords = "space [ ] ← → + - h q"
	barWidth  = 16
	// least is the width below which the bar and the keys are left out.
	least = 70
)

// View implements fullscreen.Model.
func (m *model) View() fullscreen.View {
	v := fullscreen.View{}
	if m.shown == nil || m.cols < 1 || m.rows < 1 {
		return v
	}
	rows := m.rows
	if line := !m.hide && m.rows > 1; line {
		rows--
	}
	m.part.Follow(m.shown, m.cols, rows)
	_, ownRows := m.shown.Size()
	for y := range rows {
		var row []byte
		if at := m.part.Top + y; at < ownRows {
			row = m.shown.AppendPartANSI(nil, at, m.part.Left, m.part.Left+m.cols)
		}
		v.Rows = append(v.Rows, string(row))
	}
	if rows < m.rows {
		v.Rows = append(v.Rows, m.statusLine())
	}
	if c := m.shown.Cursor(); c.Visible {
		v.Cursor = &fullscreen.Cursor{
			Col: min(c.Col-m.part.Left, m.cols-1), Row: c.Row - m.part.Top,
		}
	}
	return v
}

// statusLine shows the time in the recording, the last author, and the keys.
func (m *model) statusLine() string {
	sign := "▶"
	switch {
	case !m.more:
		sign = "■"
	case !m.playing:
		sign = "‖"
	}
	left := fmt.Sprintf("%s %s/%s", sign, replay.FormatClock(m.now), replay.FormatClock(m.length))
	if m.speed != 1 {
		left += fmt.Sprintf(" %gx", m.speed)
	}
	if cols, rows := m.shown.Size(); cols > m.cols || rows > m.rows {
		left += fmt.Sprintf(" part of %dx%d", cols, rows)
	}
	used := displaywidth.String(left)
	text := left
	right := ""
	if m.cols >= least {
		text += " " + m.timeline()
		used += 1 + barWidth
		right = keysWords
	}
	color, said := m.latestAuthor()
	said = cells.Cut(said, m.cols-used-1-displaywidth.String(right)-1)
	text += " " + color + said + plain
	if gap := m.cols - used - 1 - displaywidth.String(said) - displaywidth.String(right); right != "" &&
		gap >= 0 {
		text += strings.Repeat(" ", gap) + faint + right + plain
	}
	if used > m.cols {
		return cells.Cut(left, m.cols)
	}
	return text
}

// timeline draws the time line, with the places of input.
func (m *model) timeline() string {
	at := func(d time.Duration) int {
		return int(min(max(int64(d)*barWidth/max(int64(m.length), 1), 0), barWidth-1))
	}
	var colors [barWidth]string
	for _, k := range m.marks {
		i := at(time.Duration(k.AtMs) * time.Millisecond)
		switch k.Kind {
		case protocol.MarkInput:
			colors[i] = agentColor
		case protocol.MarkUser:
			if colors[i] == "" {
				colors[i] = userColor
			}
		}
	}
	var b strings.Builder
	for i, c := range colors {
		sign := "─"
		switch {
		case i == at(m.now):
			sign = "●"
		case c != "":
			sign = "━"
		default:
			c = faint
		}
		b.WriteString(c + sign + plain)
	}
	return b.String()
}

// latestAuthor returns the last input with its author, and a colour for it.
func (m *model) latestAuthor() (color, said string) {
	k, ok := replay.NewestMark(m.marks, m.now)
	if !ok {
		return "", ""
	}
	switch k.Kind {
	case protocol.MarkInput:
		color = agentColor
	case protocol.MarkUser:
		color = userColor
	}
	return color, replay.DescribeMark(k, "you")
}
