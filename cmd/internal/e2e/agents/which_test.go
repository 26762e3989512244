package agents_test

import (
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// The list begins with the terminal that the user used last, and says what runs there and where.
func TestWhichTerminalTheUserMeans(t *testing.T) {
	w := world.New(t)
	one, two := w.Terminal(80, 24), w.Terminal(80, 24)
	one.Run("proxy --agent --name one bash --norc")
	one.Wait("bash-5")
	two.Run("proxy --agent --name two bash --norc")
	two.Wait("bash-5")
	a := w.Agent("claude", world.Eras[0])
	first := func(s *world.Terminal, line, name string, wanted ...string) {
		t.Helper()
		got := ""
		w.Until(func() bool {
			s.Typed(line + "\n") // again: within one second, both count as used last
			got = a.MustCall("terminal_list", nil)
			top, _, _ := strings.Cut(got, "\n")
			for _, want := range append(wanted, " used ") {
				if !strings.Contains(top, want) {
					return false
				}
			}
			return strings.HasPrefix(top, name+"-")
		}, func() string { return got })
	}
	require.NotContains(t, a.MustCall("terminal_list", nil), " used ")
	first(two, "mkdir -p "+w.Path("there")+"; cd "+w.Path("there"), "two", ` in "`+w.Path("there"))
	require.Equal(t, 1, strings.Count(a.MustCall("terminal_list", nil), " used "))
	first(two, "sleep 1000", "two", ` runs "sleep" in "`+w.Path("there"))
	first(one, "true", "one", ` in "`+w.Dir+`" 80x24`)
	a.MustFail("terminal_read", nil, "(the user used the first one last)")
	got := w.Do("gateway", "ls").Out
	require.Regexp(t, `^ID +PROGRAM +RUNS +DIRECTORY +SIZE +STATE +IDLE +USED +KEYBOARD`, got)
	require.Regexp(t, `\n\S+ +bash --norc +sleep +\S+/there `, got)
	two.Press("C-c")
	for _, s := range []*world.Terminal{one, two} {
		s.Close()
	}
}
