package world

import (
	"fmt"
)

// OpenPage runs gateway open with more flags at a terminal, and returns its process id and the
// link.
func (s *Terminal) OpenPage(flags string) (pid, link string) {
	s.W.T.Helper()
	mark := fmt.Sprintf("open%d=", s.Marks) // an earlier run's output may still stand there
	s.Run("sh -c 'echo " + mark + "$$; exec gateway open " + flags + "'")
	pid = s.Match(mark + `(\d+)\s`)
	return pid, s.Match(mark + `\d+\s(?s:.*)(https?://127\.0\.0\.1:\d+/#c=[a-z2-7]{16})\s`)
}
