package e2e_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// deafRaw makes the terminal raw, and reads nothing until the file go exists.
const deafRaw = `stty raw -echo; echo ready; until [ -e go ]; do sleep 0.05; done; exec listener got`

// The receipt distinguishes a program that ignores a key, one that has not read it, and one that
// reacts.
func TestTheReceiptSaysWhetherTheScreenReacted(t *testing.T) {
	const still, unread = "the screen did not react", "the program has not read its input yet"
	w, a := newAgent(t, "vim")
	id, _ := a.runProgram(args{"program": "sh", "args": []string{"-c", deafRaw}, "cwd": w.dir, "wait_for": "text", "value": "ready"}, "matched")
	a.mustCall("terminal_send", args{"text": "hello", "enter": true}, still+": "+unread+" (6 bytes)\n")
	got := a.mustCall("terminal_send", args{"keys": []string{"up"}, "wait_for": "changed", "timeout_ms": 300}, "no match")
	require.Contains(t, got, still)
	w.write("go", "")
	a.mustCall("terminal_wait", args{"for": "text", "value": "listening"}, "matched")
	require.NotContains(t, a.mustCall("terminal_send", args{"text": "x"}, still), unread, "it reads, and shows nothing")
	a.mustCall("terminal_close", args{"terminal": id, "force": true})

	// A shell runs a program that does not read: the kernel itself echoes what is typed.
	id, _ = a.runProgram(args{"program": "sh", "args": []string{"-c", "echo ready; until [ -e done ]; do sleep 0.05; done; exec cat"}, "cwd": w.dir, "wait_for": "text", "value": "ready"}, "matched")
	require.NotContains(t, a.mustCall("terminal_send", args{"terminal": id, "text": "ls", "enter": true}, unread+" (3 bytes)"), still)
	w.write("done", "")
	a.mustCall("terminal_close", args{"terminal": id})

	r := w.start("gateway", "run", "--", "vim", "-N", "-u", "NONE", "-n", "notes.txt")
	var vim string
	t.Cleanup(func() { w.gateway("close", vim, "--force"); r.wait() })
	w.until(func() bool {
		for _, s := range w.sessions() {
			if strings.HasPrefix(s.SessionID, "vim-") {
				vim = s.SessionID
			}
		}
		return vim != ""
	}, func() string { return "no vim" })
	w.mustGateway("wait", vim, "--text", "[New]")
	require.NotContains(t, w.mustGateway("send", vim, "i"), still)
	require.NotContains(t, w.mustGateway("send", vim, "--text", "abc"), still)
	require.NotContains(t, w.mustGateway("send", vim, "left"), still, "the cursor is part of the screen")
	w.mustGateway("send", vim, "esc", "0")
	// The first half of a command: Vim may hide the cursor for a moment.
	require.Regexp(t, `^the screen (did not react|looks as before)\n`, w.mustGateway("send", vim, "z"))
	moved := reply[struct {
		protocol.InputResult
		Reacted *bool `json:"reacted"`
	}](t, w.mustGateway("send", vim, "--json", "z", "0"))
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
			got := reply[protocol.InputResult](t, c.do("POST", at+"/input", `{"requestId":"same","data":"once ","kind":"text","settleMs":50}`, 200))
			mu.Lock()
			defer mu.Unlock()
			ids[string(got.Status)+" "+strconv.Itoa(got.WrittenBytes)] = true
		})
	}
	wg.Wait()
	require.Equal(t, map[string]bool{"written 5": true}, ids)
	c.client.CloseIdleConnections()
	again, err := json.Marshal(args{"requestId": "same", "data": "once ", "kind": "text"})
	require.NoError(t, err)
	require.Equal(t, 5, reply[protocol.InputResult](t, c.do("POST", at+"/input", string(again), 200)).WrittenBytes)
	c.do("POST", at+"/input", `{"requestId":"same","data":"something else","kind":"text"}`, 400)
	c.do("POST", at+"/input", `{"requestId":"other","data":"twice\r\nmore\n","kind":"text"}`, 200)
	w.until(func() bool { return strings.HasSuffix(w.content("got"), "more\r") }, func() string { return w.content("got") })
	require.Equal(t, "once twice\rmore\r", w.content("got"), "an end of a line is one Enter")
	s.press("C-d")
	require.Zero(t, s.status())
	c.client.CloseIdleConnections()
}
