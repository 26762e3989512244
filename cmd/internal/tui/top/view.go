package top

import (
	"fmt"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"terminalproxy/cmd/internal/tui/fullscreen"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

const (
	plain   = "\x1b[m"
	faint   = "\x1b[2m"
	bold    = "\x1b[1m"
	reverse = "\x1b[7m"
	amber   = "\x1b[33m"
)

// above is the number of rows over the list: the sums and the heads.
const above = 2

// idWidth is the width of the session's column. The other columns depend on the terminal's width.
const idWidth = 18

const (
	keysWords     = "↑↓ choose  n next question  Enter answer  x take back or refuse  q leave"
	questionWords = "y, then Enter, gives the keyboard  Enter alone or n does not  x refuses"
	between       = "  "
)

// listHeight returns the number of rows of the list.
func (m *model) listHeight() int { return max(1, m.rows-above-len(m.footLines())) }

// View implements fullscreen.Model.
func (m *model) View() fullscreen.View {
	v := fullscreen.View{Title: "gateway top"}
	if m.cols < 1 || m.rows < 1 {
		return v
	}
	lines := append([]string{m.sumLine(), m.headLine()}, m.listLines()...)
	lines = append(lines, m.footLines()...)
	if over := len(lines) - m.rows; over > 0 { // the most important lines are the last
		lines = lines[over:]
	}
	v.Rows = lines
	return v
}

// sumLine counts sessions and questions.
func (m *model) sumLine() string {
	run, ask, drive := 0, 0, 0
	for _, r := range m.all {
		if !r.left {
			run++
		}
		if r.hasQuestion() {
			ask++
		}
		if r.isDriven() {
			drive++
		}
	}
	words := fmt.Sprintf("%s, %s, agents type in %d", countNoun(run, "session"),
		countNoun(ask, "question"), drive)
	if m.incomplete != nil {
		words += "; incomplete: " + text.Incomplete(m.incomplete, m.now())
	}
	if ask > 0 {
		return bold + cutText(words, m.cols) + plain
	}
	return cutText(words, m.cols)
}

func countNoun(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (m *model) headLine() string {
	return faint + m.formatColumns("SESSION", "PROGRAM", "KEYBOARD", "SCREEN") + plain
}

// formatColumns formats a row of the list.
func (m *model) formatColumns(id, program, keyboard, rest string) string {
	third := min(max((m.cols-idWidth)/4, 12), 30)
	left := "  " + fitText(id, idWidth) + " " + fitText(program, third) + " " +
		fitText(keyboard, third+2) + " "
	return cutText(left+rest, m.cols)
}

// listLines returns the visible part of the list, with the chosen row in it.
func (m *model) listLines() []string {
	room := m.listHeight()
	at := max(m.chosenIndex(), 0)
	m.top = min(max(m.top, at-room+1), at)
	m.top = min(m.top, max(0, len(m.all)-room))
	lines := make([]string, 0, room)
	for i := m.top; i < min(m.top+room, len(m.all)); i++ {
		lines = append(lines, m.rowLine(m.all[i]))
	}
	if len(m.all) == 0 {
		lines = append(lines,
			cutText("  no sessions; start one in a terminal with: proxy --agent PROGRAM", m.cols))
	}
	for len(lines) < room {
		lines = append(lines, "")
	}
	return lines
}

// rowLine draws a session in the list.
func (m *model) rowLine(r *row) string {
	words := m.formatColumns(text.Name(r.SessionID), text.Command(r.SessionInfo),
		m.keyboardState(r), m.screenText(r))
	switch {
	case r.SessionID == m.chosen:
		return reverse + fitText("▶"+strings.TrimPrefix(words, " "), m.cols) + plain
	case r.hasQuestion():
		return bold + amber + words + plain
	case r.isDriven():
		return amber + words + plain
	case r.left:
		return faint + words + plain
	}
	return words
}

// keyboardState says who has the keyboard, or wants it.
func (m *model) keyboardState(r *row) string {
	switch {
	case r.left:
		return "ended"
	case r.State != protocol.StateRunning:
		return text.State(r.SessionInfo)
	case r.hasQuestion() && !r.isDriven():
		return text.Name(r.Keyboard.Asking) + " asks"
	case r.Chat != nil && r.Chat.Open > 0 && !r.isDriven():
		return text.Name(r.Chat.Agent) + " waits in the chat"
	}
	return text.Keyboard(r.Keyboard, "", m.now())
}

// screenText returns an agent's reason for its question, or else the title or the last row of the
// screen.
func (m *model) screenText(r *row) string {
	switch {
	case r.left:
		return ""
	case r.hasQuestion():
		return quoteReason(r.Keyboard.AskingReason)
	case r.Blackout != nil:
		return text.State(r.SessionInfo)
	}
	if title := text.TitleWithProgress(r.Title, r.Progress); title != "" {
		return title
	}
	return text.OneLine(r.LastLine)
}

// footLines describes the chosen session, or asks the question, and lists the keys. A question and
// the keys are whole, on as many rows as they need: a person must not give without reading it all.
func (m *model) footLines() (lines []string) {
	keys := keysWords
	if r := m.chosenRow(); m.asked != nil {
		keys, lines = questionWords, m.questionLines()
	} else if r != nil {
		more := "  " + text.OneLine(r.LastLine)
		if r.hasQuestion() {
			more = "  " + text.Name(r.Keyboard.Asking) + " says: " +
				quoteReason(r.Keyboard.AskingReason)
		}
		first := text.Name(r.SessionID) + " in " + text.Directory(r.SessionInfo) + ": " +
			text.Keyboard(r.Keyboard, "", m.now())
		lines = []string{cutText(first, m.cols), cutText(more, m.cols)}
	} else {
		lines = make([]string, 2)
	}
	lines = append(lines, amber+cutText(m.status, m.cols)+plain)
	for _, row := range wrapKeys(keys, m.cols) {
		lines = append(lines, faint+row+plain)
	}
	return lines
}

// wrapKeys breaks lines between two keys only.
func wrapKeys(keys string, width int) (rows []string) {
	row := ""
	for key := range strings.SplitSeq(keys, between) {
		if row != "" && displaywidth.String(row+between+key) > width {
			rows = append(rows, cutText(row, width))
			row = ""
		}
		if row != "" {
			row += between
		}
		row += key
	}
	return append(rows, cutText(row, width))
}

// questionLines explains a grant to the person before it is given.
func (m *model) questionLines() []string {
	s := m.asked.about
	keys := "every key"
	if s.Keyboard.AskingLevel == protocol.LevelType {
		keys = "text and editing keys"
	}
	answer := "_"
	if m.asked.yes {
		answer = "y"
	}
	agent := text.Name(s.Keyboard.Asking)
	ask := fmt.Sprintf(": give %s to %s, for 10m or the user's limit? [y/N] %s", keys, agent,
		answer)
	const enough = 12 // columns that stay of a program's name on a narrow screen
	program := fmt.Sprintf("%s %q", text.Name(s.SessionID), text.Command(s))
	program = cutText(program, max(m.cols-displaywidth.String(ask), min(enough, m.cols)))
	lines := wrapText(program+ask, m.cols)
	says := wrapText(agent+" says: "+quoteReason(s.Keyboard.AskingReason), m.cols-2)
	// an agent's words must not push the question off the screen
	room := max(1, m.rows-len(lines)-1-len(wrapKeys(questionWords, m.cols)))
	if len(says) > room {
		says = append(says[:room-1], fitText(says[room-1], max(0, m.cols-3))+"…")
	}
	for _, row := range says {
		lines = append(lines, "  "+row)
	}
	return lines
}

// quoteReason quotes an agent's reason.
func quoteReason(reason string) string {
	if reason = text.OneLine(reason); reason != "" {
		return "“" + reason + "”"
	}
	return "nothing"
}
