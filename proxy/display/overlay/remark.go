package overlay

import (
	"strconv"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

// awayFor is how long another program must be in the foreground before the user learns that the
// agent waits: a shell is in the background during each command that an agent types.
const awayFor = time.Second

// ShowControlChange remarks on a change of control. line is what the agent left on the program's
// line; note is the agent's own word as it gives the keyboard back. Both may be empty.
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
		s.ShowRemark("the keyboard is yours: "+e.By+" stopped "+e.Agent.Name+left, TellFor)
	case e.Reason == protocol.ReasonReclaimed:
		s.ShowRemark("the keyboard is yours: "+e.Agent.Name+" is stopped"+left, TellFor)
	case e.Withdrawn:
		s.ShowRemark(e.Agent.Name+" no longer asks: the keyboard is yours"+left, TellFor)
	case e.Reason == protocol.ReasonReleased && note != "":
		s.ShowRemark(e.Agent.Name+" gives the keyboard back: “"+note+"”"+left, NoteFor)
	case e.Reason == protocol.ReasonReleased:
		s.ShowRemark(e.Agent.Name+" gives the keyboard back"+left, TellFor)
	case e.Reason == protocol.ReasonExpired:
		s.ShowRemark("time is up: "+e.Agent.Name+" no longer has the keyboard"+left, TellFor)
	case e.Reason == protocol.ReasonLink && !e.Absent:
		s.ShowRemark(e.Agent.Name+" disconnected: the keyboard is yours"+left, TellFor)
	case e.Reason == protocol.ReasonLink:
		absent := formatDuration(control.AbsentFor)
		s.ShowRemark(e.Agent.Name+" was away for "+absent+": the keyboard is yours"+left, TellFor)
	}
}

// ShowWelcome remarks in a user's first sessions that agents can see the screen, unless another
// remark is shown.
func (s *Status) ShowWelcome() {
	s.mu.Lock()
	stands := s.told != "" && time.Now().Before(s.until)
	s.mu.Unlock()
	if stands {
		return
	}
	s.ShowRemark("shared: agents see this, and type only if you allow it. List: gateway top",
		welcomeFor)
}

// ShowDrivingAgent informs a newly attached person that an agent drives.
func (s *Status) ShowDrivingAgent(agent string) {
	s.ShowRemark(agent+" drives. "+s.conf.Reclaim+" takes the keyboard; your own keys pause it",
		TellFor)
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
	s.ShowRemark(text, TellFor)
	return true
}

// noteForegroundLocked notes that another program took the terminal from the grant's program, or
// gave it back.
func (s *Status) noteForegroundLocked(state control.State) {
	if (state.OtherProgram == "") == (s.state.OtherProgram == "") {
		return
	}
	if s.away != nil {
		s.away.Stop()
		s.away = nil
	}
	if state.OtherProgram == "" {
		return
	}
	s.away = time.AfterFunc(awayFor, func() {
		s.mu.Lock()
		st := s.state
		s.mu.Unlock()
		switch {
		case st.NeverRule != "":
			s.ShowRemark(st.Agent.Name+" waits: your rule at "+st.NeverRule+" keeps it out of "+st.OtherProgram,
				TellFor)
		case st.OtherProgram != "":
			s.ShowRemark(
				st.Agent.Name+" waits: it has the keyboard for "+st.Program+" only, and "+st.OtherProgram+
					" is in the foreground", TellFor,
			)
		}
	})
}

// remarkOnGrant remarks that an agent got the keyboard, from whom and for how long.
func (s *Status) remarkOnGrant(e control.Event) {
	until := formatTerm(0)
	if !e.Until.IsZero() {
		until = formatTerm(time.Until(e.Until))
	}
	switch {
	case e.Rule != "":
		s.ShowRemark(s.ruleRemark(e, until), TellFor)
	case e.By != "":
		verb := "drive"
		if e.Level == protocol.LevelType {
			verb = "type"
		}
		s.ShowRemark(e.By+" lets "+e.Agent.Name+" "+verb+until+". "+s.conf.Reclaim+
			" takes the keyboard back at once; your own keys pause it", NoteFor)
	case e.Level == protocol.LevelType:
		s.ShowRemark(e.Agent.Name+" may type"+until+"; Enter and similar keys wait for you. "+
			s.conf.Reclaim+" takes the keyboard back at once", TellFor)
	default:
		s.ShowRemark(e.Agent.Name+" drives"+until+". "+s.conf.Reclaim+
			" takes the keyboard back at once; your own keys pause it", TellFor)
	}
}
