package overlay

import (
	"fmt"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
)

const (
	// rivalFor is how long an agent that was told that another one has the keyboard counts as one that asks.
	rivalFor   = time.Minute
	rivalsMost = 9
	signName   = 24 // characters of an agent's name in the sign
	// keyRest is how long a sign that covers text stays away after a key of the user's.
	keyRest = time.Second
)

// sign is what the status knows about the lasting sign that an agent drives. It belongs to the status's lock.
type sign struct {
	tick   *time.Timer          // redraws when its minutes change
	tickAt time.Time            // when
	rivals map[string]time.Time // agents that were told to wait, and until when that counts
	over   bool                 // it covers text
	rest   time.Time            // until when it stays away therefore
	wake   *time.Timer          // redraws it then
}

// Rival notes that an agent asked for the keyboard that another one has.
func (s *Status) Rival(agentID string) {
	s.mu.Lock()
	if s.sign.rivals == nil {
		s.sign.rivals = make(map[string]time.Time)
	}
	if _, known := s.sign.rivals[agentID]; known || len(s.sign.rivals) < rivalsMost {
		s.sign.rivals[agentID] = time.Now().Add(rivalFor)
		time.AfterFunc(rivalFor, s.conf.Repaint)
	}
	s.mu.Unlock()
	s.conf.Repaint()
}

// signs are the words of the sign, from the longest to the shortest form; none where no agent drives or no line is wanted.
func (s *Status) signs(now time.Time) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state
	if st.Phase != control.Granted || !s.conf.Line || s.conf.Taste.NoSign {
		s.untick()
		return nil
	}
	name := notice.Clean(st.Agent.Name, signName)
	does, time := s.does(), s.left(now)
	asks := ""
	switch n := s.asking(now); {
	case n == 1:
		asks = " · +1 asks"
	case n > 1:
		asks = fmt.Sprintf(" · +%d ask", n)
	}
	return []string{
		" " + name + " " + does + time + asks + " · " + s.conf.Reclaim + " ",
		" " + name + " " + does + " · " + s.conf.Reclaim + " ",
		" " + name + " " + does + " ",
	}
}

// Elsewhere tells the user that a person types who does not sit here. It gives way to every other remark.
func (s *Status) Elsewhere(by string) {
	say := by + " types from a page; " + s.conf.Reclaim + " keeps pages out for " + lasts(control.AloneFor)
	s.mu.Lock()
	now := time.Now()
	other := s.told != "" && s.told != say && now.Before(s.until)
	fresh := s.told == say && now.Sub(s.said) < TellFor // it is not drawn anew with each key
	s.mu.Unlock()
	if !other && !fresh {
		s.Say(say, NoteFor)
	}
}

// does is what the agent does with the keyboard, in a word.
func (s *Status) does() string {
	switch st := s.state; {
	case st.Never != "":
		return "waits: never in " + notice.Clean(st.Away, signName)
	case st.Away != "":
		return "waits for " + notice.Clean(st.Program, signName)
	case st.Occupied:
		return "waits for your line"
	case st.Paused:
		return "paused"
	case st.Level == protocol.LevelType:
		return "types"
	}
	return "drives"
}

// left is how long the grant lasts, in begun minutes, "" for a grant without an end. It has the sign redrawn when that
// changes.
func (s *Status) left(now time.Time) string {
	rest := s.state.Until.Sub(now)
	if s.state.Until.IsZero() || rest <= 0 {
		s.untick()
		return ""
	}
	minutes := int((rest + time.Minute - 1) / time.Minute)
	if at := s.state.Until.Add(-time.Duration(minutes-1) * time.Minute); minutes > 1 && !at.Equal(s.sign.tickAt) {
		s.untick()
		s.sign.tick, s.sign.tickAt = time.AfterFunc(at.Sub(now), s.conf.Repaint), at
	}
	if h := minutes / 60; h > 0 {
		return fmt.Sprintf(" %d h %d min", h, minutes%60)
	}
	if minutes == 1 {
		return " <1 min" // and no timer that counts seconds
	}
	return fmt.Sprintf(" %d min", minutes)
}

func (s *Status) untick() {
	if s.sign.tick != nil {
		s.sign.tick.Stop()
		s.sign.tick, s.sign.tickAt = nil, time.Time{}
	}
}

// asking counts the agents that wait.
func (s *Status) asking(now time.Time) int {
	for id, until := range s.sign.rivals {
		if !now.Before(until) || id == s.state.Agent.ID {
			delete(s.sign.rivals, id)
		}
	}
	return len(s.sign.rivals)
}

// covers notes whether the sign covers text, and reports whether it may.
func (s *Status) covers(now time.Time, over bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sign.over = over
	return !over || !now.Before(s.sign.rest)
}

// unsign has a sign that covers text go: the user typed. It reports whether there is one. The lock is held.
func (s *Status) unsign(now time.Time) bool {
	if !s.sign.over || s.state.Phase != control.Granted {
		return false
	}
	gone := !now.Before(s.sign.rest)
	s.sign.rest = now.Add(keyRest)
	if s.sign.wake != nil {
		s.sign.wake.Stop()
	}
	s.sign.wake = time.AfterFunc(keyRest, s.conf.Repaint)
	return gone
}
