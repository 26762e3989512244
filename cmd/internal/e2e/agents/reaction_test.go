package agents_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// deafRaw makes the terminal raw, and reads nothing until the file go exists.
const deafRaw = `stty raw -echo; echo ready; until [ -e go ]; do sleep 0.05; done; exec listener got`

// The receipt distinguishes a program that ignores a key, one that has not read it, and one that
// reacts.
func TestTheReceiptSaysWhetherTheScreenReacted(t *testing.T) {
	const still, unread = "the screen did not react", "the program has not read its input yet"
	w, a := world.NewAgent(t, "vim")
	id, _ := a.RunProgram(world.Args{"program": "sh", "args": []string{"-c", deafRaw}, "cwd": w.Dir, "wait_for": "text", "value": "ready"}, "matched")
	a.MustCall("terminal_send", world.Args{"text": "hello", "enter": true}, still+": "+unread+" (6 bytes)\n")
	got := a.MustCall("terminal_send", world.Args{"keys": []string{"up"}, "wait_for": "changed", "timeout_ms": 300}, "no match")
	require.Contains(t, got, still)
	w.Write("go", "")
	a.MustCall("terminal_wait", world.Args{"for": "text", "value": "listening"}, "matched")
	require.NotContains(t, a.MustCall("terminal_send", world.Args{"text": "x"}, still), unread, "it reads, and shows nothing")
	a.MustCall("terminal_close", world.Args{"terminal": id, "force": true})

	// A shell runs a program that does not read: the kernel echoes the keys.
	id, _ = a.RunProgram(world.Args{"program": "sh", "args": []string{"-c", "echo ready; until [ -e done ]; do sleep 0.05; done; exec cat"}, "cwd": w.Dir, "wait_for": "text", "value": "ready"}, "matched")
	require.NotContains(t, a.MustCall("terminal_send", world.Args{"terminal": id, "text": "ls", "enter": true}, unread+" (3 bytes)"), still)
	w.Write("done", "")
	a.MustCall("terminal_close", world.Args{"terminal": id})

	r := w.Start("gateway", "run", "--", "vim", "-N", "-u", "NONE", "-n", "notes.txt")
	var vim string
	t.Cleanup(func() { w.Gateway("close", vim, "--force"); r.Wait() })
	w.Until(func() bool {
		for _, s := range w.Sessions() {
			if strings.HasPrefix(s.SessionID, "vim-") {
				vim = s.SessionID
			}
		}
		return vim != ""
	}, func() string { return "no vim" })
	w.MustGateway("wait", vim, "--text", "[New]")
	require.NotContains(t, w.MustGateway("send", vim, "i"), still)
	require.NotContains(t, w.MustGateway("send", vim, "--text", "abc"), still)
	require.NotContains(t, w.MustGateway("send", vim, "left"), still, "the cursor is part of the screen")
	w.MustGateway("send", vim, "esc", "0")
	// The first half of a command: Vim may hide the cursor for a moment.
	require.Regexp(t, `^the screen (did not react|looks as before)\n`, w.MustGateway("send", vim, "z"))
	moved := world.Reply[struct {
		protocol.InputResult
		Reacted *bool `json:"reacted"`
	}](t, w.MustGateway("send", vim, "--json", "z", "0"))
	require.NotNil(t, moved.Reacted)
	require.Equal(t, moved.Seq > moved.FromSeq, *moved.Reacted)
	require.NotZero(t, moved.FromSeq)
}

// An id is repeated at the same time and later, over another connection. With another text it is
// refused.
func TestAnIDOverHTTPIsTypedOnce(t *testing.T) {
	w, s, c, at := newTypingCaller(t)
	var mu sync.Mutex
	ids := map[string]bool{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { // ends with the answer
			got := world.Reply[protocol.InputResult](t, c.Do("POST", at+"/input", `{"requestId":"same","data":"once ","kind":"text","settleMs":50}`, 200))
			mu.Lock()
			defer mu.Unlock()
			ids[string(got.Status)+" "+strconv.Itoa(got.WrittenBytes)] = true
		})
	}
	wg.Wait()
	require.Equal(t, map[string]bool{"written 5": true}, ids)
	c.Client.CloseIdleConnections()
	again, err := json.Marshal(world.Args{"requestId": "same", "data": "once ", "kind": "text"})
	require.NoError(t, err)
	require.Equal(t, 5, world.Reply[protocol.InputResult](t, c.Do("POST", at+"/input", string(again), 200)).WrittenBytes)
	c.Do("POST", at+"/input", `{"requestId":"same","data":"something else","kind":"text"}`, 400)
	c.Do("POST", at+"/input", `{"requestId":"other","data":"twice\r\nmore\n","kind":"text"}`, 200)
	w.Until(func() bool { return strings.HasSuffix(w.Content("got"), "more\r") }, func() string { return w.Content("got") })
	require.Equal(t, "once twice\rmore\r", w.Content("got"), "an end of a line is one Enter")
	s.Press("C-d")
	require.Zero(t, s.Status())
	c.Client.CloseIdleConnections()
}
