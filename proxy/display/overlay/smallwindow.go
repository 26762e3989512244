package overlay

import (
	"slices"
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/display/notice"
)

// isAnswerable reports whether a line shows who asks, for what, and the key that allows it. In a
// window too small for that, the key has no effect. Only the agent's own words may be cut.
func (w *wording) isAnswerable(line string, cols, rows int) bool {
	st := w.state
	switch {
	case !w.conf.Line:
		return w.isAnnouncementLegible(cols, rows)
	case st.Pending.Keys != "":
		return w.FitsScreen(st.Agent.Name, st.Pending, cols, rows)
	case st.Occupied:
		return holdsText(line, w.waitText()) && holdsText(line, w.typeLabel())
	case st.Phase == control.Asked && st.RuleGrant.Rule != "":
		return w.isAnnouncementLegible(cols, rows)
	case st.Phase == control.Asked:
		return holdsText(line, w.controlRequest()) && holdsText(line, w.allowLabel()) ||
			slices.Contains(w.shortQuestions(), joinRows(line))
	case st.Menu:
		return holdsText(line, w.menuGrantLabel())
	}
	return holdsText(line, w.dismissLabel())
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

// shortQuestions returns short forms of the question for control, the best first. Each has the
// agent's whole name, the level and both keys.
func (w *wording) shortQuestions() (all []string) {
	name := w.state.Agent.Name
	if w.state.Another {
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

// crampedLine is the line for a window too small for the question: a short form of it, or the
// remark that there is no room.
func (w *wording) crampedLine(cols, rows int) string {
	var forms []string
	if st := w.state; st.Phase == control.Asked && st.RuleGrant.Rule == "" && st.Pending.Keys == "" &&
		!st.Occupied {
		forms = w.shortQuestions()
	}
	key := caretNotation(w.conf.Reclaim)
	forms = append(forms,
		"too small to show the question: "+w.grantLabel()+" does nothing, "+
			w.conf.Reclaim+" refuses", "too small to answer: "+key+" refuses", "too small: "+key,
		"too small", key)
	for _, form := range forms {
		if line, ok := notice.LayOutWhole(cols, max(1, rows-1), form); ok {
			return line
		}
	}
	return "!"
}

// replaceUnreadable replaces a line that cannot be answered. It returns the new line and the
// question that it asks, or 0.
func (w *wording) replaceUnreadable(line string, question uint64, cols, rows int) (string, uint64) {
	if !w.conf.Line || w.state.Phase == control.Asked && w.state.RuleGrant.Rule != "" {
		return line, 0
	}
	if line = w.crampedLine(cols, rows); !w.isAnswerable(line, cols, rows) {
		question = 0
	}
	return line, question
}

// isQuestionUnreadable reports whether the newest line had no room for its question.
func (s *Status) isQuestionUnreadable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unreadable
}
