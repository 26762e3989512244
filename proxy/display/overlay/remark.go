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
// program's line, note its message as it gives the keyboard back, and did, which stays on the screen
// until the next key, sums up its inputs. Each may be empty.
func (s *Status) ShowControlChange(e control.Event, line, note, did string) {
	left := ""
	if line != "" {
		left = "; left on the line: " + strconv.Quote(line)
	}
	text, lasts, name := "", RemarkFor, e.Agent.Name
	switch {
	case e.Granted:
		text, left = s.grantRemark(e, s.granted.Swap(true)), ""
		if e.By != "" {
			lasts = NoteFor
		}
	case e.Request:
		text, left = s.requestRemark(e), ""
	case e.Reason == protocol.ReasonReclaimed && e.By != "":
		text = "the keyboard is yours: " + e.By + " stopped " + name
	case e.Reason == protocol.ReasonReclaimed:
		text = "the keyboard is yours: " + name + " is stopped"
	case e.Withdrawn:
		text = name + " no longer asks: the keyboard is yours"
	case e.Reason == protocol.ReasonReleased && note != "":
		text, lasts = name+" gives the keyboard back: “"+note+"”", NoteFor
	case e.Reason == protocol.ReasonReleased:
		text = name + " gives the keyboard back"
	case e.Reason == protocol.ReasonExpired:
		text = "time is up: " + name + " no longer has the keyboard"
	case e.Reason == protocol.ReasonLink && !e.Absent:
		text = name + " disconnected: the keyboard is yours"
	case e.Reason == protocol.ReasonLink:
		text = name + " was away for " + formatDuration(control.AbsentFor) + ": the keyboard is yours"
	}
	if did != "" {
		text, lasts = text+did, UntilKey
	}
	if text != "" {
		s.ShowRemark(text+left, lasts)
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

// askingRemark is the remark that another agent asks for the keyboard while one has it.
func (w *wording) askingRemark(state control.State) string {
	asked, does, driver := state.NewestAsking, "drive", state.Agent.Name
	if asked.Level == protocol.LevelType {
		does = "type"
	}
	return "“" + asked.Agent.Name + "” asks to " + does + ", and waits: " + w.conf.Reclaim +
		" stops " + driver + " and asks you. “" + asked.Reason + "”"
}

// requestRemark is the remark on the end of a request that was not granted, or "".
func (w *wording) requestRemark(e control.Event) string {
	name := e.Agent.Name
	switch e.Reason {
	case protocol.ReasonRefused:
		text := name + " is refused"
		if e.By != "" {
			text = e.By + " refused " + name
		}
		if e.Blocked {
			text += ", and may not ask again until you open the menu (" + w.conf.Reclaim + ")"
		}
		return text
	case protocol.ReasonExpired:
		return name + " no longer asks: no one answered"
	case protocol.ReasonReleased, protocol.ReasonLink:
		return name + " no longer asks"
	default:
		return ""
	}
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

// grantRemark says that an agent got the keyboard, who gave it and for how long. again means that
// the user has read once what their keys do.
func (w *wording) grantRemark(e control.Event, again bool) string {
	name, until := e.Agent.Name, formatTerm(0)
	if !e.Until.IsZero() {
		until = formatTerm(time.Until(e.Until))
	}
	verb, back := "drive", ". "+w.conf.Reclaim+" takes the keyboard back at once"
	if e.Level == protocol.LevelType {
		verb = "type"
	}
	pause, waits := "; your own keys pause it", "; Enter and similar keys wait for you"
	if again {
		back, pause, waits = " · "+w.conf.Reclaim, "", ""
	}
	switch {
	case e.By != "":
		return e.By + " lets " + name + " " + verb + until + back + pause
	case e.Level == protocol.LevelType:
		verb = " may type"
	default:
		verb = " drives"
	}
	switch {
	case e.Rule != "":
		return name + verb + until + " by your rule at " + e.Rule + back
	case e.Level == protocol.LevelType:
		return name + verb + until + waits + back
	}
	return name + verb + until + back + pause
}
