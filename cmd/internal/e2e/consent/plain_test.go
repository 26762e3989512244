package consent_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/e2e/world"
)

// A terminal that takes no sequences is asked in plain lines, and its keys answer.
func TestAPlainTerminalIsAskedInPlainLines(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]string{
		"dumb": "TERM=dumb", "unset": "-u TERM",
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			s := w.Terminal(100, 24)
			s.RunAnew("env -u TMUX " + env + " proxy --agent listener heard")
			s.Match(`listening proxy=(\d+) `)
			id := w.Session()
			before := len(w.Content(s.Recording()))
			asking := w.Start("gateway", "request", id, "--as", "codex", "--reason", "to test")
			s.Wait(`“codex” asks to drive for 10 min: “to test”`)
			granted := `codex drives for 10 min. Ctrl+\ takes the keyboard back at once`
			pause := time.NewTicker(400 * time.Millisecond) // a key counts once the question can have been read
			defer pause.Stop()
			for end := time.Now().Add(world.Patience); !strings.Contains(s.Screen(), granted); <-pause.C {
				s.Press("C-g")
				require.True(t, time.Now().Before(end), "%s", s.Screen())
			}
			require.Zero(t, asking.Wait().Status)
			s.Press(`C-\`)
			s.WaitShown("the keyboard is yours: codex is stopped")
			s.Press("C-d")
			require.Zero(t, s.Status())
			shown := w.Content(s.Recording())[before:]
			ours, _, found := strings.Cut(shown, "codex is stopped")
			require.True(t, found)
			require.NotContains(t, ours, "\x1b", "%q", ours)
			require.Contains(t, ours, "\r\n“codex” asks to drive for 10 min: “to test”", "%q", ours)
		})
	}
}
