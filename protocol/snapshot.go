package protocol

import (
	"reflect"
	"slices"
)

// ContentRunes is how many characters of the rolling text a snapshot has, the newest ones.
const ContentRunes = 4000

// Snapshot is the newest screen and text of a session.
type Snapshot struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	// Content is the rolling text without escape sequences, the newest 4,000 characters.
	Content   string  `json:"content"`
	Timestamp int64   `json:"timestamp"`
	Seq       uint64  `json:"seq,omitempty"`
	Screen    *Screen `json:"screen,omitempty"`
	Settled   bool    `json:"settled,omitempty"`
	// Changed holds the rows that differ from the snapshot with revision Since, in place of
	// Screen.Lines. Those moved up by Moved before, down if it is negative; only who subscribed
	// with Moves gets it.
	Changed  []Row     `json:"changed,omitempty"`
	Since    uint64    `json:"since,omitempty"`
	Moved    int       `json:"moved,omitempty"`
	IdleMs   int64     `json:"idleMs,omitempty"`
	Activity *Activity `json:"activity,omitempty"`
	Keyboard *Keyboard `json:"keyboard,omitempty"`
	// Blackout says what the snapshot does not show.
	Blackout *Hidden `json:"blackout,omitempty"`
	// Redactions and HiddenText are those of a [Frame].
	Redactions int   `json:"redactions,omitempty"`
	HiddenText []int `json:"hiddenText,omitempty"`
	// Foreground, Directory and UsedAt are those of a [SessionInfo]. They are left out while the
	// user hides the screen.
	Foreground string `json:"foreground,omitempty"`
	Directory  string `json:"directory,omitempty"`
	UsedAt     int64  `json:"usedAt,omitempty"`
	// Kept and DetachedAt are those of a [SessionInfo].
	Kept       bool  `json:"kept,omitempty"`
	DetachedAt int64 `json:"detachedAt,omitempty"`
	// Muted is that of a [SessionInfo].
	Muted []string `json:"muted,omitempty"`

	shared *sharing // nil for a message to one
}

func (s *Snapshot) check() error {
	c := new(checks)
	c.id("id", s.ID).id("sessionId", s.SessionID).text("content", s.Content, 4*ContentRunes).
		checkScreen(s.Screen).checkBlackout("blackout", s.Blackout)
	if s.Screen != nil {
		c.checkChanged("changed", s.Changed, s.Screen.Rows).
			checkHidden("hiddenText", s.HiddenText, s.Screen.Rows)
	}
	return c.done()
}

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
