package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// failingBuild prints 2,000 lines and fails. Line 60 is the error; %s follows each line.
const failingBuild = `for i in $(seq 2000); do
	if [ $i = 60 ]; then echo "src/parse.c:317:9: error: too few arguments to function 'next'"
	else echo "cc -O2 -Wall -Iinclude -c src/unit$i.c -o build/unit$i.o"; fi
	%s
done; echo "make: *** [Makefile:12: all] Error 1"; exit 2`

// The most frequent task of an agent: find one line in two thousand.
func TestABuildThatFailsIsUnderstoodInTwoCalls(t *testing.T) {
	const most = 3 << 10 // bytes in all answers together
	const failure = "src/parse.c:317:9: error: too few arguments"
	w := newWorld(t)
	a := w.agent("claude", eras[1])

	t.Run("it is not waited out", func(t *testing.T) {
		id, out := a.runProgram(args{
			"program": "bash", "args": []string{"-c", fmt.Sprintf(failingBuild, "[ $i != 200 ] || sleep 1000")},
			"wait_for": "exit", "stop": []string{`\berror:`}, "timeout_ms": 50_000,
		}, `stop: "\\berror:"`)
		found := a.mustCall("terminal_read", args{"terminal": id, "view": "history", "match": `\berror:`, "context": 1},
			"1 line matches:\n", "58- cc -O2 -Wall -Iinclude -c src/unit59.c", "59: "+failure, "60- cc -O2")
		require.LessOrEqual(t, len(out)+len(found), most)
		a.mustCall("terminal_close", args{"terminal": id, "force": true})
	})
	t.Run("it has ended", func(t *testing.T) {
		id, out := a.runProgram(args{
			"program": "bash", "args": []string{"-c", fmt.Sprintf(failingBuild, ":")}, "wait_for": "exit", "timeout_ms": 50_000, "max_tokens": 300,
		}, "exited 2", "Error 1", "rows that you have not seen left the screen, lines 0 to 1977 of the history")
		found := a.mustCall("terminal_read", args{"terminal": id, "view": "history", "match": `error:`, "context": 2}, "59: "+failure)
		require.LessOrEqual(t, len(out)+len(found), most)
		whole := a.mustCall("terminal_read", args{"terminal": id, "view": "history", "start": 58, "lines": 3}, "3 rows of history, lines 58 to 60", failure)
		require.Contains(t, whole, "unit59.c")
		a.mustFail("terminal_read", args{"terminal": id, "view": "history", "match": "("}, "match: ", "missing closing )")
	})
	t.Run("the answer has no limit", func(t *testing.T) {
		_, out := a.runProgram(args{"program": "bash", "args": []string{"-c", fmt.Sprintf(failingBuild, ":")}, "wait_for": "exit", "timeout_ms": 50_000},
			"exited 2", "Error 1", "lines 0 to 1977 of the history; they are left out: view history with start 0 and lines ")
		require.LessOrEqual(t, strings.Count(out, "\n"), 24+3, "a header, a note and a fence around the screen")
		_, out = a.runProgram(args{"program": "seq", "args": []string{"100"}, "wait_for": "exit"}, "exited 0", "then the whole screen:\n")
		require.Contains(t, out, "\n1\n2\n", "what is short is there in whole")
	})
	t.Run("from the command line", func(t *testing.T) {
		id, _ := a.runProgram(args{"program": "bash", "args": []string{"-c", "read -r; " + fmt.Sprintf(failingBuild, ":")}, "wait_for": "waiting"})
		waits := make(chan result, 1)
		go func() {
			waits <- w.gateway("wait", id, "--text", "never", "--any", "no such", "--stop", `Error \d`, "--timeout", "50s")
		}()
		a.mustCall("terminal_send", args{"terminal": id, "enter": true, "wait_for": "exit", "max_tokens": 200}, "exited 2")
		got := <-waits
		got.mustFail(t, 1, `stopped by "Error \\d"`)
		got = w.gateway("read", id, "--match", "error:", "--context", "1")
		require.Zero(t, got.status, got.err)
		require.Contains(t, got.out, "60: "+failure) // the typed empty line is line 0
		require.NotContains(t, got.out, "unit58.c")
		require.Contains(t, w.gateway("read", id, "--match", "(").err, "--match: ")
		require.Contains(t, w.gateway("ls").out, "exited 2")
		found := reply[protocol.ReadResult](t, w.gateway("--json", "read", id, "--match", `unit\d+\.c`, "--history", "3").out)
		require.Equal(t, 1999, found.Found.Count)
		require.Equal(t, uint64(4), *found.Found.More)
	})
}

// Until a session is closed, the output of its ended program is read line by line as while it ran.
func TestAnEndedProgramIsRead(t *testing.T) {
	w := newWorld(t)
	a := w.agent("claude", eras[1])
	for _, c := range []struct{ name, script, wanted string }{
		{"at once", "seq -f 'row %g' 5000", "exited 0"},
		{"killed", "seq -f 'row %g' 5000; kill -9 $$", "exited by SIGKILL"},
		{"on the alternate screen", `seq -f 'row %g' 5000; printf '\033[?1049hfull screen'; exit 3`, "exited 3"},
	} {
		id, out := a.runProgram(args{"program": "bash", "args": []string{"-c", c.script}, "wait_for": "exit", "max_tokens": 500}, c.wanted, "of the history")
		require.NotContains(t, out, "full screen", c.name)
		a.mustCall("terminal_read", args{"terminal": id, "view": "history", "start": 0, "lines": 2}, "row 1\nrow 2\n")
		a.mustCall("terminal_read", args{"terminal": id, "view": "history", "start": 3000, "lines": 1}, "row 3001\n")
		a.mustCall("terminal_read", args{"terminal": id, "view": "history", "match": "^row 4321$"}, "4320: row 4321")
		a.mustCall("terminal_wait", args{"terminal": id, "for": "exit"}, c.wanted)
		a.mustFail("terminal_send", args{"terminal": id, "text": "x"}, "what it printed can be read")
		a.mustCall("terminal_close", args{"terminal": id}, "no longer kept")
		a.mustFail("terminal_close", args{"terminal": id})
	}
	a.mustCall("terminal_list", nil, "there are no terminals")

	s := w.terminal(80, 24)
	s.run(`proxy --agent bash -c "seq -f 'row %g' 300; read -r; echo last words"`)
	s.wait("row 300")
	id := w.session()
	s.press("Enter")
	require.Zero(t, s.status())
	a.mustCall("terminal_wait", args{"terminal": id, "for": "exit"}, "exited 0", "row 1\n", "row 300\n", "last words")
	a.mustCall("terminal_read", args{"terminal": id, "view": "history", "match": "row 17"}, "11 lines match", "16: row 17\n")
	require.Zero(t, w.gateway("hide", id).status)
	a.mustFail("terminal_read", args{"terminal": id, "view": "history", "match": "row 17"}, "the user hid the screen")
	require.Zero(t, w.gateway("close", id).status)
	require.NotContains(t, w.gateway("ls").out, id)
}

// The process that serves the gateway ends with its program. It passes the ended programs' output
// on to the process that takes over.
func TestEndedProgramsOutliveTheirGateway(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(80, 24)
	s.run(`proxy --agent bash -c "seq -f 'row %g' 300; read -r; exit 4"`)
	s.wait("row 300")
	id := w.session()
	a := w.agent("claude", eras[1])
	earlier, _ := a.runProgram(args{"program": "seq", "args": []string{"100"}, "wait_for": "exit"}, "exited 0")
	a.mustCall("terminal_read", args{"terminal": id}, "row 300")
	s.press("Enter")
	require.Equal(t, 4, s.status())
	w.until(func() bool { return len(w.sessions()) == 2 }, func() string { return w.gateway("ls").out })
	a.mustCall("terminal_read", args{"terminal": id, "view": "history", "start": 0, "lines": 2}, "row 1\nrow 2\n", "exited 4")
	a.mustCall("terminal_read", args{"terminal": earlier, "view": "history", "match": "^17$"}, "16: 17")
	a.mustCall("terminal_close", args{"terminal": earlier}, "no longer kept")
}

// A program's output survives when no client is connected at its end, and when the serving process
// is killed.
func TestEndedProgramsOutliveTheServingProcess(t *testing.T) {
	w := newWorld(t)
	dir, err := os.MkdirTemp("/dev/shm", "e2e") //nolint:usetesting // in memory
	if err != nil {
		t.Skip("no tmpfs at /dev/shm")
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	w.env = append(w.env, "TERMINALPROXY_DIR="+dir)
	got := w.gateway("run", "--", "bash", "-c", "seq -f 'row %g' 300; exit 3")
	require.Equal(t, 3, got.status, got.err)
	id := strings.TrimSpace(got.out)
	require.Contains(t, w.mustGateway("ls"), "exited 3")
	require.Contains(t, w.mustGateway("read", id, "--match", "^row 17$"), "16: row 17")

	a := w.agent("claude", eras[1])
	a.mustCall("terminal_read", args{"terminal": id, "view": "history", "match": "^row 17$"}, "16: row 17")
	other, _ := a.runProgram(args{"program": "seq", "args": []string{"100"}, "wait_for": "exit"}, "exited 0")
	w.until(func() bool {
		files, _ := filepath.Glob(filepath.Join(dir, "ended", "*"))
		return len(files) == 2 && filepath.Ext(files[0]) != ".new" && filepath.Ext(files[1]) != ".new" // a file still being written
	}, func() string { return "it is not kept" })
	require.NoError(t, a.cmd.Process.Kill())
	require.Contains(t, w.mustGateway("read", other, "--match", "^17$"), "16: 17")
	w.mustGateway("close", other)
	w.mustGateway("close", id)
	require.NoDirExists(t, filepath.Join(dir, "ended"))
	require.Equal(t, 5, w.gateway("ls").status, "nothing runs, and nothing is kept")
}

// TestASearchFindsALineThatWraps: on the screen, in the history and after the program's end.
func TestASearchFindsALineThatWraps(t *testing.T) {
	const line = "the value of an option that is not known, and more words about it than have room in one row: end"
	w := newWorld(t)
	w.agent("claude", eras[1]).mustCall("terminal_list", nil) // serves the gateway, also after the program
	for cols := 20; cols <= 22; cols++ {
		s := w.terminal(cols, 24)
		s.run(`proxy --agent bash -c "echo ` + line + `; read -r; seq 300; read -r"`)
		s.wait(": end")
		id := w.session()
		found := func() {
			t.Helper()
			got := w.mustGateway("read", id, "--match", "option that is not known, and more words")
			require.Contains(t, got, "1 line matches:\n0: "+line+"\n")
		}
		found()
		s.press("Enter")
		s.wait("\n300\n")
		found()
		s.press("Enter")
		require.Zero(t, s.status())
		found()
		w.mustGateway("close", id)
	}
}
