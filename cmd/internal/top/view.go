package top

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"

	"terminalproxy/cmd/internal/cells"
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

// above is how many rows stand over the list: the sums and the heads.
const above = 2

// idWidth is the width of the column with the session; the others' widths follow the terminal's.
const idWidth = 18

const (
	keysWords     = "↑↓ choose  n next question  Enter answer  x take back or refuse  q leave"
	questionWords = "y, then Enter, gives the keyboard  Enter alone or n does not  x refuses"
	between       = "  "
)

// page is how many rows the list has.
func (m *model) page() int { return max(1, m.rows-above-len(m.below())) }

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.View{AltScreen: true, WindowTitle: "gateway top"}
	if m.cols < 1 || m.rows < 1 {
		return v
	}
	lines := append([]string{m.sums(), m.heads()}, m.list()...)
	lines = append(lines, m.below()...)
	if over := len(lines) - m.rows; over > 0 { // what matters most stands below
		lines = lines[over:]
	}
	v.Content = strings.Join(lines, "\n")
	return v
}

// sums says how much there is.
func (m *model) sums() string {
	run, ask, drive := 0, 0, 0
	for _, r := range m.all {
		if !r.left {
			run++
		}
		if r.asks() {
			ask++
		}
		if r.driven() {
			drive++
		}
	}
	words := fmt.Sprintf("%s, %s, agents type in %d", count(run, "session"), count(ask, "question"), drive)
	if m.lacks != nil {
		words += "; incomplete: " + text.Incomplete(m.lacks, m.now())
	}
	if ask > 0 {
		return bold + cells.Cut(words, m.cols) + plain
	}
	return cells.Cut(words, m.cols)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (m *model) heads() string {
	return faint + m.columns("SESSION", "PROGRAM", "KEYBOARD", "SCREEN") + plain
}

// columns is a row of the list.
func (m *model) columns(id, program, keyboard, rest string) string {
	third := min(max((m.cols-idWidth)/4, 12), 30)
	left := "  " + cells.Fit(id, idWidth) + " " + cells.Fit(program, third) + " " + cells.Fit(keyboard, third+2) + " "
	return cells.Cut(left+rest, m.cols)
}

// list is the part of the list that has room, with the chosen row in it.
func (m *model) list() []string {
	room := m.page()
	at := max(m.at(), 0)
	m.top = min(max(m.top, at-room+1), at)
	m.top = min(m.top, max(0, len(m.all)-room))
	lines := make([]string, 0, room)
	for i := m.top; i < min(m.top+room, len(m.all)); i++ {
		lines = append(lines, m.line(m.all[i]))
	}
	if len(m.all) == 0 {
		lines = append(lines, cells.Cut("  no sessions; start one in a terminal with: proxy --agent PROGRAM", m.cols))
	}
	for len(lines) < room {
		lines = append(lines, "")
	}
	return lines
}

// line is a session in the list.
func (m *model) line(r *row) string {
	words := m.columns(text.Name(r.SessionID), text.Command(r.SessionInfo), m.keyboard(r), m.shows(r))
	switch {
	case r.SessionID == m.chosen:
		return reverse + cells.Fit("▶"+strings.TrimPrefix(words, " "), m.cols) + plain
	case r.asks():
		return bold + amber + words + plain
	case r.driven():
		return amber + words + plain
	case r.left:
		return faint + words + plain
	}
	return words
}

// keyboard says who has the keyboard, or wants it.
func (m *model) keyboard(r *row) string {
	switch {
	case r.left:
		return "ended"
	case r.State != protocol.StateRunning:
		return text.State(r.SessionInfo)
	case r.asks() && !r.driven():
		return text.Name(r.Keyboard.Asking) + " asks"
	case r.Chat != nil && r.Chat.Open > 0 && !r.driven():
		return text.Name(r.Chat.Agent) + " waits in the chat"
	}
	return text.Keyboard(r.Keyboard, "", m.now())
}

// shows is what stands on the screen of a session: why an agent asks, or the last row.
func (m *model) shows(r *row) string {
	switch {
	case r.left:
		return ""
	case r.asks():
		return quoted(r.Keyboard.AskingReason)
	case r.Blackout != nil:
		return text.State(r.SessionInfo)
	}
	if title := text.Titled(r.Title, r.Progress); title != "" {
		return title
	}
	return text.OneLine(r.LastLine)
}

// below says more of the chosen session, or asks, and which keys there are. A question and the keys are whole, on as many rows as they
// need: nobody shall give what they cannot read.
func (m *model) below() (lines []string) {
	keys := keysWords
	if r := m.row(); m.asked != nil {
		keys, lines = questionWords, m.question()
	} else if r != nil {
		more := "  " + text.OneLine(r.LastLine)
		if r.asks() {
			more = "  " + text.Name(r.Keyboard.Asking) + " says: " + quoted(r.Keyboard.AskingReason)
		}
		first := text.Name(r.SessionID) + " in " + text.Directory(r.SessionInfo) + ": " + text.Keyboard(r.Keyboard, "", m.now())
		lines = []string{cells.Cut(first, m.cols), cells.Cut(more, m.cols)}
	} else {
		lines = make([]string, 2)
	}
	lines = append(lines, amber+cells.Cut(m.said, m.cols)+plain)
	for _, row := range wrapKeys(keys, m.cols) {
		lines = append(lines, faint+row+plain)
	}
	return lines
}

// wrapKeys has a row end between two keys.
func wrapKeys(keys string, width int) (rows []string) {
	row := ""
	for key := range strings.SplitSeq(keys, between) {
		if row != "" && displaywidth.String(row+between+key) > width {
			rows = append(rows, cells.Cut(row, width))
			row = ""
		}
		if row != "" {
			row += between
		}
		row += key
	}
	return append(rows, cells.Cut(row, width))
}

// question is what a grant means, for the person to read before it is given.
func (m *model) question() []string {
	s := m.asked.about
	what := "every key"
	if s.Keyboard.AskingLevel == protocol.LevelType {
		what = "text and editing keys"
	}
	answer := "_"
	if m.asked.yes {
		answer = "y"
	}
	who := text.Name(s.Keyboard.Asking)
	ask := fmt.Sprintf(": give %s to %s, for 10m or the user's limit? [y/N] %s", what, who, answer)
	const enough = 12 // columns of what is cut on a narrow screen
	program := fmt.Sprintf("%s %q", text.Name(s.SessionID), text.Command(s))
	program = cells.Cut(program, max(m.cols-displaywidth.String(ask), min(enough, m.cols)))
	lines := cells.Wrap(program+ask, m.cols)
	says := cells.Wrap(who+" says: "+quoted(s.Keyboard.AskingReason), m.cols-2)
	room := max(1, m.rows-len(lines)-1-len(wrapKeys(questionWords, m.cols))) // an agent's words push no question off the screen
	if len(says) > room {
		says = append(says[:room-1], cells.Fit(says[room-1], max(0, m.cols-3))+"…")
	}
	for _, row := range says {
		lines = append(lines, "  "+row)
	}
	return lines
}

// quoted is what an agent says for itself.
func quoted(reason string) string {
	if reason = text.OneLine(reason); reason != "" {
		return "“" + reason + "”"
	}
	return "nothing"
}
