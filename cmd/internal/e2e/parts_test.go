package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// Several lines reach a program that takes a paste as one text, and a program that reads line by
// line.
func TestSeveralLinesAndEnter(t *testing.T) {
	w := newWorld(t, "bash", "python3", "vim")
	w.write("rc", "PS1='$ '\n")
	a := w.agent("claude", eras[1])
	for _, c := range []struct {
		name, program string
		args          []string
		ready         string
		send          args
		shown         string
	}{
		{
			"a heredoc in bash", "bash",
			[]string{"--noprofile", "--rcfile", w.path("rc"), "-i"},
			"$",
			args{"text": "cat <<E | tr a-z A-Z\nheredoc\nE\n"},
			"HEREDOC",
		},
		{
			"a function in python, which reads line by line", "env",
			[]string{"PYTHON_BASIC_REPL=1", "TERM=dumb", "python3", "-q"},
			">>>",
			args{"text": "def f():\n return 6*7\n\nf()\n"},
			"42",
		},
		{"lines that the kernel collects", "tr", []string{"a-z", "A-Z"}, "", args{"text": "one\ntwo\n"}, "TWO"},
		{
			"a script that asks twice", "sh",
			[]string{"-c", "read a; read b; echo $b $a; exec cat"},
			"",
			args{"text": "two\n", "keys": []string{"o", "n", "e", "enter"}},
			"one two",
		},
		{
			"an editor", "vim",
			[]string{"-N", "-u", "NONE", "-n", "notes.txt"},
			"[New]",
			args{"text": "ihello", "keys": []string{"esc", ":", "w", "enter"}},
			"written",
		},
	} {
		t.Run(c.name, func(*testing.T) {
			with := args{"program": c.program, "args": c.args, "cwd": w.dir}
			if with["wait_for"] = "waiting"; c.ready != "" {
				with["wait_for"], with["value"] = "text", c.ready
			}
			id, _ := a.runProgram(with)
			c.send["terminal"], c.send["wait_for"], c.send["value"] = id, "regex", "^"+c.shown+"$|"+c.shown+"$"
			a.mustCall("terminal_send", c.send, "matched\n")
			a.mustCall("terminal_close", args{"terminal": id, "force": true})
		})
	}
	require.Equal(t, "hello\n", w.content("notes.txt"))
	id, _ := a.runProgram(args{"program": "bash", "args": []string{"--noprofile", "--rcfile", w.path("rc"), "-i"}, "cwd": w.dir, "wait_for": "text", "value": "$"})
	a.mustCall("terminal_send", args{"terminal": id, "text": "touch not\ntouch yet"}, "text, as a paste (19 bytes), not submitted")
	a.mustCall("terminal_close", args{"terminal": id, "force": true})
	require.NoFileExists(t, w.path("not"))
}

// An input is typed once, however often it is sent under its id, and even if its first sender has
// left.
func TestPartsAreTypedOnce(t *testing.T) {
	w, s, c, at := newTypingCaller(t)
	body := `{"requestId":"same","parts":[{"kind":"text","data":"once"},{"kind":"keys","data":"left"},{"kind":"keys","data":"enter"}],"settleMs":50}`
	ctx, leave := context.WithCancel(w.ctx)
	left := make(chan error, 1)
	go func() { // ends when the caller leaves
		resp, err := c.ask(ctx, "POST", at+"/input", body)
		if err == nil {
			_ = resp.Body.Close()
		}
		left <- err
	}()
	w.waitHeard("got", "once")
	leave()
	if err := <-left; err != nil { // the answer may have been faster
		require.ErrorIs(t, err, context.Canceled)
	}
	const whole = "once\x1b[D\r"
	again := func() string { // the answer to the input that was typed, up to where it stopped
		resp := c.request("POST", at+"/input", body)
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		got := reply[struct {
			protocol.InputResult
			Result *protocol.InputResult `json:"result"`
		}](t, string(answer))
		if resp.StatusCode == http.StatusConflict { // the caller had left before it was over
			require.NotNil(t, got.Result, "%s", answer)
			got.InputResult = *got.Result
			require.Equal(t, protocol.CodeWithdrawn, got.Reason)
		} else {
			require.Equal(t, http.StatusOK, resp.StatusCode, "%s", answer)
			require.Equal(t, protocol.StatusWritten, got.Status)
		}
		require.Equal(t, len(whole), got.WrittenBytes+got.DroppedBytes)
		return whole[:got.WrittenBytes]
	}
	typed := again()
	require.Contains(t, typed, "once")
	require.Equal(t, typed, again())
	c.do("POST", at+"/input", strings.Replace(body, "left", "right", 1), 400)
	require.Equal(t, typed, w.content("got"))
	c.do("POST", at+"/input", `{"data":"x","parts":[{"data":"y"}]}`, 400)
	s.press("C-d")
	require.Zero(t, s.status())
	c.client.CloseIdleConnections()
}

// If every part needs the user, under level type, the user answers once. Parts that only edit the
// line stand on it when the question about Enter appears. A refusal leaves them there, and the
// receipt says so.
func TestOneQuestionForAllParts(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	s.runListener("--agent --grant type")
	w.session()
	a := w.agent("codex", eras[1])
	a.mustCall("terminal_request_control", args{"reason": "type", "level": "type"}, "granted")
	sending := a.startCall("terminal_send", args{"text": "free", "keys": []string{"left"}, "enter": true})
	s.wait(`“codex” wants to send "free"<Left><Enter>`)
	require.NotContains(t, w.content("heard"), "free")
	s.releaseHeld("C-g")
	got := w.waitAnswer(sending)
	require.False(t, got.fails, got.text)
	require.Contains(t, w.content("heard"), "free\x1b[D\r")
	sending = a.startCall("terminal_send", args{"text": "never", "enter": true})
	s.wait(`"never"<Enter>`)
	s.press(`C-\`)
	got = w.waitAnswer(sending)
	require.True(t, got.fails)
	require.Contains(t, got.text, "the user did not let ")
	require.Contains(t, got.text, "typed: nothing\nnot typed: text (5 bytes): refused")
	s.quitProgram("\x04")
	require.NotContains(t, w.content("heard"), "never")
}

// Everything before a secret prompt is typed, and nothing after it.
func TestAPasswordEndsAnInput(t *testing.T) {
	w := newWorld(t, "bash")
	w.write("rc", "PS1='$ '\n")
	s := w.terminal(80, 24)
	s.run("proxy --agent --grant drive bash --noprofile --rcfile rc -i")
	s.wait("$")
	at := "/v1/sessions/" + w.session()
	c := w.caller()
	c.do("POST", at+"/control/request", `{"level":"drive","reason":"log in"}`, 200)
	var got struct {
		Result protocol.InputResult `json:"result"`
	}
	resp := c.request("POST", at+"/input", `{"parts":[{"kind":"text","data":"stty -echo; read pass"},{"kind":"keys","data":"enter"},{"kind":"text","data":"hunter2"}],"timeoutMs":15000}`)
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&got))
	require.NoError(t, resp.Body.Close())
	require.NotEqual(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, protocol.StatusDropped, got.Result.Status)
	require.Equal(t, protocol.CodeSecretPrompt, got.Result.Reason)
	require.Equal(t, []int{21, 1, 0}, []int{got.Result.Parts[0].WrittenBytes, got.Result.Parts[1].WrittenBytes, got.Result.Parts[2].WrittenBytes})
	s.close()
	c.client.CloseIdleConnections()
}

// Whenever the reclaim key comes, the receipt states exactly the bytes that the program has.
func TestNothingFollowsTheReclaimKeyBetweenParts(t *testing.T) {
	w := newWorld(t)
	for round := range 4 {
		s := w.terminal(80, 24)
		name := fmt.Sprint("heard", round)
		s.run("proxy --agent --grant drive listener " + name)
		s.wait("listening")
		a := w.agent("claude", eras[1])
		a.mustCall("terminal_request_control", args{"reason": "type"}, "granted")
		sending := a.startCall("terminal_send", args{"text": "abc", "keys": []string{"x", "enter"}, "enter": true})
		for range round {
			w.waitHeard(name, "abcx?") // up to where it has come
		}
		s.press(`C-\`)
		got := w.waitAnswer(sending).text
		heard := w.content(name)
		s.quitProgram("\x04")
		require.Equal(t, heard+"\x04", w.content(name), "nothing came after the receipt")
		for part, bytes := range map[string]string{"text (3 bytes)": "abc", "keys x enter": "abcx\r", "Enter": "abcx\r\r"} {
			require.Equal(t, regexp.MustCompile("(?m)^typed: .*"+regexp.QuoteMeta(part)).MatchString(got), strings.HasPrefix(heard, bytes), "%q\n%s", heard, got)
		}
	}
}
