package overlay

import (
	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/display/notice"
)

// announcement names the agent that is about to get control, its token, and the user's rule. An
// agent chooses its own name, but not its token.
func (w *wording) announcement() string {
	return w.ownAnnouncement() + ": “" + w.state.Reason + "”"
}

// isAnnouncementLegible reports whether the user can read all of the announcement: on a terminal of
// this size, or in its title if the user wants no line. If it is not legible, the rule gives no
// control. Only the agent's own words may be cut.
func (w *wording) isAnnouncementLegible(cols, rows int) bool {
	switch {
	case w.state.Phase != control.Asked || w.state.RuleGrant.Rule == "":
		return true
	case !w.conf.Line:
		return w.conf.Title
	}
	return notice.Fits(cols, maxQuestionRows(cols, rows), w.ownAnnouncement(),
		w.conf.Reclaim+" refuses")
}

// ownAnnouncement is the announcement without the agent's own words.
func (w *wording) ownAnnouncement() string {
	st := w.state
	token := " (token " + st.Agent.Token
	if st.AskingProgram != "" {
		token += ", " + st.AskingProgram
	}
	asker := w.namedAsker("“" + st.Agent.Name + "”")
	return asker + token + ")" + w.upcomingGrant() + ", by your rule at " + st.RuleGrant.Rule
}

func (w *wording) upcomingGrant() string {
	st := w.state
	text := " drives"
	if st.Level == protocol.LevelType {
		text = " types"
	}
	if st.RuleGrant.OneProgram {
		text += " this program"
	}
	return text + " in " + formatDuration(control.AnnounceFor) + formatTerm(st.For)
}

func (w *wording) ruleRemark(e control.Event, until string) string {
	verb := " drives"
	if e.Level == protocol.LevelType {
		verb = " may type"
	}
	return e.Agent.Name + verb + until + " by your rule at " + e.Rule + ". " + w.conf.Reclaim +
		" takes the keyboard back at once"
}
