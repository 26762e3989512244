package agents_test

import (
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// The receipt distinguishes a program that ignores a key, one that has not read it, and one that
// reacts. The program reads nothing until the file go exists, then ignores keys, then echoes them.
func TestTheReceiptSaysWhetherTheScreenReacted(t *testing.T) {
	const still, unread = "the screen did not react", "the program has not read its input yet"
	w, a := world.NewAgent(t)
	const deaf = `stty raw -echo; echo ready; until [ -e go ]; do sleep 0.05; done; listener got; stty sane; echo echoes; exec cat`
	a.RunProgram(world.Args{"program": "sh", "args": []string{"-c", deaf}, "cwd": w.Dir, "wait_for": "text", "value": "ready"}, "matched")
	a.MustCall("terminal_send", lineOf("hello"), still+": "+unread+" (6 bytes)\n")
	got := a.MustCall("terminal_send", world.Args{"keys": []string{"x"}, "wait_for": "changed", "timeout_ms": 300}, "no match")
	require.Contains(t, got, still)
	w.Write("go", "")
	a.MustCall("terminal_wait", world.Args{"for": "text", "value": "listening"}, "matched")
	w.WaitContent("got", "hello\rx")
	require.NotContains(t, a.MustCall("terminal_send", textOf("x"), still), unread, "it reads, and shows nothing")
	a.MustCall("terminal_send", world.Args{"keys": []string{"ctrl-d"}, "wait_for": "text", "value": "echoes"}, "matched")
	require.NotContains(t, a.MustCall("terminal_send", textOf("abc")), still)
}
