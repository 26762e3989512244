package overlay

import (
	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
)

// announces says who is about to get control by which rule of the user's, and what that agent is: its name is its own choice, its token
// is not.
func (s *Status) announces() string { return s.announced() + ": “" + s.state.Reason + "”" }

// announcedLegibly reports whether all that the user's rule is about to give can be read on a terminal of this size, or in its title where
// the user wants no line. What cannot be read gives nothing. The agent's own words for it may be cut.
func (s *Status) announcedLegibly(cols, rows int) bool {
	switch {
	case s.state.Phase != control.Asked || s.state.Ahead.Rule == "":
		return true
	case !s.conf.Line:
		return s.conf.Title
	}
	return notice.Fits(cols, askMost(cols, rows), s.announced(), s.conf.Reclaim+" refuses")
}

// announced is all of that but the agent's own words.
func (s *Status) announced() string {
	st := s.state
	who := " (token " + st.Agent.Token
	if st.From != "" {
		who += ", " + st.From
	}
	return s.asker("“"+st.Agent.Name+"”") + who + ")" + s.getsSoon() + ", by your rule at " + st.Ahead.Rule
}

// getsSoon says what an agent is about to get.
func (s *Status) getsSoon() string {
	st := s.state
	what := " drives"
	if st.Level == protocol.LevelType {
		what = " types"
	}
	if st.Ahead.Bound {
		what += " this program"
	}
	return what + " in " + lasts(control.AnnounceFor) + term(st.For)
}

// byRule remarks that a rule gave an agent control.
func (s *Status) byRule(e control.Event, until string) string {
	verb := " drives"
	if e.Level == protocol.LevelType {
		verb = " may type"
	}
	return e.Agent.Name + verb + until + " by your rule at " + e.Rule + ". " + s.conf.Reclaim + " takes the keyboard back at once"
}
