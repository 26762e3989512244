//go:build linux

package child

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// scripted is the kernel's report on a program, as a test sets it.
type scripted struct {
	unread int
	now    Blocked
	known  bool
}

func (s *scripted) CountUnread() int           { return s.unread }
func (s *scripted) BlockedOn() (Blocked, bool) { return s.now, s.known }

// TestComebackR79 checks when a program counts as back for more input.
func TestComebackR79(t *testing.T) {
	reads := Blocked{Group: 7, Reads: true, Asleep: true, Threads: 1}
	polls := Blocked{Group: 7, Polls: true, Asleep: true, Threads: 1}
	many := Blocked{Group: 7, Polls: true, Asleep: true, Threads: 5}
	busy := Blocked{Group: 7, Threads: 1}
	asleep := Blocked{Group: 7, Asleep: true, Threads: 1}
	unclear := Blocked{Group: 7, Asleep: true, Unclear: true, Threads: 1}
	relay := Blocked{Group: 7, Asleep: true, Relay: "ssh", Threads: 1}
	for _, c := range []struct {
		name string
		now  Blocked
		runs bool          // one of its processes runs between any two looks
		want time.Duration // negative for never
	}{
		{"reads", reads, false, 0},
		{"polls", polls, true, 0},
		{"polls, with threads that rest", many, false, quietWaiting},
		{"polls, and works", many, true, restlessWaiting},
		{"behind ssh", relay, false, quietWaiting},
		{"works", busy, true, -1},
		{"sleeps over something else", asleep, false, -1},
		{"cannot be seen", unclear, false, quietUnseen},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &scripted{unread: 3, now: c.now, known: true}
			b := &Comeback{child: s}
			now := time.Unix(0, 0)
			require.False(t, b.IsBack(now), "it has not read what it was given")
			s.unread = 0
			began := now
			for !b.IsBack(now) {
				if c.runs {
					s.now.Ran++
				}
				if now = now.Add(10 * time.Millisecond); now.Sub(began) > 10*time.Second {
					require.Negative(t, c.want, "it never came back")
					return
				}
			}
			require.Equal(t, c.want, now.Sub(began))
		})
	}
}

// What was seen before the input says nothing of afterwards.
func TestComebackBeginsR79(t *testing.T) {
	s := &scripted{now: Blocked{Group: 7, Polls: true, Asleep: true, Threads: 2}, known: true}
	b := &Comeback{child: s}
	now := time.Unix(0, 0)
	require.False(t, b.IsBack(now))
	b.Reset()
	require.False(t, b.IsBack(now.Add(time.Hour)))
	s.now.Group = 8
	require.False(t, b.IsBack(now.Add(time.Hour+quietWaiting)), "that is another program")
	require.True(t, b.IsBack(now.Add(time.Hour+2*quietWaiting)))
}
