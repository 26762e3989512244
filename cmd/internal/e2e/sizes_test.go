package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// Each of two people sees something right. The session has the size of the person who acted last. A
// larger terminal shows it in its corner, a smaller one the part with the cursor.
func TestTwoPeopleWithTerminalsOfTwoSizes(t *testing.T) {
	w, a := newAgent(t, "vim")
	id, _ := a.runProgram(args{"program": "bash", "args": []string{"--norc", "--noprofile", "-i"}, "cols": 70, "rows": 20})
	large, small := w.terminal(120, 40), w.terminal(60, 12)
	large.run("gateway attach " + id)
	large.wait("bash")
	small.run("gateway attach " + id)
	small.wait("bash")
	small.typed("clear; stty size; seq 1 30\n")
	rows := func(s *terminal) []string { return strings.Split(strings.TrimRight(s.screen(), "\n"), "\n") }
	for _, s := range []*terminal{small, large} { // 12 rows: 20 to 30 and the prompt
		s.see("the last rows of 12, and the proxy's sign off the prompt", func(string) bool {
			got := rows(s)
			return len(got) == 12 && got[0] == "20" && strings.HasPrefix(got[10], "30 ") && strings.HasPrefix(got[11], "bash-")
		})
	}
	a.mustCall("terminal_read", nil, "60x12")

	// A key gives the session the size of the terminal on which it was pressed.
	large.press("C-u")
	w.until(func() bool { return strings.Contains(w.mustGateway("ls"), "120x40") }, large.screen)
	large.typed("clear; stty size; for i in $(seq 35); do printf '%0100d\\n' $i; done; printf 'here: '\n")
	large.wait("40 120")
	large.wait(strings.Repeat("0", 98) + "35")
	small.see("the part with the cursor", func(string) bool {
		got := rows(small)
		return len(got) == 12 && got[10] == strings.Repeat("0", 60) && strings.HasPrefix(got[11], "here: ")
	})
	large.typed("vim -u NONE -n x\n")
	large.wait(`"x" [New`)
	small.see("the first rows of vim", func(string) bool { return len(rows(small)) == 12 && rows(small)[1] == "~" })
	large.typed("ihello")
	small.wait("hello")

	small.resize(50, 10)
	large.see("a vim of 10 rows", func(string) bool { return len(rows(large)) == 9 || len(rows(large)) == 10 }) // the sign may stand in the last one
	large.resize(110, 38)
	large.see("a vim of 38 rows", func(string) bool { return len(rows(large)) == 37 || len(rows(large)) == 38 })
	small.press("Escape")
	small.typed(":q!\n")
	small.match(`bash-[0-9.]+[$#] *\n*$`)

	// A person who leaves gives the size back, and has a restored terminal.
	small.press(`C-\`)
	small.wait("claude is stopped")
	small.openMenuWith("d leaves")
	small.press("d")
	require.Zero(t, small.status())
	require.Equal(t, plainModes, small.format(modes))
	a.mustCall("terminal_wait", args{"for": "idle", "value": "300ms"})
	a.mustCall("terminal_read", nil, "110x38")

	small.run("gateway attach --watch " + id)
	small.wait("bash-")
	small.typed("q")
	require.Zero(t, small.status())
	require.Equal(t, plainModes, small.format(modes))
	a.mustCall("terminal_read", nil, "110x38")
}

// Agents see what the terminal shows after a resize. A program on the main screen redraws from its
// cursor's place, and terminals differ in where that is. tmux wraps the blanks that fzf has
// written, and drops rows below the cursor first.
func TestAgentsSeeTheRowsOfAResizedTerminal(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"default", "reverse"} {
		t.Run(layout, func(t *testing.T) {
			w := newWorld(t, "fzf")
			s := w.terminal(100, 24)
			id := s.runBash("")
			s.typed("seq 30; seq 100 | fzf --height 8 --layout " + layout + "\n")
			s.wait("100/100")
			for _, size := range [][2]int{{100, 20}, {90, 26}, {100, 15}, {60, 30}, {80, 24}, {120, 12}} {
				s.resize(size[0], size[1])
				w.mustGateway("wait", id, "--idle", "300ms")
				var shown, seen string
				w.until(func() bool {
					var got protocol.ReadResult
					require.NoError(t, json.Unmarshal([]byte(w.mustGateway("read", id, "--json")), &got))
					seen, shown = strings.Join(got.Frame.Screen.Lines, "\n"), strings.TrimRight(s.screen(), "\n")
					return shown == strings.TrimRight(seen, "\n")
				}, func() string { return fmt.Sprintf("%v\n%s\n-- and agents see:\n%s", size, shown, seen) })
			}
		})
	}
}
