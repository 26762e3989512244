package overlay

import (
	"fmt"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/display/notice"
)

const (
	maxSignName = 24 // characters of an agent's name in the sign
	// hideFor is how long a sign that covers text stays away after the user pressed a key.
	hideFor = time.Second
)

// sign is the state of the sign, which shows as long as an agent drives. Guarded by Status.mu.
type sign struct {
	tick        *time.Timer // redraws when its minutes change
	tickAt      time.Time   // when tick fires
	coversText  bool        // it covers text
	hiddenUntil time.Time   // until when it stays away because it covers text
	wake        *time.Timer // redraws it at rest
}

// signForms returns the texts of the sign, from the longest to the shortest. It returns nil if no
// agent drives, or the user wants no line.
func (s *Status) signForms(now time.Time) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state
	if st.Phase != control.Granted || !s.conf.Line || s.conf.Taste.NoSign {
		s.stopTick()
		return nil
	}
	name := notice.Clean(st.Agent.Name, maxSignName)
	does, time := s.activity(), s.remainingTime(now, st.Until)
	asks := ""
	if st.Asking > 0 {
		asks = " · " + notice.Clean(st.NewestAsking.Agent.Name, maxSignName) + " asks"
	}
	return []string{
		s.conf.encode(" " + name + " " + does + time + asks + " · " + s.conf.Reclaim + " "),
		s.conf.encode(" " + name + " " + does + " · " + s.conf.Reclaim + " "),
		" " + name + " " + does + " ",
	}
}

// ShowRemoteTyping remarks that a person types from a page. It does not replace another remark.
func (s *Status) ShowRemoteTyping(by string) {
	text := by + " types from a page; " + s.conf.Reclaim + " keeps pages out for " +
		formatDuration(control.RemoteBlockFor)
	s.mu.Lock()
	now := time.Now()
	other := s.remark != "" && s.remark != text && now.Before(s.remarkEnd) &&
		s.remarkEnd.Sub(now) <= TroubleFor // not one that waits for a key
	fresh := s.remark == text && now.Sub(s.remarkedAt) < RemarkFor // do not redraw for each key
	s.mu.Unlock()
	if !other && !fresh {
		s.ShowRemark(text, NoteFor)
	}
}

// activity describes in one word what the agent does with the keyboard.
func (w *wording) activity() string {
	switch st := w.state; {
	case st.NeverRule != "":
		return "waits: never in " + notice.Clean(st.OtherProgram, maxSignName)
	case st.OtherProgram != "":
		return "waits for " + notice.Clean(st.Program, maxSignName)
	case st.Occupied:
		return "waits for your line"
	case st.Paused:
		return "paused"
	case st.Level == protocol.LevelType:
		return "types"
	}
	return "drives"
}

// remainingTime returns the time until an end, rounded up to minutes, or "" without an end. It
// schedules a redraw for when that changes.
func (s *Status) remainingTime(now, until time.Time) string {
	rest := until.Sub(now)
	if until.IsZero() || rest <= 0 {
		s.stopTick()
		return ""
	}
	minutes := int((rest + time.Minute - 1) / time.Minute)
	at := until.Add(-time.Duration(minutes-1) * time.Minute)
	if minutes > 1 && !at.Equal(s.sign.tickAt) {
		s.stopTick()
		s.sign.tick, s.sign.tickAt = time.AfterFunc(at.Sub(now), s.conf.Repaint), at
	}
	if h := minutes / 60; h > 0 {
		return fmt.Sprintf(" %d h %d min", h, minutes%60)
	}
	if minutes == 1 {
		return " <1 min" // without a timer for the seconds
	}
	return fmt.Sprintf(" %d min", minutes)
}

func (s *Status) stopTick() {
	if s.sign.tick != nil {
		s.sign.tick.Stop()
		s.sign.tick, s.sign.tickAt = nil, time.Time{}
	}
}

// maySignCover notes whether the sign covers text, and reports whether it may be drawn.
func (s *Status) maySignCover(now time.Time, over bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sign.coversText = over
	return !over || !now.Before(s.sign.hiddenUntil)
}

// hideSignLocked removes a sign that covers text, since the user typed. It reports whether one was
// drawn.
func (s *Status) hideSignLocked(now time.Time) bool {
	if !s.sign.coversText || s.state.Phase != control.Granted {
		return false
	}
	gone := !now.Before(s.sign.hiddenUntil)
	s.sign.hiddenUntil = now.Add(hideFor)
	if s.sign.wake != nil {
		s.sign.wake.Stop()
	}
	s.sign.wake = time.AfterFunc(hideFor, s.conf.Repaint)
	return gone
}

// A sign is drawn at most maxSigns times at once, and then once in every signEvery.
const (
	maxSigns  = 4
	signEvery = 250 * time.Millisecond
)

// bucket limits the rate at which signs are drawn.
type bucket struct {
	left int
	at   time.Time // when one was added last
}

// spend reports whether a sign may be drawn now. If not, at is when it may.
func (b *bucket) spend(now time.Time) (at time.Time, ok bool) {
	if n := int(now.Sub(b.at) / signEvery); b.at.IsZero() || n >= maxSigns {
		b.left, b.at = maxSigns, now
	} else if n > 0 {
		b.left, b.at = min(maxSigns, b.left+n), b.at.Add(time.Duration(n)*signEvery)
	}
	if b.left == 0 {
		return b.at.Add(signEvery), false
	}
	b.left--
	return now, true
}
