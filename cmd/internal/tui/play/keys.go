package play

import (
	"time"

	"terminalproxy/cmd/internal/tui/fullscreen"

	"terminalproxy/protocol"
)

// arrow is how far an arrow goes.
const arrowStep = 5 * time.Second

// handleKey acts on a key. The keys are those of the page, and q.
func (m *model) handleKey(key string) fullscreen.Cmd {
	switch key {
	case "q", "ctrl+c", "ctrl+\\", "esc":
		return fullscreen.Leave
	case "space", " ":
		return m.togglePause()
	case "left":
		return m.leapTo(m.leapStart() - arrowStep)
	case "right":
		return m.leapTo(m.leapStart() + arrowStep)
	case "home":
		return m.leapTo(0)
	case "end":
		return m.leapTo(m.length)
	case "[":
		return m.jumpToInput(-1)
	case "]":
		return m.jumpToInput(1)
	case "+", "=":
		m.speed = min(m.speed*2, fastest)
	case "-":
		m.speed = max(m.speed/2, slowest)
	case "h":
		m.hide = !m.hide
	}
	return nil
}

// leapTo seeks to the target of a key.
func (m *model) leapTo(to time.Duration) fullscreen.Cmd {
	m.due = nowhere
	return m.seekTo(to)
}

// leapStart returns the time at which a leap begins: the target of a leap under way, or now.
func (m *model) leapStart() time.Duration {
	if m.want != nowhere {
		return m.want
	}
	return m.now
}

// togglePause stops and goes on. At the end it begins again.
func (m *model) togglePause() fullscreen.Cmd {
	m.playing = !m.playing
	switch {
	case m.seeking:
		return nil
	case m.playing && !m.more:
		return m.leapTo(0)
	}
	return m.scheduleNext()
}

// jumpToInput goes to an agent's input before or after now. An input that has just begun counts as
// now: otherwise a key could not get past an input that plays.
func (m *model) jumpToInput(by int) fullscreen.Cmd {
	const near = time.Second
	now, to := m.leapStart(), time.Duration(nowhere)
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
	return m.leapTo(to)
}
