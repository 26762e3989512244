package e2e_test

import (
	"strings"
	"testing"

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
			w := newWorld(t, strings.Fields(c.program)[0])
			w.write("slow", `sleep 0.4; stty raw -echo; printf '\033[?2004h'; exec cat -v`)
			w.write("pasted", pasted)
			r := w.prepare("gateway", append([]string{"run", "--"}, strings.Fields(c.program)...)...)
			r.run()
			id := w.session()
			t.Cleanup(func() { w.gateway("close", id, "--force"); r.wait() })
			w.mustGateway("send", id, "--paste", w.path("pasted"))
			if c.shown == "" {
				c.shown = pasted
			}
			w.until(func() bool {
				got := w.mustGateway("read", id)
				for line := range strings.SplitSeq(c.shown, "\n") {
					if !strings.Contains(got, line) {
						return false
					}
				}
				return true
			}, func() string { return w.mustGateway("read", id) })
			require.NotContains(t, w.mustGateway("read", id), "not found", "bash runs nothing")
		})
	}
}
