package agents_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

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
	w, a := world.NewAgent(t)
	build := func(each string) []string { return []string{"-c", "read -r; " + fmt.Sprintf(failingBuild, each)} }

	t.Run("it is not waited out", func(t *testing.T) {
		id, _ := a.RunProgram(world.Args{"program": "bash", "args": build("[ $i != 200 ] || sleep 1000"), "wait_for": "waiting"})
		out := a.MustCall("terminal_send", world.Args{
			"terminal": id, "enter": true, "wait_for": "exit", "stop": []string{`\berror:`},
		}, `stop: "\\berror:"`)
		found := search(a, world.Args{"terminal": id, "view": "history", "match": `\berror:`, "context": 1},
			"1 line matches:\n", "59- cc -O2 -Wall -Iinclude -c src/unit59.c", "60: "+failure) // the typed empty line is line 0
		require.LessOrEqual(t, len(out)+len(found), most)
		a.MustCall("terminal_close", world.Args{"terminal": id, "force": true})
	})
	t.Run("from the command line", func(t *testing.T) {
		id, _ := a.RunProgram(world.Args{"program": "bash", "args": build(":"), "wait_for": "waiting"})
		waits := w.Start("gateway", "wait", id, "--text", "never", "--any", "no such", "--stop", `Error \d`, "--timeout", "5m")
		w.Caller().WaitPending(1)
		a.MustCall("terminal_send", world.Args{"terminal": id, "enter": true, "wait_for": "exit", "max_tokens": 200}, "exited 2")
		waits.Wait().MustFail(t, 1, `stopped by "Error \\d"`)
		got := w.MustGateway("read", id, "--match", "error:", "--context", "1")
		require.Contains(t, got, "60: "+failure)
		require.NotContains(t, got, "unit58.c")
		require.Contains(t, w.MustGateway("ls"), "exited 2")
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
	w, a := world.NewAgent(t)
	for _, c := range []struct{ script, wanted string }{
		{"seq -f 'row %g' 5000; kill -9 $$", "exited by SIGKILL"},
		{`seq -f 'row %g' 5000; printf '\033[?1049hfull screen'; exit 3`, "exited 3"},
	} {
		id, out := a.RunProgram(world.Args{"program": "bash", "args": []string{"-c", c.script}, "wait_for": "exit", "max_tokens": 500}, c.wanted, "of the history")
		require.NotContains(t, out, "full screen")
		a.MustCall("terminal_read", world.Args{"terminal": id, "view": "history", "start": 0, "lines": 2}, "row 1\nrow 2\n")
		search(a, world.Args{"terminal": id, "view": "history", "match": "^row 4321$"}, "4320: row 4321")
		search(a, world.Args{"terminal": id, "view": "history", "match": "^row 5001$"}, "no line matches")
		a.MustCall("terminal_wait", world.Args{"terminal": id, "for": "exit"}, c.wanted)
		a.MustFail("terminal_send", world.Args{"terminal": id, "text": "x"}, "what it printed can be read")
		a.MustCall("terminal_close", world.Args{"terminal": id}, "no longer kept")
	}

	s := w.Terminal(80, 24)
	s.Run(`proxy --agent bash -c "seq -f 'row %g' 300; read -r; echo last words"`)
	s.Wait("row 300")
	id := w.Session()
	s.Press("Enter")
	require.Zero(t, s.Status())
	a.MustCall("terminal_wait", world.Args{"terminal": id, "for": "exit"}, "exited 0", "row 1\n", "row 300\n", "last words")
	w.MustGateway("hide", id)
	a.MustFail("terminal_read", world.Args{"terminal": id, "view": "history", "match": "row 17"}, "the user hid the screen")
	w.MustGateway("close", id)
	require.NotContains(t, w.Gateway("ls").Out, id)
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
