package overlay

import (
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"terminalproxy/protocol"

	"terminalproxy/proxy/display/notice"
)

// holdsText reports whether the rows of a line hold a text, without breaking words of up to widest
// columns.
func holdsText(line, text string, widest int) bool {
	rows := strings.Split(line, "\n")
	for _, word := range strings.Fields(text) {
		hasWord := func(row string) bool { return strings.Contains(row, word) }
		if displaywidth.String(word) <= widest && !slices.ContainsFunc(rows, hasWord) {
			return false
		}
	}
	return strings.Contains(removeBlanks(line), removeBlanks(text))
}

// removeBlanks removes blanks and line ends.
func removeBlanks(text string) string { return strings.Join(strings.Fields(text), "") }

// joinRows puts a line on one row.
func joinRows(line string) string { return strings.Join(strings.Fields(line), " ") }

// shortQuestions returns short forms of the question for control, the best first. Each has the
// agent's whole name, the level and both keys.
func (w *wording) shortQuestions() (all []string) {
	name := w.state.Agent.Name
	if w.state.Question.Another {
		name = "another " + name
	}
	level := "DRIVE"
	if w.state.Level == protocol.LevelType {
		level = "TYPE"
	}
	keys := "? " + caretNotation(w.grantLabel()) + "/" + caretNotation(w.conf.Reclaim)
	for _, length := range []string{formatTerm(w.state.For), ""} {
		all = append(all, joinRows(name+": "+level+length+keys))
	}
	return all
}

// caretNotation shortens the name of a key: Ctrl+G becomes ^G.
func caretNotation(key string) string { return strings.Replace(key, "Ctrl+", "^", 1) }

// crampedLine is the line for a window too small for the question.
func (w *wording) crampedLine(cols, rows int) string {
	key := caretNotation(w.conf.Reclaim)
	for _, form := range []string{
		"too small to show the question: " + w.grantLabel() + " does nothing, " + w.conf.Reclaim +
			" refuses",
		"too small to answer: " + key + " refuses", "too small: " + key, "too small", key,
	} {
		if line, ok := notice.LayOutWhole(cols, max(1, rows-1), form); ok {
			return line
		}
	}
	return "!"
}

// isQuestionUnreadable reports whether the newest line had no room for its question.
func (s *Status) isQuestionUnreadable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unreadable
}
