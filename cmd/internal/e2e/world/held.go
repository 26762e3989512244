package world

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

const HeldKeys = "Ctrl+G sends it"

// ReleaseHeld presses a key until nothing is held back.
func (s *Terminal) ReleaseHeld(key string) {
	s.W.T.Helper()
	s.Wait(HeldKeys)
	s.PressWhile(key, HeldKeys)
}

// PressWhile presses a key as long as a line stands: a key too soon after the line counts as an
// accident.
func (s *Terminal) PressWhile(key, line string) {
	s.W.T.Helper()
	pause := time.NewTicker(400 * time.Millisecond)
	defer pause.Stop()
	for end := time.Now().Add(Patience); strings.Contains(s.Screen(), line); {
		<-pause.C
		if strings.Contains(s.Screen(), line) {
			s.Press(key)
		}
		require.True(s.W.T, time.Now().Before(end), "the line stays:\n%s", s.Screen())
	}
}
