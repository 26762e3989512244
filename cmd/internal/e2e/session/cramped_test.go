package session_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// In a small window the question still names the agent and the level; otherwise Ctrl+G does nothing
// until the window is larger.
func TestTheGrantKeyNeedsAReadableQuestion(t *testing.T) {
	t.Parallel()
	const guard = 2 * time.Second // once a question has stood this long, the key answers it
	for _, c := range []struct {
		cols, rows int
		says       string // shown where it can be answered
	}{
		{80, 1, `codex: DRIVE for 10 min? ^G/^\`},
		{60, 2, `codex: DRIVE for 10 min? ^G/^\`},
		{24, 4, "codex: DRIVE for 10 min?"},
		{20, 3, `codex: DRIVE`},
		{19, 1, `codex: DRIVE? ^G/^\`},
		{12, 1, ""},
		{4, 2, ""},
		{4, 1, ""},
	} {
		t.Run(fmt.Sprintf("%dx%d", c.cols, c.rows), func(t *testing.T) {
			w, s, id := world.StartListener(t, 80, 24, "--agent")
			s.Resize(c.cols, c.rows)
			asking := w.Start("gateway", "request", id, "--as", "codex", "--reason", "to test a long sentence that does not fit")
			w.Until(func() bool { return strings.Contains(w.MustGateway("ls"), "asks") }, func() string { return w.MustGateway("ls") })
			s.See("a line", func(screen string) bool {
				if c.says != "" {
					return strings.Contains(screen, c.says)
				}
				return strings.Contains(screen, "small") || strings.Contains(screen, `^\`)
			})
			<-time.After(guard)
			s.Press("C-g")
			if c.says == "" {
				<-time.After(guard)
				w.WaitKeyboard(id, "user")
				require.Empty(t, w.Content("heard"), "the key is swallowed")
				s.Resize(80, 24)
				s.Wait("“codex” asks to drive for 10 min")
				s.Answer("C-g")
			}
			require.Contains(t, asking.Wait().Out, "granted (drive")
			s.Resize(80, 24)
			s.QuitProgram("\x04")
		})
	}
}
