package agents_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// Several lines reach a program that takes a paste as one text, and a program that reads line by
// line.
func TestSeveralLinesAndEnter(t *testing.T) {
	w := world.New(t, "bash", "python3", "vim")
	w.Write("rc", "PS1='$ '\n")
	a := w.Agent("claude", world.Eras[1])
	for _, c := range []struct {
		name, program string
		args          []string
		ready         string
		send          world.Args
		shown         string
	}{
		{
			"a heredoc in bash", "bash",
			[]string{"--noprofile", "--rcfile", w.Path("rc"), "-i"},
			"$",
			world.Args{"text": "cat <<E | tr a-z A-Z\nheredoc\nE\n"},
			"HEREDOC",
		},
		{
			"a function in python, which reads line by line", "env",
			[]string{"PYTHON_BASIC_REPL=1", "TERM=dumb", "python3", "-q"},
			">>>",
			world.Args{"text": "def f():\n return 6*7\n\nf()\n"},
			"42",
		},
		{"lines that the kernel collects", "tr", []string{"a-z", "A-Z"}, "", world.Args{"text": "one\ntwo\n"}, "TWO"},
		{
			"a script that asks twice", "sh",
			[]string{"-c", "read a; read b; echo $b $a; exec cat"},
			"",
			world.Args{"text": "two\n", "keys": []string{"o", "n", "e", "enter"}},
			"one two",
		},
		{
			"an editor", "vim",
			[]string{"-N", "-u", "NONE", "-n", "notes.txt"},
			"[New]",
			world.Args{"text": "ihello", "keys": []string{"esc", ":", "w", "enter"}},
			"written",
		},
	} {
		t.Run(c.name, func(*testing.T) {
			with := world.Args{"program": c.program, "args": c.args, "cwd": w.Dir}
			if with["wait_for"] = "waiting"; c.ready != "" {
				with["wait_for"], with["value"] = "text", c.ready
			}
			id, _ := a.RunProgram(with)
			c.send["terminal"], c.send["wait_for"], c.send["value"] = id, "regex", "^"+c.shown+"$|"+c.shown+"$"
			a.MustCall("terminal_send", c.send, "matched\n")
			a.MustCall("terminal_close", world.Args{"terminal": id, "force": true})
		})
	}
	require.Equal(t, "hello\n", w.Content("notes.txt"))
	id, _ := a.RunProgram(world.Args{"program": "bash", "args": []string{"--noprofile", "--rcfile", w.Path("rc"), "-i"}, "cwd": w.Dir, "wait_for": "text", "value": "$"})
	a.MustCall("terminal_send", world.Args{"terminal": id, "text": "touch not\ntouch yet"}, "text, as a paste (19 bytes), not submitted")
	a.MustCall("terminal_close", world.Args{"terminal": id, "force": true})
	require.NoFileExists(t, w.Path("not"))
}

// An input is typed once, however often it is sent under its id, and even if its first sender has
// left.
func TestPartsAreTypedOnce(t *testing.T) {
	w, s, c, at := newTypingCaller(t)
	body := `{"requestId":"same","parts":[{"kind":"text","data":"once"},{"kind":"keys","data":"left"},{"kind":"keys","data":"enter"}],"settleMs":50}`
	ctx, leave := context.WithCancel(w.Ctx)
	left := make(chan error, 1)
	go func() { // ends when the caller leaves
		resp, err := c.Ask(ctx, "POST", at+"/input", body)
		if err == nil {
			_ = resp.Body.Close()
		}
		left <- err
	}()
	w.WaitHeard("got", "once")
	leave()
	if err := <-left; err != nil { // the answer may have been faster
		require.ErrorIs(t, err, context.Canceled)
	}
	const whole = "once\x1b[D\r"
	again := func() string { // the answer to the input that was typed, up to where it stopped
		resp := c.Request("POST", at+"/input", body)
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		got := world.Reply[struct {
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
	c.Do("POST", at+"/input", strings.Replace(body, "left", "right", 1), 400)
	w.WaitContent("got", typed)
	c.Do("POST", at+"/input", `{"data":"x","parts":[{"data":"y"}]}`, 400)
	s.Press("C-d")
	require.Zero(t, s.Status())
	c.Client.CloseIdleConnections()
}

// If every part needs the user, under level type, the user answers once. Parts that only edit the
// line stand on it when the question about Enter appears. A refusal leaves them there, and the
// receipt says so.
func TestOneQuestionForAllParts(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	s.RunListener("--agent --grant type")
	w.Session()
	a := w.Agent("codex", world.Eras[1])
	a.MustCall("terminal_request_control", world.Args{"reason": "type", "level": "type"}, "granted")
	sending := a.StartCall("terminal_send", world.Args{"text": "free", "keys": []string{"left"}, "enter": true})
	s.Wait(`“codex” wants to send "free"<Left><Enter>`)
	require.NotContains(t, w.Content("heard"), "free")
	s.ReleaseHeld("C-g")
	got := w.WaitAnswer(sending)
	require.False(t, got.Fails, got.Text)
	w.WaitContent("heard", "free\x1b[D\r")
	sending = a.StartCall("terminal_send", world.Args{"text": "never", "enter": true})
	s.Wait(`"never"<Enter>`)
	s.Press(`C-\`)
	got = w.WaitAnswer(sending)
	require.True(t, got.Fails)
	require.Contains(t, got.Text, "the user did not let ")
	require.Contains(t, got.Text, "typed: nothing\nnot typed: text (5 bytes): refused")
	s.QuitProgram("\x04")
	require.NotContains(t, w.Content("heard"), "never")
}

// Everything before a secret prompt is typed, and nothing after it.
func TestAPasswordEndsAnInput(t *testing.T) {
	w := world.New(t, "bash")
	w.Write("rc", "PS1='$ '\n")
	s := w.Terminal(80, 24)
	s.Run("proxy --agent --grant drive bash --noprofile --rcfile rc -i")
	s.Wait("$")
	at := "/v1/sessions/" + w.Session()
	c := w.Caller()
	c.Do("POST", at+"/control/request", `{"level":"drive","reason":"log in"}`, 200)
	var got struct {
		Result protocol.InputResult `json:"result"`
	}
	resp := c.Request("POST", at+"/input", `{"parts":[{"kind":"text","data":"stty -echo; read pass"},{"kind":"keys","data":"enter"},{"kind":"text","data":"hunter2"}],"timeoutMs":60000}`)
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&got))
	require.NoError(t, resp.Body.Close())
	require.NotEqual(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, protocol.StatusDropped, got.Result.Status)
	require.Equal(t, protocol.CodeSecretPrompt, got.Result.Reason)
	require.Equal(t, []int{21, 1, 0}, []int{got.Result.Parts[0].WrittenBytes, got.Result.Parts[1].WrittenBytes, got.Result.Parts[2].WrittenBytes})
	s.Close()
	c.Client.CloseIdleConnections()
}
