package world

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// OpenMenu opens the menu once the key is no longer swallowed, and waits until the menu can be
// answered. It presses the key again only when the menu is long overdue: a press while the menu is
// open but not yet drawn would close it, and a further press would go to the program.
func (s *Terminal) OpenMenu() (screen string) {
	s.W.T.Helper()
	const swallowed, overdue, readable = 1600 * time.Millisecond, 8 * time.Second, 900 * time.Millisecond
	pressed := time.Now().Add(swallowed - overdue)
	s.W.Until(func() bool {
		if screen = s.Screen(); strings.Contains(screen, "Ctrl+G lets") {
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

// OpenMenuWith presses the key until the menu shows these words. It returns ticks that leave the
// menu time to be drawn.
func (s *Terminal) OpenMenuWith(words string) <-chan time.Time {
	s.W.T.Helper()
	pause := time.NewTicker(900 * time.Millisecond)
	s.W.T.Cleanup(pause.Stop)
	for end := time.Now().Add(Patience); !strings.Contains(s.Screen(), words); {
		s.Press(`C-\`)
		require.True(s.W.T, time.Now().Before(end), "the menu does not open:\n%s", s.Screen())
		<-pause.C
	}
	return pause.C
}
