package overlay

import (
	"slices"
	"strings"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
)

// answerable reports whether a line shows what its question is about: who asks, for what, and the key that gives it. What the user cannot
// read in a small window gives nothing. An agent's own words for what it wants may be cut.
func (s *Status) answerable(line string, cols, rows int) bool {
	st := s.state
	switch {
	case !s.conf.Line:
		return s.announcedLegibly(cols, rows)
	case st.Pending.Keys != "":
		return s.Fits(st.Agent.Name, st.Pending, cols, rows)
	case st.Occupied:
		return holds(line, s.occupant()) && holds(line, s.letsType())
	case st.Phase == control.Asked && st.Ahead.Rule != "":
		return s.announcedLegibly(cols, rows)
	case st.Phase == control.Asked:
		return holds(line, s.wish()) && holds(line, s.allows()) || slices.Contains(s.shortWishes(), unwrap(line))
	case st.Menu:
		return holds(line, s.menuLets())
	}
	return holds(line, s.dismissal())
}

// holds reports whether the rows of a line hold a text, with none of its words in pieces.
func holds(line, text string) bool {
	rows := strings.Split(line, "\n")
	for _, word := range strings.Fields(text) {
		if !slices.ContainsFunc(rows, func(row string) bool { return strings.Contains(row, word) }) {
			return false
		}
	}
	return strings.Contains(squash(line), squash(text))
}

// squash is text without its blanks and ends of rows.
func squash(text string) string { return strings.Join(strings.Fields(text), "") }

// unwrap is a line on one row.
func unwrap(line string) string { return strings.Join(strings.Fields(line), " ") }

// shortWishes are the question for control in few words, the best first: each has the agent's whole name, the level and both keys.
func (s *Status) shortWishes() (all []string) {
	name := s.state.Agent.Name
	if s.state.Another {
		name = "another " + name
	}
	level := "DRIVE"
	if s.state.Level == protocol.LevelType {
		level = "TYPE"
	}
	keys := "? " + caret(s.grantLabel()) + "/" + caret(s.conf.Reclaim)
	for _, length := range []string{term(s.state.For), ""} {
		all = append(all, unwrap(name+": "+level+length+keys))
	}
	return all
}

// caret writes a key in few columns: Ctrl+G is ^G.
func caret(key string) string { return strings.Replace(key, "Ctrl+", "^", 1) }

// cramped is the line for a window in which the question cannot be read: a short form of it, else that there is no room for one.
func (s *Status) cramped(cols, rows int) string {
	var forms []string
	if st := s.state; st.Phase == control.Asked && st.Ahead.Rule == "" && st.Pending.Keys == "" && !st.Occupied {
		forms = s.shortWishes()
	}
	key := caret(s.conf.Reclaim)
	forms = append(forms, "too small to show what is asked: "+s.grantLabel()+" does nothing, "+s.conf.Reclaim+" refuses",
		"too small to answer: "+key+" refuses", "too small: "+key, "too small", key)
	for _, form := range forms {
		if line, ok := notice.Whole(cols, max(1, rows-1), form); ok {
			return line
		}
	}
	return "!"
}

// lacksRoom is what to show in place of a line that cannot be answered, and the question that it puts, 0 for none.
func (s *Status) lacksRoom(line string, question uint64, cols, rows int) (string, uint64) {
	if !s.conf.Line || s.state.Phase == control.Asked && s.state.Ahead.Rule != "" {
		return line, 0
	}
	if line = s.cramped(cols, rows); !s.answerable(line, cols, rows) {
		question = 0
	}
	return line, question
}

// unreadable reports whether the newest line has no room for the question that there is.
func (s *Status) unreadable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.small
}
