package observer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/child"
)

// A screen that never showed a character has not settled for two seconds. The program does not
// count as waiting because it polls its terminal; one that reads does.
func TestAProgramThatStarts(t *testing.T) {
	began := func() *stage {
		s := newStage(t, 20, 3)
		s.blocked = child.Blocked{Group: 7, Polls: true, Asleep: true}
		s.setStartTime(s.now)
		s.passes(300 * time.Millisecond)
		return s
	}
	state := func(s *stage) [3]any {
		f := s.AnswerFrame(s.now)
		return [3]any{f.Starting, f.Settled, f.Activity.State}
	}
	early, late := [3]any{true, false, "busy"}, [3]any{false, true, "waiting"}

	s := began()
	require.Equal(t, early, state(s))
	s.print("\x1b[?1049h\x1b[2J \x1b[5;5H") // nothing yet
	s.passes(time.Second)
	require.Equal(t, early, state(s))
	require.Equal(t, time.Unix(1002, 0), s.SettleTime())
	s.passes(time.Second)
	require.Equal(t, late, state(s), "that is what it shows")

	s = began()
	s.print("~")
	s.passes(100 * time.Millisecond)
	require.Equal(t, late, state(s))
	s.print("\x1b[2J")
	s.passes(100 * time.Millisecond)
	require.Equal(t, late, state(s), "it has shown something before")

	s = began()
	s.print("\r\n\r\n\r\nx\x1b[2J") // between two looks
	s.passes(100 * time.Millisecond)
	require.Equal(t, late, state(s), "something stands in the history")

	s = began()
	s.blocked = child.Blocked{Group: 7, Reads: true}
	require.Equal(t, [3]any{true, false, "waiting"}, state(s), "cat")
	require.Equal(t, protocol.MatchedWaiting, s.waitView().InputWait(s.now))
	s.NoteExit(s.now, child.Exit{})
	require.Equal(t, [3]any{false, true, "exited"}, state(s))

	s = newStage(t, 20, 3)
	s.passes(time.Second)
	require.True(t, s.AnswerFrame(s.now).Settled, "nobody knows when it began")
}
