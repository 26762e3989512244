package world

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// HeldKeys are words of the line about an input that waits for the user.
const HeldKeys = "Ctrl+G sends it"

const (
	// The proxy takes no grant key before its line could be read, and swallows the reclaim key for
	// some time after control ended. No screen shows these times.
	readable, swallowed = 400 * time.Millisecond, 1600 * time.Millisecond
	// overdue: a key without an effect is pressed again. One too many would be the program's.
	overdue = 10 * time.Second
)

// ReleaseHeld answers the line about an input that waits for the user.
func (s *Terminal) ReleaseHeld(key string) {
	s.W.T.Helper()
	s.Wait(HeldKeys)
	s.PressWhile(key, HeldKeys)
}

// Answer waits for a question and answers it by a key.
func (s *Terminal) Answer(key string) {
	s.W.T.Helper()
	s.WaitQuestion()
	s.PressWhile(key, "Ctrl+G allows")
}

// PressWhile presses a key that answers a line over the program or in the title, and waits until the
// line is gone.
func (s *Terminal) PressWhile(key, line string) {
	s.W.T.Helper()
	pause := readable
	if key == `C-\` {
		pause = swallowed
	}
	s.AnswerBy(pause, line, func() { s.Press(key) })
}

// AnswerBy answers a line by press, once it has stood for a pause, and waits until the line is gone.
// If the proxy says that the key did not count, it presses once more.
func (s *Terminal) AnswerBy(pause time.Duration, line string, press func()) {
	s.W.T.Helper()
	screen, ignored := "", false
	const again = "press again"
	isGone := func() bool { screen = s.Screen() + s.Title(); return !strings.Contains(screen, line) }
	for end := time.Now().Add(Patience); !isGone(); pause = swallowed { // the line replaced another one
		require.True(s.W.T, time.Now().Before(end), "the line stays:\n%s", screen)
		<-time.After(pause)
		press()
		pressed := time.Now()
		s.W.Until(func() bool {
			require.NoError(s.W.T, s.Film.Load())
			if isGone() || time.Since(pressed) > overdue {
				return true
			}
			shown := s.Film.Find(func(screen string) bool { return strings.Contains(screen, again) })
			if !ignored && (shown || strings.Contains(screen, again)) {
				ignored = true
				return true
			}
			return false
		}, func() string { return screen })
	}
}

// OpenMenu opens the menu once the key is no longer swallowed, and waits until the menu with these
// words can be answered.
func (s *Terminal) OpenMenu(words string) (screen string) {
	s.W.T.Helper()
	pressed := time.Now().Add(swallowed - overdue)
	s.W.Until(func() bool {
		if screen = s.Screen(); strings.Contains(screen, words) {
			return true
		}
		if time.Since(pressed) > overdue {
			s.Press(`C-\`)
			pressed = time.Now()
		}
		return false
	}, func() string { return "no menu:\n" + screen })
	<-time.After(readable)
	return screen
}
