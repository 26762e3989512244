package hub

import (
	"time"

	"terminalproxy/protocol"
)

// black notes that something is kept from agents from now on, or no longer. The snapshot that follows says the same; until
// it comes nobody is to see the screen that the user hides, not even as it was before.
func (s *session) black(m *protocol.Blackout) {
	switch {
	case m.On:
		s.hide(&protocol.Hidden{Why: m.Why, Secret: m.Secret})
	case s.blackout != nil && s.blackout.Why == m.Why:
		s.hide(nil)
	}
	if !s.blackout.ByUser() {
		return
	}
	s.gallery.show(nil)
	if s.newest == nil {
		return
	}
	blank := *s.newest
	blank.Content, blank.Foreground, blank.Directory = "", "", ""
	if old := blank.Screen; old != nil {
		blank.Screen = &protocol.Screen{Cols: old.Cols, Rows: old.Rows, Lines: make([]string, old.Rows)}
	}
	s.newest, s.synced = &blank, false
	s.info.Title, s.info.Progress, s.info.Foreground, s.info.Directory = "", nil, "", ""
}

func (s *session) hide(w *protocol.Hidden) {
	s.blackout, s.since = w, time.Now()
	s.offerTalk() // which waits while the user hides the screen
}

// hidden is what is kept from agents as of now.
func (s *session) hidden() *protocol.Hidden {
	if s.blackout == nil {
		return nil
	}
	w := *s.blackout
	w.SinceMs += time.Since(s.since).Milliseconds()
	return &w
}
