package overlay

import (
	"slices"
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/display/notice"
)

// isAnswerable reports whether a line shows who asks, for what, and the key that allows it. In a
// window too small to read that, the key gives nothing. Only the agent's own words may be cut.
func (s *Status) isAnswerable(line string, cols, rows int) bool {
	st := s.state
	switch {
	case !s.conf.Line:
		return s.isAnnouncementLegible(cols, rows)
	case st.Pending.Keys != "":
		return s.FitsScreen(st.Agent.Name, st.Pending, cols, rows)
	case st.Occupied:
		return holdsText(line, s.whoWaits()) && holdsText(line, s.grantLetsType())
	case st.Phase == control.Asked && st.Ahead.Rule != "":
		return s.isAnnouncementLegible(cols, rows)
	case st.Phase == control.Asked:
		return holdsText(line, s.controlWish()) && holdsText(line, s.allowLabel()) ||
			slices.Contains(s.shortQuestions(), joinRows(line))
	case st.Menu:
		return holdsText(line, s.menuGrantLabel())
	}
	return holdsText(line, s.dismissLabel())
}

// holdsText reports whether the rows of a line hold a text without breaking any of its words.
func holdsText(line, text string) bool {
	rows := strings.Split(line, "\n")
	for _, word := range strings.Fields(text) {
		hasWord := func(row string) bool { return strings.Contains(row, word) }
		if !slices.ContainsFunc(rows, hasWord) {
			return false
		}
	}
	return strings.Contains(removeBlanks(line), removeBlanks(text))
}

// removeBlanks removes blanks and line ends.
func removeBlanks(text string) string { return strings.Join(strings.Fields(text), "") }

// joinRows puts a line on one row.
func joinRows(line string) string { return strings.Join(strings.Fields(line), " ") }

// shortQuestions are short forms of the question for control, the best first. Each has the agent's
// whole name, the level and both keys.
func (s *Status) shortQuestions() (all []string) {
	name := s.state.Agent.Name
	if s.state.Another {
		name = "another " + name
	}
	level := "DRIVE"
	if s.state.Level == protocol.LevelType {
		level = "TYPE"
	}
	keys := "? " + caretNotation(s.grantLabel()) + "/" + caretNotation(s.conf.Reclaim)
	for _, length := range []string{formatTerm(s.state.For), ""} {
		all = append(all, joinRows(name+": "+level+length+keys))
	}
	return all
}

// caretNotation shortens the name of a key: Ctrl+G becomes ^G.
func caretNotation(key string) string { return strings.Replace(key, "Ctrl+", "^", 1) }

// crampedLine is the line for a window too small for the question: a short form of it, or the
// remark that there is no room.
func (s *Status) crampedLine(cols, rows int) string {
	var forms []string
	if st := s.state; st.Phase == control.Asked && st.Ahead.Rule == "" && st.Pending.Keys == "" &&
		!st.Occupied {
		forms = s.shortQuestions()
	}
	key := caretNotation(s.conf.Reclaim)
	forms = append(
		forms,
		"too small to show the question: "+s.grantLabel()+" does nothing, "+
			s.conf.Reclaim+" refuses",
		"too small to answer: "+key+" refuses",
		"too small: "+key,
		"too small",
		key,
	)
	for _, form := range forms {
		if line, ok := notice.LayOutWhole(cols, max(1, rows-1), form); ok {
			return line
		}
	}
	return "!"
}

// replaceUnreadable replaces a line that cannot be answered. It returns the new line and the
// question that it asks, or 0.
func (s *Status) replaceUnreadable(line string, question uint64, cols, rows int) (string, uint64) {
	if !s.conf.Line || s.state.Phase == control.Asked && s.state.Ahead.Rule != "" {
		return line, 0
	}
	if line = s.crampedLine(cols, rows); !s.isAnswerable(line, cols, rows) {
		question = 0
	}
	return line, question
}

// isQuestionUnreadable reports whether the newest line had no room for its question.
func (s *Status) isQuestionUnreadable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.small
}
