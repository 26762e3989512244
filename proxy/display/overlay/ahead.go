package overlay

import (
	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/display/notice"
)

// announcement says which agent is about to get control, and by which of the user's rules. It adds
// the token: an agent chooses its own name, but not its token.
func (s *Status) announcement() string { return s.ownAnnouncement() + ": “" + s.state.Reason + "”" }

// isAnnouncementLegible reports whether the user can read all that the rule is about to give: on a
// terminal of this size, or in its title if the user wants no line. What cannot be read gives
// nothing. Only the agent's own words may be cut.
func (s *Status) isAnnouncementLegible(cols, rows int) bool {
	switch {
	case s.state.Phase != control.Asked || s.state.Ahead.Rule == "":
		return true
	case !s.conf.Line:
		return s.conf.Title
	}
	return notice.Fits(
		cols,
		maxQuestionRows(cols, rows),
		s.ownAnnouncement(),
		s.conf.Reclaim+" refuses",
	)
}

// ownAnnouncement is the announcement without the agent's own words.
func (s *Status) ownAnnouncement() string {
	st := s.state
	token := " (token " + st.Agent.Token
	if st.From != "" {
		token += ", " + st.From
	}
	asker := s.namedAsker("“" + st.Agent.Name + "”")
	return asker + token + ")" + s.upcomingGrant() + ", by your rule at " + st.Ahead.Rule
}

func (s *Status) upcomingGrant() string {
	st := s.state
	text := " drives"
	if st.Level == protocol.LevelType {
		text = " types"
	}
	if st.Ahead.Bound {
		text += " this program"
	}
	return text + " in " + formatDuration(control.AnnounceFor) + formatTerm(st.For)
}

func (s *Status) ruleRemark(e control.Event, until string) string {
	verb := " drives"
	if e.Level == protocol.LevelType {
		verb = " may type"
	}
	return e.Agent.Name + verb + until + " by your rule at " + e.Rule + ". " + s.conf.Reclaim +
		" takes the keyboard back at once"
}
