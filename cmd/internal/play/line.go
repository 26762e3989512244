package play

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"

	"terminalproxy/protocol"
)

// The colours of the line: those of the page's time line.
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
	// recent is how long the line says what was typed.
	recent = 5 * time.Second
)

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.View{AltScreen: true}
	if m.shown == nil || m.cols < 1 || m.rows < 1 {
		return v
	}
	rows := m.rows
	if line := !m.hide && m.rows > 1; line {
		rows--
	}
	m.part.Follow(m.shown, m.cols, rows)
	_, ownRows := m.shown.Size()
	var b []byte
	for y := range rows {
		if at := m.part.Top + y; at < ownRows {
			b = m.shown.AppendPartANSI(b, at, m.part.Left, m.part.Left+m.cols)
		}
		b = append(b, plain+"\n"...)
	}
	if rows < m.rows {
		b = append(b, m.line()...)
	}
	v.Content = strings.TrimSuffix(string(b), "\n")
	if c := m.shown.Cursor(); c.Visible {
		v.Cursor = tea.NewCursor(min(c.Col-m.part.Left, m.cols-1), c.Row-m.part.Top)
	}
	return v
}

// line says where the recording is, who typed, and which keys there are.
func (m *model) line() string {
	sign := "▶"
	switch {
	case !m.more:
		sign = "■"
	case !m.playing:
		sign = "‖"
	}
	left := fmt.Sprintf("%s %s/%s", sign, clockTime(m.now), clockTime(m.length))
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
		text += " " + m.bar()
		used += 1 + barWidth
		right = keysWords
	}
	color, said := m.author()
	said = cut(said, m.cols-used-1-displaywidth.String(right)-1)
	text += " " + color + said + plain
	if gap := m.cols - used - 1 - displaywidth.String(said) - displaywidth.String(right); right != "" && gap >= 0 {
		text += strings.Repeat(" ", gap) + faint + right + plain
	}
	if used > m.cols {
		return cut(left, m.cols)
	}
	return text
}

// clockTime is a time as a player shows it.
func clockTime(d time.Duration) string {
	s := int(d / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// bar is the time line, with who typed where.
func (m *model) bar() string {
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

// author is who typed last, and what, in a colour.
func (m *model) author() (color, said string) {
	for _, k := range m.marks {
		at := time.Duration(k.AtMs) * time.Millisecond
		switch {
		case at > m.now:
			return color, said
		case m.now-at > recent:
			color, said = "", ""
			continue
		}
		switch name := oneLine(k.Name); k.Kind {
		case protocol.MarkInput:
			color, said = agentColor, name+": "+oneLine(k.Text)
		case protocol.MarkUser:
			color, said = userColor, "you typed"
			if name != "" {
				said = name + " typed"
			}
		case protocol.MarkExit:
			color, said = "", "exit "+oneLine(k.Text)
		default:
			color, said = "", oneLine(k.Text)
		}
	}
	return color, said
}

// oneLine is a text on one line, with nothing in it that a terminal obeys.
func oneLine(text string) string {
	return strings.ReplaceAll(protocol.Visible(text), "\n", " ")
}

// cut shortens a text to a width.
func cut(text string, width int) string {
	if displaywidth.String(text) <= width {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if width -= displaywidth.Rune(r); width < 1 {
			break
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return ""
	}
	return b.String() + "…"
}
