package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The list begins with the terminal that the user used last, and says what runs there and where.
func TestWhichTerminalTheUserMeans(t *testing.T) {
	w := newWorld(t)
	one, two := w.terminal(80, 24), w.terminal(80, 24)
	one.run("proxy --agent --name one bash --norc")
	one.wait("bash-5")
	two.run("proxy --agent --name two bash --norc")
	two.wait("bash-5")
	a := w.agent("claude", eras[0])
	first := func(s *terminal, line, name string, wanted ...string) {
		t.Helper()
		got := ""
		w.until(func() bool {
			s.typed(line + "\n") // again: within one second, both count as used last
			got = a.mustCall("terminal_list", nil)
			top, _, _ := strings.Cut(got, "\n")
			for _, want := range append(wanted, " used ") {
				if !strings.Contains(top, want) {
					return false
				}
			}
			return strings.HasPrefix(top, name+"-")
		}, func() string { return got })
	}
	require.NotContains(t, a.mustCall("terminal_list", nil), " used ")
	first(two, "mkdir -p "+w.path("there")+"; cd "+w.path("there"), "two", ` in "`+w.path("there"))
	require.Equal(t, 1, strings.Count(a.mustCall("terminal_list", nil), " used "))
	first(two, "sleep 1000", "two", ` runs "sleep" in "`+w.path("there"))
	first(one, "true", "one", ` in "`+w.dir+`" 80x24`)
	a.mustFail("terminal_read", nil, "(the user used the first one last)")
	got := w.do("gateway", "ls").out
	require.Regexp(t, `^ID +PROGRAM +RUNS +DIRECTORY +SIZE +STATE +IDLE +USED +KEYBOARD`, got)
	require.Regexp(t, `\n\S+ +bash --norc +sleep +\S+/there `, got)
	two.press("C-c")
	for _, s := range []*terminal{one, two} {
		s.close()
	}
}
