package play

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"terminalproxy/protocol"
)

// arrow is how far an arrow goes.
const arrow = 5 * time.Second

// press does what a key means. Keys are those of the page, and q.
func (m *model) press(key string) tea.Cmd {
	switch key {
	case "q", "ctrl+c", "ctrl+\\", "esc":
		return tea.Quit
	case "space", " ":
		return m.pause()
	case "left":
		return m.leap(m.from() - arrow)
	case "right":
		return m.leap(m.from() + arrow)
	case "home":
		return m.leap(0)
	case "end":
		return m.leap(m.length)
	case "[":
		return m.jump(-1)
	case "]":
		return m.jump(1)
	case "+", "=":
		m.speed = min(m.speed*2, fastest)
	case "-":
		m.speed = max(m.speed/2, slowest)
	case "h":
		m.hide = !m.hide
	}
	return nil
}

// leap goes to where a key sends it.
func (m *model) leap(to time.Duration) tea.Cmd {
	m.due = nowhere
	return m.seek(to)
}

// from is where a leap begins: at the end of one that has not ended yet.
func (m *model) from() time.Duration {
	if m.want != nowhere {
		return m.want
	}
	return m.now
}

// pause stops and goes on. At the end it begins anew.
func (m *model) pause() tea.Cmd {
	m.playing = !m.playing
	switch {
	case m.seeking:
		return nil
	case m.playing && !m.more:
		return m.leap(0)
	}
	return m.next()
}

// jump goes to an agent's input before or behind now. A little before is still there: otherwise nobody gets past an input that plays.
func (m *model) jump(by int) tea.Cmd {
	const near = time.Second
	now, to := m.from(), time.Duration(nowhere)
	for _, k := range m.marks {
		at := time.Duration(k.AtMs) * time.Millisecond
		switch {
		case k.Kind != protocol.MarkInput:
		case by < 0 && at < now-near:
			to = at
		case by > 0 && at > now && to == nowhere:
			to = at
		}
	}
	if to == nowhere {
		return nil
	}
	return m.leap(to)
}
