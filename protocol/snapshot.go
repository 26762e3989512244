package protocol

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
