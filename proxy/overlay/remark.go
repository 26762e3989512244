package overlay

import (
	"strconv"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
)

// awayFor is how long another program has to be in front before the user is told that the agent waits: a shell that an
// agent types commands into is away with each of them.
const awayFor = time.Second

// Controlled remarks on a change of control. line quotes what the agent left on the program's line, "" for nothing; note is the
// agent's own word as it gives the keyboard back.
func (s *Status) Controlled(e control.Event, line, note string) {
	left := ""
	if line != "" {
		left = "; left on the line: " + strconv.Quote(line)
	}
	if e.Request && s.withdrawn(e) {
		return
	}
	until := term(0)
	if !e.Until.IsZero() {
		until = term(time.Until(e.Until))
	}
	switch {
	case e.Granted && e.Rule != "":
		s.Say(s.byRule(e, until), TellFor)
	case e.Granted && e.By != "":
		verb := "drive"
		if e.Level == protocol.LevelType {
			verb = "type"
		}
		s.Say(e.By+" lets "+e.Agent.Name+" "+verb+until+". "+s.conf.Reclaim+" takes the keyboard back at once; your own keys pause it", NoteFor)
	case e.Granted && e.Level == protocol.LevelType:
		s.Say(e.Agent.Name+" may type"+until+"; Enter and similar keys wait for you. "+s.conf.Reclaim+" takes the keyboard back at once", TellFor)
	case e.Granted:
		s.Say(e.Agent.Name+" drives"+until+". "+s.conf.Reclaim+" takes the keyboard back at once; your own keys pause it", TellFor)
	case e.Reason == protocol.ReasonReclaimed && e.By != "":
		s.Say("the keyboard is yours: "+e.By+" stopped "+e.Agent.Name+left, TellFor)
	case e.Reason == protocol.ReasonReclaimed:
		s.Say("the keyboard is yours: "+e.Agent.Name+" is stopped"+left, TellFor)
	case e.Withdrawn:
		s.Say(e.Agent.Name+" no longer asks: the keyboard is yours"+left, TellFor)
	case e.Reason == protocol.ReasonReleased && note != "":
		s.Say(e.Agent.Name+" gives the keyboard back: “"+note+"”"+left, NoteFor)
	case e.Reason == protocol.ReasonReleased:
		s.Say(e.Agent.Name+" gives the keyboard back"+left, TellFor)
	case e.Reason == protocol.ReasonExpired:
		s.Say("time is up: "+e.Agent.Name+" no longer has the keyboard"+left, TellFor)
	case e.Reason == protocol.ReasonLink && !e.Absent:
		s.Say(e.Agent.Name+" disconnected: the keyboard is yours"+left, TellFor)
	case e.Reason == protocol.ReasonLink:
		s.Say(e.Agent.Name+" was away for "+lasts(control.AbsentFor)+": the keyboard is yours"+left, TellFor)
	}
}

// Attached tells a person who has just attached that an agent drives.
func (s *Status) Attached(agent string) {
	s.Say(agent+" drives. "+s.conf.Reclaim+" takes the keyboard; your own keys pause it", TellFor)
}

// withdrawn remarks on the end of a request that was not granted; it reports whether there was something to say.
func (s *Status) withdrawn(e control.Event) bool {
	say := e.Agent.Name + " no longer asks"
	switch e.Reason {
	case protocol.ReasonRefused:
		if say = e.Agent.Name + " is refused"; e.By != "" {
			say = e.By + " refused " + e.Agent.Name
		}
		if e.Shut {
			say += ", and may not ask again until you open the menu (" + s.conf.Reclaim + ")"
		}
	case protocol.ReasonExpired:
		say += ": nobody answered"
	case protocol.ReasonReleased, protocol.ReasonLink:
	default:
		return false
	}
	s.Say(say, TellFor)
	return true
}

// fronted notes that another program took the terminal from the one that a grant is for, or gave it back. The lock is held.
func (s *Status) fronted(state control.State) {
	if (state.Away == "") == (s.state.Away == "") {
		return
	}
	if s.away != nil {
		s.away.Stop()
		s.away = nil
	}
	if state.Away == "" {
		return
	}
	s.away = time.AfterFunc(awayFor, func() {
		s.mu.Lock()
		st := s.state
		s.mu.Unlock()
		switch {
		case st.Never != "":
			s.Say(st.Agent.Name+" waits: your rule at "+st.Never+" keeps it out of "+st.Away, TellFor)
		case st.Away != "":
			s.Say(st.Agent.Name+" waits: it has the keyboard for "+st.Program+" only, and "+st.Away+" is in the foreground", TellFor)
		}
	})
}
