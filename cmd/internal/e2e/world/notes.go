package world

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

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
