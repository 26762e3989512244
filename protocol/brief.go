package protocol

import (
	"reflect"
	"slices"
)

// Brief returns s for a peer that has last, if s only says that its screen has settled: without
// anything that the peer has. It returns nil if s says more. Only peers that accept it get it: see
// [SessionsSubscribe] and [Subscribed].
func (s *Snapshot) Brief(last *Snapshot) *Snapshot {
	if last == nil || s.Seq == 0 || s.Seq != last.Seq || !s.Settled || last.Settled ||
		!s.sameAs(last) {
		return nil
	}
	return &Snapshot{
		ID:        s.ID,
		SessionID: s.SessionID,
		Timestamp: s.Timestamp,
		Seq:       s.Seq,
		Since:     s.Seq,
		Settled:   true,
		IdleMs:    s.IdleMs,
	}
}

// isBrief reports whether s is one of those that [Snapshot.Brief] makes.
func (s *Snapshot) isBrief() bool { return s.Screen == nil && s.Since != 0 && s.Since == s.Seq }

// sameAs reports whether two complete snapshots say the same but for the time at which they were
// made.
func (s *Snapshot) sameAs(last *Snapshot) bool {
	if s.SessionID != last.SessionID || s.Screen == nil || last.Screen == nil ||
		len(s.Screen.Lines) != len(last.Screen.Lines) ||
		!slices.Equal(s.Screen.Lines, last.Screen.Lines) || s.Content != last.Content {
		return false
	}
	one, other := s.aroundRows(), last.aroundRows()
	return reflect.DeepEqual(&one, &other)
}

// aroundRows returns s without the time, the rows and the text. A blackout gets older.
func (s *Snapshot) aroundRows() Snapshot {
	out, screen := *s, *s.Screen
	screen.Lines = nil
	out.ID, out.Timestamp, out.Settled, out.IdleMs = "", 0, false, 0
	out.Content, out.shared, out.Screen = "", nil, &screen
	if s.Blackout != nil {
		hidden := *s.Blackout
		hidden.SinceMs = 0
		out.Blackout = &hidden
	}
	return out
}

// afterSettling returns last with what a brief snapshot adds.
func (s *Snapshot) afterSettling(last *Snapshot) (full *Snapshot, ok bool) {
	if last == nil || last.Screen == nil || last.Seq != s.Seq {
		return nil, false
	}
	out := *last
	out.ID, out.Timestamp, out.Settled, out.IdleMs = s.ID, s.Timestamp, true, s.IdleMs
	out.shared = nil
	return &out, true
}
