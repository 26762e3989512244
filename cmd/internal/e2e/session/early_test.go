package session_test

import (
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// A paste that arrives before the program has enabled bracketed paste waits for that. Otherwise an
// editor would take the text for commands, and a shell would run it.
func TestAnEarlyPasteWaitsForBracketedPaste(t *testing.T) {
	t.Parallel()
	const pasted = "first line\nsecond line\nthird"
	for name, c := range map[string]struct{ program, shown string }{
		"slow": {`sh slow`, `^[[200~first line^Msecond line^Mthird^[[201~`},
		"vim":  {"vim -u NONE -n notes.txt", ""},
		"nvim": {"nvim -u NONE -n notes.txt", ""},
		"bash": {"bash --norc --noprofile", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t, strings.Fields(c.program)[0])
			w.Write("slow", `sleep 0.4; stty raw -echo; printf '\033[?2004h'; exec cat -v`)
			w.Write("pasted", pasted)
			r := w.Prepare("gateway", append([]string{"run", "--"}, strings.Fields(c.program)...)...)
			r.Run()
			id := w.Session()
			t.Cleanup(func() { w.Gateway("close", id, "--force"); r.Wait() })
			w.MustGateway("send", id, "--paste", w.Path("pasted"))
			if c.shown == "" {
				c.shown = pasted
			}
			w.Until(func() bool {
				got := w.MustGateway("read", id)
				for line := range strings.SplitSeq(c.shown, "\n") {
					if !strings.Contains(got, line) {
						return false
					}
				}
				return true
			}, func() string { return w.MustGateway("read", id) })
			require.NotContains(t, w.MustGateway("read", id), "not found", "bash runs nothing")
		})
	}
}
