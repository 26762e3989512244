package agents_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
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
	w := world.New(t)
	a := w.Agent("claude", world.Eras[1])

	t.Run("it is not waited out", func(t *testing.T) {
		id, out := a.RunProgram(world.Args{
			"program": "bash", "args": []string{"-c", fmt.Sprintf(failingBuild, "[ $i != 200 ] || sleep 1000")},
			"wait_for": "exit", "stop": []string{`\berror:`}, "timeout_ms": 50_000,
		}, `stop: "\\berror:"`)
		found := search(a, world.Args{"terminal": id, "view": "history", "match": `\berror:`, "context": 1},
			"1 line matches:\n", "58- cc -O2 -Wall -Iinclude -c src/unit59.c", "59: "+failure)
		require.LessOrEqual(t, len(out)+len(found), most)
		a.MustCall("terminal_close", world.Args{"terminal": id, "force": true})
	})
	t.Run("it has ended", func(t *testing.T) {
		id, out := a.RunProgram(world.Args{
			"program": "bash", "args": []string{"-c", fmt.Sprintf(failingBuild, ":")}, "wait_for": "exit", "timeout_ms": 50_000, "max_tokens": 300,
		}, "exited 2", "Error 1", "rows that you have not seen left the screen, lines 0 to 1977 of the history")
		found := search(a, world.Args{"terminal": id, "view": "history", "match": `error:`, "context": 2}, "59: "+failure, "60- cc -O2")
		require.LessOrEqual(t, len(out)+len(found), most)
		whole := a.MustCall("terminal_read", world.Args{"terminal": id, "view": "history", "start": 58, "lines": 3}, "3 rows of history, lines 58 to 60", failure)
		require.Contains(t, whole, "unit59.c")
		a.MustFail("terminal_read", world.Args{"terminal": id, "view": "history", "match": "("}, "match: ", "missing closing )")
	})
	t.Run("the answer has no limit", func(t *testing.T) {
		_, out := a.RunProgram(world.Args{"program": "bash", "args": []string{"-c", fmt.Sprintf(failingBuild, ":")}, "wait_for": "exit", "timeout_ms": 50_000},
			"exited 2", "Error 1", "lines 0 to 1977 of the history; they are left out: view history with start 0 and lines ")
		require.LessOrEqual(t, strings.Count(out, "\n"), 24+3, "a header, a note and a fence around the screen")
		_, out = a.RunProgram(world.Args{"program": "seq", "args": []string{"100"}, "wait_for": "exit"}, "exited 0", "then the whole screen:\n")
		require.Contains(t, out, "\n1\n2\n", "what is short is there in whole")
	})
	t.Run("from the command line", func(t *testing.T) {
		id, _ := a.RunProgram(world.Args{"program": "bash", "args": []string{"-c", "read -r; " + fmt.Sprintf(failingBuild, ":")}, "wait_for": "waiting"})
		waits := make(chan world.Result, 1)
		go func() {
			waits <- w.Gateway("wait", id, "--text", "never", "--any", "no such", "--stop", `Error \d`, "--timeout", "5m")
		}()
		a.MustCall("terminal_send", world.Args{"terminal": id, "enter": true, "wait_for": "exit", "max_tokens": 200}, "exited 2")
		got := <-waits
		got.MustFail(t, 1, `stopped by "Error \\d"`)
		got = w.Gateway("read", id, "--match", "error:", "--context", "1")
		require.Zero(t, got.Status, got.Err)
		require.Contains(t, got.Out, "60: "+failure) // the typed empty line is line 0
		require.NotContains(t, got.Out, "unit58.c")
		require.Contains(t, w.Gateway("read", id, "--match", "(").Err, "--match: ")
		require.Contains(t, w.Gateway("ls").Out, "exited 2")
		found := world.Reply[protocol.ReadResult](t, w.Gateway("--json", "read", id, "--match", `unit\d+\.c`, "--history", "3").Out)
		require.Equal(t, 1999, found.Found.Count)
		require.Equal(t, uint64(4), *found.Found.More)
	})
}

// search searches a history. On a busy machine a search may take too long, and stops.
func search(a *world.Agent, with world.Args, wanted ...string) (found string) {
	a.W.T.Helper()
	a.W.Until(func() bool {
		found = a.MustCall("terminal_read", with)
		return !strings.Contains(found, "took too long")
	}, func() string { return found })
	for _, text := range wanted {
		require.Contains(a.W.T, found, text)
	}
	return found
}

// Until a session is closed, the output of its ended program is read line by line as while it ran.
func TestAnEndedProgramIsRead(t *testing.T) {
	w := world.New(t)
	a := w.Agent("claude", world.Eras[1])
	for _, c := range []struct{ name, script, wanted string }{
		{"at once", "seq -f 'row %g' 5000", "exited 0"},
		{"killed", "seq -f 'row %g' 5000; kill -9 $$", "exited by SIGKILL"},
		{"on the alternate screen", `seq -f 'row %g' 5000; printf '\033[?1049hfull screen'; exit 3`, "exited 3"},
	} {
		id, out := a.RunProgram(world.Args{"program": "bash", "args": []string{"-c", c.script}, "wait_for": "exit", "max_tokens": 500}, c.wanted, "of the history")
		require.NotContains(t, out, "full screen", c.name)
		a.MustCall("terminal_read", world.Args{"terminal": id, "view": "history", "start": 0, "lines": 2}, "row 1\nrow 2\n")
		a.MustCall("terminal_read", world.Args{"terminal": id, "view": "history", "start": 3000, "lines": 1}, "row 3001\n")
		search(a, world.Args{"terminal": id, "view": "history", "match": "^row 4321$"}, "4320: row 4321")
		search(a, world.Args{"terminal": id, "view": "history", "match": "^row 5001$"}, "no line matches")
		a.MustCall("terminal_wait", world.Args{"terminal": id, "for": "exit"}, c.wanted)
		a.MustFail("terminal_send", world.Args{"terminal": id, "text": "x"}, "what it printed can be read")
		a.MustCall("terminal_close", world.Args{"terminal": id}, "no longer kept")
		a.MustFail("terminal_close", world.Args{"terminal": id})
	}
	a.MustCall("terminal_list", nil, "there are no terminals")

	s := w.Terminal(80, 24)
	s.Run(`proxy --agent bash -c "seq -f 'row %g' 300; read -r; echo last words"`)
	s.Wait("row 300")
	id := w.Session()
	s.Press("Enter")
	require.Zero(t, s.Status())
	a.MustCall("terminal_wait", world.Args{"terminal": id, "for": "exit"}, "exited 0", "row 1\n", "row 300\n", "last words")
	a.MustCall("terminal_read", world.Args{"terminal": id, "view": "history", "match": "row 17"}, "11 lines match", "16: row 17\n")
	require.Zero(t, w.Gateway("hide", id).Status)
	a.MustFail("terminal_read", world.Args{"terminal": id, "view": "history", "match": "row 17"}, "the user hid the screen")
	require.Zero(t, w.Gateway("close", id).Status)
	require.NotContains(t, w.Gateway("ls").Out, id)
}

// The process that serves the gateway ends with its program. It passes the ended programs' output
// on to the process that takes over.
func TestEndedProgramsOutliveTheirGateway(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(80, 24)
	s.Run(`proxy --agent bash -c "seq -f 'row %g' 300; read -r; exit 4"`)
	s.Wait("row 300")
	id := w.Session()
	a := w.Agent("claude", world.Eras[1])
	earlier, _ := a.RunProgram(world.Args{"program": "seq", "args": []string{"100"}, "wait_for": "exit"}, "exited 0")
	a.MustCall("terminal_read", world.Args{"terminal": id}, "row 300")
	s.Press("Enter")
	require.Equal(t, 4, s.Status())
	w.Until(func() bool { return len(w.Sessions()) == 2 }, func() string { return w.Gateway("ls").Out })
	a.MustCall("terminal_read", world.Args{"terminal": id, "view": "history", "start": 0, "lines": 2}, "row 1\nrow 2\n", "exited 4")
	a.MustCall("terminal_read", world.Args{"terminal": earlier, "view": "history", "match": "^17$"}, "16: 17")
	a.MustCall("terminal_close", world.Args{"terminal": earlier}, "no longer kept")
}

// A program's output survives when no client is connected at its end, and when the serving process
// is killed.
func TestEndedProgramsOutliveTheServingProcess(t *testing.T) {
	w := world.New(t)
	dir, err := os.MkdirTemp("/dev/shm", "e2e") //nolint:usetesting // in memory
	if err != nil {
		t.Skip("no tmpfs at /dev/shm")
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	w.Env = append(w.Env, "TERMINALPROXY_DIR="+dir)
	got := w.Gateway("run", "--", "bash", "-c", "seq -f 'row %g' 300; exit 3")
	require.Equal(t, 3, got.Status, got.Err)
	id := strings.TrimSpace(got.Out)
	require.Contains(t, w.MustGateway("ls"), "exited 3")
	require.Contains(t, w.MustGateway("read", id, "--match", "^row 17$"), "16: row 17")

	a := w.Agent("claude", world.Eras[1])
	a.MustCall("terminal_read", world.Args{"terminal": id, "view": "history", "match": "^row 17$"}, "16: row 17")
	other, _ := a.RunProgram(world.Args{"program": "seq", "args": []string{"100"}, "wait_for": "exit"}, "exited 0")
	w.Until(func() bool {
		files, _ := filepath.Glob(filepath.Join(dir, "ended", "*"))
		return len(files) == 2 && filepath.Ext(files[0]) != ".new" && filepath.Ext(files[1]) != ".new" // a file still being written
	}, func() string { return "it is not kept" })
	require.NoError(t, a.Cmd.Process.Kill())
	require.Contains(t, w.MustGateway("read", other, "--match", "^17$"), "16: 17")
	w.MustGateway("close", other)
	w.MustGateway("close", id)
	require.NoDirExists(t, filepath.Join(dir, "ended"))
	require.Equal(t, 5, w.Gateway("ls").Status, "nothing runs, and nothing is kept")
}

// TestASearchFindsALineThatWraps: on the screen, in the history and after the program's end.
func TestASearchFindsALineThatWraps(t *testing.T) {
	const line = "the value of an option that is not known, and more words about it than have room in one row: end"
	w := world.New(t)
	w.Agent("claude", world.Eras[1]).MustCall("terminal_list", nil) // serves the gateway, also after the program
	for cols := 20; cols <= 22; cols++ {
		s := w.Terminal(cols, 24)
		s.Run(`proxy --agent bash -c "echo ` + line + `; read -r; seq 300; read -r"`)
		id := w.Session()
		w.MustGateway("wait", id, "--waiting") // the terminal shows the words in the command line, too
		found := func() {
			t.Helper()
			got := w.MustGateway("read", id, "--match", "option that is not known, and more words")
			require.Contains(t, got, "1 line matches:\n0: "+line+"\n")
		}
		found()
		s.Press("Enter")
		s.Wait("\n300\n")
		found()
		s.Press("Enter")
		require.Zero(t, s.Status())
		found()
		w.MustGateway("close", id)
	}
}
