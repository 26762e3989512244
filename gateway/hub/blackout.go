package hub

import (
	"time"

	"terminalproxy/protocol"
)

// setBlackout records what the person starts or stops hiding, before the next snapshot reports it.
// Until then, agents may not see even an older screen that shows it.
func (s *session) setBlackout(m *protocol.Blackout) {
	switch {
	case m.On:
		s.setHidden(&protocol.Hidden{Why: m.Why, Secret: m.Secret})
	case s.blackout != nil && s.blackout.Why == m.Why:
		s.setHidden(nil)
	}
	if !s.blackout.ByUser() {
		return
	}
	s.rowStream.setNewest(nil)
	if s.newest == nil {
		return
	}
	blank := *s.newest
	blank.Content, blank.Foreground, blank.Directory = "", "", ""
	if old := blank.Screen; old != nil {
		blank.Screen = &protocol.Screen{
			Cols: old.Cols, Rows: old.Rows, Lines: make([]string, old.Rows),
		}
	}
	s.newest, s.synced = &blank, false
	s.info.Title, s.info.Progress, s.info.Foreground, s.info.Directory = "", nil, "", ""
}

func (s *session) setHidden(w *protocol.Hidden) {
	s.blackout, s.blackoutAt = w, time.Now()
	s.conversation.offerRecordsToAll() // the conversation waits while the user hides the screen
}
