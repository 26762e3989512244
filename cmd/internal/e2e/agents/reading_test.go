package agents_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/gateway/text"

	"github.com/stretchr/testify/require"
)

var revOf = regexp.MustCompile(` rev (\d+) `)

// rev returns the revision in an answer's header.
func rev(t *testing.T, out string) int {
	t.Helper()
	m := revOf.FindStringSubmatch(out)
	require.NotNil(t, m, out)
	n, err := strconv.Atoi(m[1])
	require.NoError(t, err)
	return n
}

// counting reads numbers, and prints that many numbered lines for each.
const counting = `i=0; while read -r n; do for _ in $(seq $n); do i=$((i+1)); echo "this is line number $i of the log"; done; done`

func TestAnAgentFollowsALog(t *testing.T) {
	w, a := world.NewAgent(t)
	id, out := a.RunProgram(world.Args{"program": "bash", "args": []string{"-c", counting}, "wait_for": "waiting"})
	seen := map[int]int{}
	note := func(out string) {
		for _, m := range regexp.MustCompile(`line number (\d+) of the log`).FindAllStringSubmatch(out, -1) {
			n, _ := strconv.Atoi(m[1])
			seen[n]++
		}
	}
	at, printed := rev(t, out), 0
	for _, n := range []int{5, 10, 12, 3, 200, 1} {
		printed += n
		last := fmt.Sprintf("number %d of", printed)
		a.MustCall("terminal_send", world.Args{"text": strconv.Itoa(n), "enter": true, "wait_for": "text", "value": last}, "matched")
		out := a.MustCall("terminal_read", world.Args{"view": "changes", "since_rev": at}, last)
		if n == 12 {
			require.Regexp(t, `all rows moved up by \d+:\n<<<\w+ untrusted`, out)
		}
		if n == 200 {
			require.Contains(t, out, "rows that you have not seen left the screen, lines ")
		}
		note(out)
		at = rev(t, out)
	}
	for i := 1; i <= printed; i++ {
		require.Equal(t, 1, seen[i], "line %d is read once", i)
	}
	out = a.MustCall("terminal_send", world.Args{"text": "50", "enter": true, "wait_for": "text", "value": "number 281 of"},
		"rows that you have not seen left the screen: terminal_read with view changes and since_rev")
	out = a.MustCall("terminal_wait", world.Args{"for": "text", "value": "number 281", "since_rev": rev(t, out)})
	require.Regexp(t, `^matched\n\S+ rev \d+ [^\n]*$`, out, "it was shown this already")

	// Line numbers stay valid: a page begins where the previous one ended.
	next := 0
	for want := 1; ; {
		out := a.MustCall("terminal_read", world.Args{"view": "history", "start": next, "lines": 100})
		for _, m := range regexp.MustCompile(`line number (\d+) of the log`).FindAllStringSubmatch(out, -1) {
			require.Equal(t, strconv.Itoa(want), m[1])
			want++
		}
		m := regexp.MustCompile(`it goes on: view history with start (\d+)`).FindStringSubmatch(out)
		if m == nil {
			require.Equal(t, 282, want)
			break
		}
		next, _ = strconv.Atoi(m[1])
	}
	a.MustFail("terminal_read", world.Args{"view": "history", "start": 100_000}, "line 100000 has not left the screen yet: the history has the lines 0 to ")

	out = a.MustCall("terminal_read", world.Args{"view": "history", "max_tokens": 400}, "left out because they are too long for max_tokens (view history with start ")
	require.LessOrEqual(t, text.Tokens(out), 400)
	a.MustFail("terminal_read", world.Args{"max_tokens": 0}, "give 200 or more")
	a.MustFail("terminal_send", world.Args{"text": "1", "enter": true, "max_tokens": 3}, "give 200 or more")

	require.Contains(t, w.MustGateway("read", id, "--history", "2", "--from", "100"), "2 rows of history, lines 100 to 101 (it goes on: --history 2 --from 102)")
	require.Contains(t, w.MustGateway("read", id, "--since", strconv.Itoa(at)), "rows")
	require.LessOrEqual(t, text.Tokens(w.MustGateway("read", id, "--history", "200", "--max-tokens", "300")), 300)
	require.Contains(t, w.Gateway("read", id, "--history", "1", "--from", "99999").Err, "has not left the screen yet")
}

// A program's last words are not lost, however many they are: no one can ask for them later.
func TestAnAgentReadsAllOfAProgramThatEnds(t *testing.T) {
	w, a := world.NewAgent(t)
	all := func(out string) {
		t.Helper()
		for i := 1; i <= 200; i++ {
			require.Contains(t, out, fmt.Sprintf("last words, number %d\n", i))
		}
	}
	printing := world.Args{"program": "bash", "args": []string{"-c", "read -r; for i in $(seq 200); do echo last words, number $i; done"}, "wait_for": "waiting"}
	first, _ := a.RunProgram(printing)
	out := a.MustCall("terminal_send", world.Args{"terminal": first, "enter": true, "wait_for": "exit", "max_tokens": 10000}, "exited 0", "rows that you have not seen left the screen, lines ")
	all(out)

	second, out := a.RunProgram(printing)
	since := rev(t, out)
	waiting := a.StartCall("terminal_wait", world.Args{"terminal": second, "for": "exit", "since_rev": since})
	a.MustCall("terminal_send", world.Args{"terminal": second, "enter": true})
	got := w.WaitAnswer(waiting)
	require.False(t, got.Fails, got.Text)
	all(got.Text)
	all(a.MustCall("terminal_read", world.Args{"terminal": second, "view": "changes", "since_rev": since}, "rows that you have not seen left the screen, lines "))
	all(a.MustCall("terminal_read", world.Args{"terminal": second, "view": "history", "start": 0}, "178 rows of history, lines 0 to 177, then the screen"))
	a.MustFail("terminal_read", world.Args{"terminal": second, "view": "history", "start": 1000}, "the program has ended, and only the lines from 0 to before ")

	for range 3 { // the end may come before the first look, or after it
		_, out = a.RunProgram(world.Args{"program": "bash", "args": []string{"-c", "seq -f 'last words, number %g' 200"}, "wait_for": "exit", "max_tokens": 10000},
			"177 rows that you have not seen left the screen, lines 0 to 176 of the history; then the whole screen")
		all(out)
	}
	a.RunProgram(world.Args{"program": "true"}, "exited 0")
}

// A selection differs only by its background.
func TestAnAgentSeesASelection(t *testing.T) {
	t.Parallel()
	out := ""
	for n := range 60 {
		out += "line " + strconv.Itoa(n+1) + " of a text\n"
	}
	for name, c := range map[string]struct {
		program []string
		first   string
		send    world.Args
		want    string
	}{
		"dialog": {
			[]string{"dialog", "--menu", "Pick", "15", "40", "4", "a", "Apples", "b", "Bread", "c", "Cheese"},
			"Cheese",
			world.Args{"keys": []string{"down"}},
			`columns \d+-\d+ "Bread", row \d+ columns \d+-\d+ "<  ?OK  ?>"`,
		},
		"whiptail": {
			[]string{"whiptail", "--menu", "Pick", "15", "40", "4", "a", "Apples", "b", "Bread", "c", "Cheese"},
			"Cheese",
			world.Args{"keys": []string{"down", "down"}},
			`highlighted: row \d+ columns \d+-\d+ "c Cheese"`,
		},
		"less": {
			[]string{"less", "text"},
			"line 1",
			world.Args{"text": "/line 40", "enter": true},
			`highlighted: row 1 columns 1-7 "line 40"`,
		},
		"vim": {
			[]string{"vim", "-u", "NONE", "-n", "text"},
			"line 1",
			world.Args{"text": "3GVjj"},
			`highlighted: rows 3-5 columns 1-\d+ "line 3 of a text"`,
		},
		"fzf": {
			[]string{"bash", "-c", "fzf <text"},
			"60/60",
			world.Args{"keys": []string{"up"}},
			`highlighted: .*"> line 2 of a text"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t, name)
			w.Write("text", out)
			a := w.Agent("claude", world.Eras[1])
			id, _ := a.RunProgram(world.Args{"program": c.program[0], "args": c.program[1:], "cwd": w.Dir, "wait_for": "text", "value": c.first}, "matched")
			got := a.MustCall("terminal_send", c.send)
			// A slow machine answers before the program has drawn everything.
			for end, want := time.Now().Add(world.Patience), regexp.MustCompile(c.want); !want.MatchString(got); {
				require.False(t, time.Now().After(end), got)
				got = a.MustCall("terminal_wait", world.Args{"session": id, "for": "waiting"})
			}
			require.Regexp(t, `\n[a-z2-7]{6} highlighted: [^\n]+\n[a-z2-7]{6}>>>$`, got)
			world.WaitRead(w, w.Session(), "\nhighlighted: row")
		})
	}
}

// A form whose fields are empty names the one that has the focus, without its frame.
func TestAFocusedEmptyFieldIsNamed(t *testing.T) {
	w := world.New(t, "dialog")
	a := w.Agent("claude", world.Eras[1])
	id, _ := a.RunProgram(world.Args{
		"program": "dialog", "args": []string{"--form", "Who", "12", "50", "4", "Name:", "1", "1", "", "1", "10", "20", "0", "Town:", "3", "1", "", "3", "10", "20", "0"},
		"wait_for": "text", "value": "Town:",
	})
	first := a.MustCall("terminal_read", world.Args{"terminal": id, "view": "screen"})
	require.Regexp(t, `highlighted: [^\n]*row \d+ columns \d+-\d+ ""`, first)
	require.NotRegexp(t, `highlighted: [^\n]*[─│┌┐└┘]`, first)
	row := regexp.MustCompile(`row (\d+) columns \d+-\d+ ""`)
	second := a.MustCall("terminal_send", world.Args{"terminal": id, "keys": []string{"down"}})
	require.Regexp(t, row, second)
	require.NotEqual(t, row.FindStringSubmatch(first)[1], row.FindStringSubmatch(second)[1])
	require.NotContains(t, second, "looks as before")
	a.MustCall("terminal_close", world.Args{"terminal": id, "force": true})
}
