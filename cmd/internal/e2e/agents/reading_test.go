package agents_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/gateway/text"

	"github.com/stretchr/testify/require"
)

// rev returns the revision in an answer's header.
func rev(t *testing.T, out string) int {
	t.Helper()
	number, _ := after(out, " rev ")
	n, err := strconv.Atoi(number)
	require.NoError(t, err, out)
	return n
}

// counting reads numbers, and prints that many numbered lines for each.
const counting = `i=0; while read -r n; do for _ in $(seq $n); do i=$((i+1)); echo "this is line number $i of the log"; done; done`

func TestAnAgentFollowsALog(t *testing.T) {
	w, a := world.NewAgent(t)
	id, out := a.RunProgram(world.Args{"program": "bash", "args": []string{"-c", counting}, "wait_for": "waiting"})
	var seen []string
	note := func(out string) {
		for _, m := range regexp.MustCompile(`line number (\d+) of the log`).FindAllStringSubmatch(out, -1) {
			seen = append(seen, m[1])
		}
	}
	inOrder := func() {
		t.Helper()
		for i := range seen {
			require.Equal(t, strconv.Itoa(i+1), seen[i], "each line is read once")
		}
	}
	at, printed := rev(t, out), 0
	for _, n := range []int{5, 12, 200, 1} {
		printed += n
		last := fmt.Sprintf("number %d of", printed)
		a.MustCall("terminal_send", world.Args{"text": strconv.Itoa(n), "enter": true, "wait_for": "text", "value": last}, "matched")
		out = a.MustCall("terminal_read", world.Args{"view": "changes", "since_rev": at}, last)
		note(out)
		at = rev(t, out)
	}
	require.Len(t, seen, printed)
	inOrder()

	// Line numbers stay valid: a page begins where the previous one ended.
	seen = nil
	for next, more := "0", true; more; next, more = after(out, "it goes on: view history with start ") {
		start, err := strconv.Atoi(next)
		require.NoError(t, err)
		out = a.MustCall("terminal_read", world.Args{"view": "history", "start": start, "lines": 100})
		note(out)
	}
	require.Len(t, seen, printed)
	inOrder()
	a.MustFail("terminal_read", world.Args{"view": "history", "start": 100_000}, "line 100000 has not left the screen yet: the history has the lines 0 to ")

	out = a.MustCall("terminal_read", world.Args{"view": "history", "max_tokens": 400}, "left out because they are too long for max_tokens (view history with start ")
	require.LessOrEqual(t, text.Tokens(out), 400)
	a.MustFail("terminal_send", world.Args{"text": "1", "enter": true, "max_tokens": 3}, "give 200 or more")

	require.Contains(t, w.MustGateway("read", id, "--history", "2", "--from", "100"), "2 rows of history, lines 100 to 101 (it goes on: --history 2 --from 102)")
	require.LessOrEqual(t, text.Tokens(w.MustGateway("read", id, "--history", "200", "--max-tokens", "300")), 300)
}

// after returns the number behind words.
func after(out, words string) (number string, found bool) {
	m := regexp.MustCompile(words + `(\d+)`).FindStringSubmatch(out)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// A selection differs only by its background.
func TestAnAgentSeesASelection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ program, args, first, send, want string }{
		{"dialog", "--menu Pick 15 40 4 a Apples b Bread", "Bread", "down", `columns \d+-\d+ "Bread", row \d+ columns \d+-\d+ "<  ?OK  ?>"`},
		{"vim", "-u NONE -n text", "line 1", "3 G V j j", `highlighted: rows 3-5 columns 1-\d+ "line 3 世界"`},
		{"less", "text", "line 1", "/ 4 0 enter", `highlighted: row 1 columns 6-7 "40"`},
	} {
		t.Run(c.program, func(t *testing.T) {
			w, a := world.NewAgent(t, c.program)
			w.Write("text", numbered(60))
			id, _ := a.RunProgram(world.Args{"program": c.program, "args": strings.Fields(c.args), "cwd": w.Dir, "wait_for": "text", "value": c.first}, "matched")
			got, want := a.MustCall("terminal_send", keysOf(strings.Fields(c.send)...)), regexp.MustCompile(c.want)
			w.Until(func() bool { // a slow machine answers before the program has drawn everything
				if want.MatchString(got) {
					return true
				}
				got = a.MustCall("terminal_wait", world.Args{"terminal": id, "for": "waiting"})
				return false
			}, func() string { return got })
			world.WaitRead(w, id, "\nhighlighted: row")
		})
	}
}
