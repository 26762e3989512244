package agents_test

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// awaitFile returns a command line for a shell that makes one file and waits for another.
func awaitFile(makes, awaits string) string {
	return "touch " + makes + "; until [ -e " + awaits + " ]; do sleep .05; done"
}

// aheadCase types a line while the program is busy.
type aheadCase struct {
	run   []string
	cols  string // of the terminal, "" for 100
	ready string // the program's prompt
	busy  string // makes the file busy, and ends with the file go; "" if the program does so itself
	typed string // makes the file started once it is read, and ends with the file after
	until string // "text=DONE" if empty
	line  string // meets it, "DONE" if empty
}

// A line typed ahead is shown when it is typed, and again by the program's line editor. Neither
// echo meets a wait; what the line does, meets it.
func TestTheSecondEchoOfALineTypedAhead(t *testing.T) {
	t.Parallel()
	const python = "open('%','w').close(); [time.sleep(.05) for _ in iter(lambda: os.path.exists('&'), True)]"
	py := func(makes, awaits string) string {
		return strings.NewReplacer("%", makes, "&", awaits).Replace(python)
	}
	busy, work := awaitFile("busy", "go"), awaitFile("started", "after")
	done := work + "; echo DONE"
	bash := []string{"bash", "--noprofile", "--rcfile", "rc", "-i"}
	zsh := []string{"env", "PS1=%% ", "zsh", "-f", "-i"}
	fish := []string{"fish", "--no-config", "-C", "function fish_prompt; echo '> '; end"}
	script := func(body string) []string { return []string{"bash", "-c", busy + "; " + body} }
	for name, c := range map[string]aheadCase{
		"bash, regex":           {run: bash, ready: "$", busy: busy, typed: done, until: "regex=.*(DONE|FAILED)"},
		"bash, wrapped":         {run: bash, cols: "30", ready: "$", busy: busy, typed: done},
		"bash, a loop":          {run: bash, ready: "$", busy: busy, typed: "for i in 1; do\n" + work + "\necho DONE\ndone"},
		"bash, no echo":         {run: bash, ready: "$", busy: "stty -icanon -echo; " + busy + "; stty icanon echo", typed: done},
		"bash, a row begun":     {run: bash, ready: "$", busy: "printf 45%%; " + busy, typed: done},
		"bash, set -v":          {run: bash, ready: "$", busy: "set -v; bash -c '" + busy + "'", typed: done},
		"dash":                  {run: []string{"env", "PS1=$ ", "dash", "-i"}, ready: "$", busy: busy, typed: done, line: "$ DONE"},
		"zsh, right prompt":     {run: []string{"env", "PS1=%% ", "RPS1=12:30", "zsh", "-f", "-i"}, ready: "%", busy: busy, typed: done},
		"zsh, wide at the edge": {run: zsh, cols: "30", ready: "%", busy: busy, typed: "true ab" + strings.Repeat("世", 40) + "; " + done},
		"fish, wrapped often":   {run: fish, cols: "17", ready: ">", busy: "bash -c '" + busy + "'", typed: "bash -c '" + work + "'; echo DONE"},
		"python": {
			run: []string{"python3", "-q", "-i", "-c", "import os, time"}, ready: ">>>",
			busy: py("busy", "go"), typed: py("started", "after") + "; print('DONE')",
		},
		"gdb, wrapped": {run: []string{"gdb", "-q", "-nx"}, cols: "30", ready: "(gdb)", busy: "shell " + busy, typed: "shell " + done},
		"sqlite3":      {run: []string{"sqlite3"}, ready: "sqlite>", busy: ".shell " + busy, typed: ".shell " + done},

		// What a program prints is no echo, though it holds the typed text.
		"cat": {run: script("touch started; exec cat"), typed: "DONE"},
		"a question that repeats the answer": {
			run: script("read -p 'name: ' x; " + work + "; echo hello $x; read y"), typed: "DONE", line: "name: hello DONE",
		},
		"a program that names itself": {
			run: bash, ready: "$", busy: busy, typed: "./serve", until: "text=serve", line: "./serve: ready",
		},
	} {
		t.Run(name, func(t *testing.T) {
			at := slices.IndexFunc(c.run, func(word string) bool { return word != "env" && !strings.Contains(word, "=") })
			w := world.New(t, c.run[at])
			w.Write("rc", "PS1='$ '\n")
			w.WriteScript("serve", "#!/bin/sh\n"+work+"\necho ./serve: ready\nexec sleep 1000\n")
			sendAhead(w, c)
		})
	}
}

// awaitBusy waits until the program has made a file.
func awaitBusy(w *world.World, id, file string) {
	w.T.Helper()
	w.Until(func() bool {
		_, err := os.Stat(w.Path(file))
		return err == nil
	}, func() string { return w.MustGateway("read", id) })
}

// sendAhead types the line of a case ahead, and checks what meets the wait after it.
func sendAhead(w *world.World, c aheadCase) {
	run := w.Start("gateway", append([]string{"run", "--cols", cmp.Or(c.cols, "100"), "--rows", "24", "--"}, c.run...)...)
	id := w.Session()
	w.T.Cleanup(func() { w.Gateway("close", id); run.Wait() })
	if c.busy != "" {
		w.MustGateway("wait", id, "--text", c.ready, "--timeout", "5m")
		w.MustGateway("wait", id, "--waiting", "--timeout", "5m")
		w.MustGateway("send", id, "--text", c.busy, "--enter", "--until", "changed")
	}
	awaitBusy(w, id, "busy")
	sending := w.Start("gateway", "send", id, "--json", "--text", c.typed, "--enter", "--until", cmp.Or(c.until, "text=DONE"), "--timeout", "5m")
	w.Until(func() bool { // everything is typed, and the program has not read a byte
		got := world.Reply[struct{ Frame protocol.Frame }](w.T, w.MustGateway("read", id, "--json"))
		return got.Frame.Activity != nil && got.Frame.Activity.UnreadBytes == len(c.typed)+1
	}, func() string { return w.MustGateway("read", id) })
	w.Write("go", "")
	awaitBusy(w, id, "started")
	w.Write("after", "")
	sent := sending.Wait()
	require.Zero(w.T, sent.Status, "%s\n%s", sent.Err, w.MustGateway("read", id))
	got := world.Reply[struct{ Wait *protocol.WaitResult }](w.T, sent.Out)
	require.True(w.T, got.Wait.Met)
	require.Equal(w.T, cmp.Or(c.line, "DONE"), got.Wait.Line)
}
