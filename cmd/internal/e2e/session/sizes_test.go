package session_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// Each of two people sees something right. The session has the size of the person who acted last. A
// larger terminal shows it in its corner, a smaller one the part with the cursor.
func TestTwoPeopleWithTerminalsOfTwoSizes(t *testing.T) {
	w, a := world.NewAgent(t, "vim")
	id, _ := a.RunProgram(world.Args{"program": "bash", "args": []string{"--norc", "--noprofile", "-i"}, "cols": 70, "rows": 20})
	large, small := w.Terminal(120, 40), w.Terminal(60, 12)
	large.Run("gateway attach " + id)
	large.Wait("bash")
	small.Run("gateway attach " + id)
	small.Wait("bash")
	small.Typed("clear; stty size; seq 1 30\n")
	rows := func(s *world.Terminal) []string { return strings.Split(strings.TrimRight(s.Screen(), "\n"), "\n") }
	for _, s := range []*world.Terminal{small, large} { // 12 rows: 20 to 30 and the prompt
		s.See("the last rows of 12, and the proxy's sign off the prompt", func(string) bool {
			got := rows(s)
			return len(got) == 12 && got[0] == "20" && strings.HasPrefix(got[10], "30 ") && strings.HasPrefix(got[11], "bash-")
		})
	}
	a.MustCall("terminal_read", world.Args{"view": "screen"}, "60x12")

	// A key gives the session the size of the terminal on which it was pressed.
	large.Press("C-u")
	world.WaitRead(w, id, " 120x40 ")
	large.Typed("clear; stty size; for i in $(seq 35); do printf '%0100d\\n' $i; done; printf 'here: '\n")
	large.Wait("40 120")
	large.Wait(strings.Repeat("0", 98) + "35")
	small.See("the part with the cursor", func(string) bool {
		got := rows(small)
		return len(got) == 12 && got[10] == strings.Repeat("0", 60) && strings.HasPrefix(got[11], "here: ")
	})
	large.Typed("vim -u NONE -n x\n")
	large.Wait(`"x" [New`)
	small.See("the first rows of vim", func(string) bool { return len(rows(small)) == 12 && rows(small)[1] == "~" })
	large.Typed("ihello")
	small.Wait("hello")

	small.Resize(50, 10)
	large.See("a vim of 10 rows", func(string) bool { return len(rows(large)) == 9 || len(rows(large)) == 10 }) // the sign may stand in the last one
	large.Resize(110, 38)
	large.See("a vim of 38 rows", func(string) bool { return len(rows(large)) == 37 || len(rows(large)) == 38 })
	small.Press("Escape")
	small.Typed(":q!\n")
	small.Match(`bash-[0-9.]+[$#] *\n*$`)

	// A person who leaves gives the size back, and has a restored terminal.
	small.Press(`C-\`)
	small.WaitShown("claude is stopped")
	small.OpenMenu("d leaves")
	small.Press("d")
	require.Zero(t, small.Status())
	require.Equal(t, world.PlainModes, small.Format(world.Modes))
	a.MustCall("terminal_wait", world.Args{"for": "idle", "value": "300ms"})
	a.MustCall("terminal_read", world.Args{"view": "screen"}, "110x38")

	small.Run("gateway attach --watch " + id)
	small.Wait("bash-")
	small.Typed("q")
	require.Zero(t, small.Status())
	require.Equal(t, world.PlainModes, small.Format(world.Modes))
	a.MustCall("terminal_read", world.Args{"view": "screen"}, "110x38")
}

// Agents see what the terminal shows after a resize. A program on the main screen redraws from its
// cursor's place, and terminals differ in where that is. tmux wraps the blanks that fzf has
// written, and drops rows below the cursor first.
func TestAgentsSeeTheRowsOfAResizedTerminal(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"default", "reverse"} {
		t.Run(layout, func(t *testing.T) {
			w := world.New(t, "fzf")
			s := w.Terminal(100, 24)
			id := s.RunBash("")
			s.Typed("seq 30; seq 100 | fzf --height 8 --layout " + layout + "\n")
			s.Wait("100/100")
			for _, size := range [][2]int{{100, 20}, {90, 26}, {100, 15}, {60, 30}, {80, 24}, {120, 12}} {
				s.Resize(size[0], size[1])
				w.MustGateway("wait", id, "--idle", "300ms")
				var shown, seen string
				w.Until(func() bool {
					var got protocol.ReadResult
					require.NoError(t, json.Unmarshal([]byte(w.MustGateway("read", id, "--json")), &got))
					seen, shown = strings.Join(got.Frame.Screen.Lines, "\n"), strings.TrimRight(s.Screen(), "\n")
					return shown == strings.TrimRight(seen, "\n")
				}, func() string { return fmt.Sprintf("%v\n%s\n-- and agents see:\n%s", size, shown, seen) })
			}
		})
	}
}
