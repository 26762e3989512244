package overlay

import (
	"strconv"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

// awayFor is how long another program must be in the foreground before a remark says that the agent
// waits: during each command that an agent types, its shell is in the background.
const awayFor = time.Second

// ShowControlChange remarks on a change of control. line is the text that the agent left on the
// program's line; note is the agent's message as it gives the keyboard back. Both may be empty.
func (s *Status) ShowControlChange(e control.Event, line, note string) {
	left := ""
	if line != "" {
		left = "; left on the line: " + strconv.Quote(line)
	}
	if e.Request && s.remarkOnRequestEnd(e) {
		return
	}
	if e.Granted {
		s.remarkOnGrant(e)
		return
	}
	switch {
	case e.Reason == protocol.ReasonReclaimed && e.By != "":
		s.ShowRemark("the keyboard is yours: "+e.By+" stopped "+e.Agent.Name+left, RemarkFor)
	case e.Reason == protocol.ReasonReclaimed:
		s.ShowRemark("the keyboard is yours: "+e.Agent.Name+" is stopped"+left, RemarkFor)
	case e.Withdrawn:
		s.ShowRemark(e.Agent.Name+" no longer asks: the keyboard is yours"+left, RemarkFor)
	case e.Reason == protocol.ReasonReleased && note != "":
		s.ShowRemark(e.Agent.Name+" gives the keyboard back: “"+note+"”"+left, NoteFor)
	case e.Reason == protocol.ReasonReleased:
		s.ShowRemark(e.Agent.Name+" gives the keyboard back"+left, RemarkFor)
	case e.Reason == protocol.ReasonExpired:
		s.ShowRemark("time is up: "+e.Agent.Name+" no longer has the keyboard"+left, RemarkFor)
	case e.Reason == protocol.ReasonLink && !e.Absent:
		s.ShowRemark(e.Agent.Name+" disconnected: the keyboard is yours"+left, RemarkFor)
	case e.Reason == protocol.ReasonLink:
		absent := formatDuration(control.AbsentFor)
		s.ShowRemark(e.Agent.Name+" was away for "+absent+": the keyboard is yours"+left, RemarkFor)
	}
}

// ShowWelcome remarks in a user's first sessions that agents can see the screen, unless another
// remark is shown.
func (s *Status) ShowWelcome() {
	s.mu.Lock()
	isShown := s.remark != "" && time.Now().Before(s.remarkEnd)
	s.mu.Unlock()
	if isShown {
		return
	}
	s.ShowRemark("shared: agents see this, and type only if you allow it. List: gateway top",
		welcomeFor)
}

// ShowDrivingAgent informs a newly attached person that an agent drives.
func (s *Status) ShowDrivingAgent(agent string) {
	s.ShowRemark(agent+" drives. "+s.conf.Reclaim+" takes the keyboard; your own keys pause it",
		RemarkFor)
}

// remarkOnRequestEnd remarks on the end of a request that was not granted. It reports whether it
// made a remark.
func (s *Status) remarkOnRequestEnd(e control.Event) bool {
	text := e.Agent.Name + " no longer asks"
	switch e.Reason {
	case protocol.ReasonRefused:
		if text = e.Agent.Name + " is refused"; e.By != "" {
			text = e.By + " refused " + e.Agent.Name
		}
		if e.Blocked {
			text += ", and may not ask again until you open the menu (" + s.conf.Reclaim + ")"
		}
	case protocol.ReasonExpired:
		text += ": no one answered"
	case protocol.ReasonReleased, protocol.ReasonLink:
	default:
		return false
	}
	s.ShowRemark(text, RemarkFor)
	return true
}

// noteForegroundLocked notes whether a program other than the grant's has the terminal.
func (s *Status) noteForegroundLocked(state control.State) {
	if (state.OtherProgram == "") == (s.state.OtherProgram == "") {
		return
	}
	if s.awayTimer != nil {
		s.awayTimer.Stop()
		s.awayTimer = nil
	}
	if state.OtherProgram == "" {
		return
	}
	s.awayTimer = time.AfterFunc(awayFor, func() {
		s.mu.Lock()
		st := s.state
		s.mu.Unlock()
		switch {
		case st.NeverRule != "":
			s.ShowRemark(st.Agent.Name+" waits: your rule at "+st.NeverRule+" keeps it out of "+st.OtherProgram,
				RemarkFor)
		case st.OtherProgram != "":
			s.ShowRemark(
				st.Agent.Name+" waits: it has the keyboard for "+st.Program+" only, and "+st.OtherProgram+
					" is in the foreground", RemarkFor,
			)
		}
	})
}

// remarkOnGrant remarks that an agent got the keyboard, who gave it and for how long.
func (s *Status) remarkOnGrant(e control.Event) {
	until := formatTerm(0)
	if !e.Until.IsZero() {
		until = formatTerm(time.Until(e.Until))
	}
	switch {
	case e.Rule != "":
		s.ShowRemark(s.ruleRemark(e, until), RemarkFor)
	case e.By != "":
		verb := "drive"
		if e.Level == protocol.LevelType {
			verb = "type"
		}
		s.ShowRemark(e.By+" lets "+e.Agent.Name+" "+verb+until+". "+s.conf.Reclaim+
			" takes the keyboard back at once; your own keys pause it", NoteFor)
	case e.Level == protocol.LevelType:
		s.ShowRemark(e.Agent.Name+" may type"+until+"; Enter and similar keys wait for you. "+
			s.conf.Reclaim+" takes the keyboard back at once", RemarkFor)
	default:
		s.ShowRemark(e.Agent.Name+" drives"+until+". "+s.conf.Reclaim+
			" takes the keyboard back at once; your own keys pause it", RemarkFor)
	}
}
