package agents_test

import (
	"regexp"
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
	first := func(s *world.Terminal, line, top string) {
		t.Helper()
		got := ""
		w.Until(func() bool {
			s.Typed(line + "\n") // again: within one second, both count as used last
			got = a.MustCall("terminal_list", nil)
			return regexp.MustCompile("^" + top).MatchString(got)
		}, func() string { return got })
	}
	require.NotContains(t, a.MustCall("terminal_list", nil), " used ")
	there := regexp.QuoteMeta(w.Path("there"))
	first(two, "mkdir -p "+w.Path("there")+"; cd "+w.Path("there"), `two-.* in "`+there+`.* used `)
	require.Equal(t, 1, strings.Count(a.MustCall("terminal_list", nil), " used "))
	first(two, "sleep 1000", `two-.* runs "sleep" in "`+there)
	first(one, "true", `one-.* in "`+regexp.QuoteMeta(w.Dir)+`" 80x24.* used `)
	a.MustFail("terminal_read", nil, "(the user used the first one last)")
	require.Regexp(t, `\n\S+ +bash --norc +sleep +\S+/there `, w.MustGateway("ls"))
	one.Close()
	two.Close()
}
