package e2e_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// Steps are typed one after another, each when the one before did what was expected of it. The
// answer names what met each of them, and what was not typed.
func TestSteps(t *testing.T) {
	w := newWorld(t, "bash", "python3", "vim")
	w.write("rc", "PS1='$ '\n")
	a := w.agent("claude", eras[1])
	step := func(text, until, value string) args {
		s := args{"text": text, "until": until}
		if value != "" {
			s["value"] = value
		}
		return s
	}
	bash := []string{"bash", "--noprofile", "--rcfile", w.path("rc"), "-i"}
	for _, c := range []struct {
		name  string
		run   []string
		ready string
		steps []args
		fails bool
		shows []string // in the answer
		lacks string
	}{
		{
			"all met", bash, "$",
			[]args{
				step("echo $((6*7))\n", "text", "42"),
				step("echo $((7*7))\n", "regex", "^4[89]$"),
				step("echo $((8*8))\n", "waiting", ""),
			},
			false,
			[]string{"step 1: 42\n", "step 2: 49\n", "step 3: $\n", "64"},
			"not typed",
		},
		{
			"text that does not come", bash, "$",
			[]args{step("echo a$((1+1))\n", "text", "no such text"), step("touch never\n", "waiting", "")},
			true,
			[]string{"step 1: no match: timeout", "typed: step 1: text (14 bytes), then Enter", "not typed: step 2: text (11 bytes): not sent", "a2"},
			"",
		},
		{
			"a stop pattern", bash, "$",
			[]args{
				{"text": "false || echo 'fail'ed\n", "until": "text", "value": "no such text", "stop": []string{"^failed"}},
				step("touch never\n", "waiting", ""),
			},
			true,
			[]string{`step 1: stop: "^failed"`, "not typed: step 2"},
			"",
		},
		{
			"the program ends", bash, "$",
			[]args{step("exit 3\n", "text", "no such text"), step("touch never\n", "waiting", "")},
			true,
			[]string{"the program ended", "not typed: step 2"},
			"",
		},
		{
			"a question for a secret", bash, "$",
			[]args{step("read -s x\n", "text", "no such text"), step("touch never\n", "waiting", "")},
			true,
			[]string{"password", "not typed: step 2"},
			"",
		},
		{
			"the last step is the end", bash, "$",
			[]args{step("echo b$((2+2))\n", "text", "b4"), step("exit 4\n", "exit", "")},
			false,
			[]string{"step 1: b4\n", "step 2: exit\n", "exited 4"},
			"not typed",
		},
		{
			"the last step is not met", bash, "$",
			[]args{step("echo c$((2+2))\n", "text", "c4"), step("echo d\n", "text", "no such text")},
			false,
			[]string{"step 1: c4\n", "no match: timeout"},
			"not typed",
		},
		{
			"a REPL",
			[]string{"env", "PYTHON_BASIC_REPL=1", "python3", "-q"},
			">>>",
			[]args{step("x = 6\n", "waiting", ""), step("print(x * 7)\n", "regex", "^42$")},
			false,
			[]string{"step 1: >>>\n", "step 2: 42\n"},
			"",
		},
		{
			"an editor",
			[]string{"vim", "-N", "-u", "NONE", "-n", "notes.txt"},
			"[New]",
			[]args{
				{"text": "ihello", "until": "text", "value": "hello"},
				{"keys": []string{"esc"}, "until": "idle", "value": "100ms"},
				{"text": ":wq\n", "until": "exit"},
			},
			false,
			[]string{"step 1: ", "step 2: quiet\n", "exited 0"},
			"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			id, _ := a.runProgram(args{"program": c.run[0], "args": c.run[1:], "cwd": w.dir, "wait_for": "text", "value": c.ready})
			got := a.call("terminal_send", args{"terminal": id, "steps": c.steps, "timeout_ms": stepTimeout(c.fails || c.name == "the last step is not met")})
			require.Equal(t, c.fails, got.fails, got.text)
			for _, part := range c.shows {
				require.Contains(t, got.text, part)
			}
			if c.lacks != "" {
				require.NotContains(t, got.text, c.lacks)
			}
		})
	}
	require.NoFileExists(t, w.path("never"))
	require.Equal(t, "hello\n", w.content("notes.txt"))
}

// stepTimeout is short where a step must not be met.
func stepTimeout(short bool) int {
	if short {
		return 2000
	}
	return 20_000
}

// Steps with a fault are refused before anything is typed, with the field and the way out.
func TestFaultyStepsAreNotTyped(t *testing.T) {
	w := newWorld(t)
	w.write("rc", "PS1='$ '\n")
	a := w.agent("claude", eras[1])
	id, _ := a.runProgram(args{"program": "bash", "args": []string{"--noprofile", "--rcfile", w.path("rc"), "-i"}, "cwd": w.dir, "wait_for": "text", "value": "$"})
	good := args{"text": "touch never\n", "until": "waiting"}
	many := make([]args, 100)
	for i := range many {
		many[i] = good
	}
	for want, steps := range map[string]any{
		"steps has 100 steps, the limit is 16: send the rest in another call":                  many,
		"steps, step 2: the regular expression does not compile":                               []args{good, {"text": "x", "until": "regex", "value": "("}},
		"steps, step 1: until is missing":                                                      []args{{"text": "touch never\n"}, good},
		"steps, step 2: nothing to type":                                                       []args{good, {"until": "waiting"}},
		"steps, step 1: until exit is for the last step":                                       []args{{"text": "touch never\n", "until": "exit"}, good},
		"steps, step 1: value belongs to until":                                                []args{{"text": "touch never\n", "value": "x"}, good},
		`steps: unknown field "wait_for": a step takes text, paste, keys, enter, until, value`: []args{{"text": "touch never\n", "wait_for": "waiting"}, good},
		"steps, step 1: until control is for a wait alone":                                     []args{{"text": "touch never\n", "until": "control"}, good},
	} {
		got := a.call("terminal_send", args{"terminal": id, "steps": steps})
		require.True(t, got.fails, want)
		require.Contains(t, got.text, want)
	}
	got := a.call("terminal_send", args{"terminal": id, "text": "x", "steps": []args{good}})
	require.Contains(t, got.text, "steps replaces text")
	got = a.call("terminal_send", args{"terminal": id, "steps": []args{good, good}, "expect_rev": 1})
	require.Contains(t, got.text, "not typed: step 1: text (11 bytes): refused")
	require.NoFileExists(t, w.path("never"))
}

// No later step is typed once the user takes the keyboard back, or types, between two steps. The
// answer says where the input ended.
func TestAPersonBetweenSteps(t *testing.T) {
	for _, c := range []struct{ name, keys, says string }{
		{"takes the keyboard back", `C-\`, "control ended while you typed"},
		{"types", "x", "the user typed meanwhile"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			s := w.terminal(100, 24)
			s.runListener("--agent --grant drive")
			w.session()
			a := w.agent("codex", eras[1])
			a.mustCall("terminal_request_control", args{"reason": "type"}, "granted")
			sending := a.startCall("terminal_send", args{"steps": []args{
				{"text": "one", "enter": true, "until": "text", "value": "no such text"},
				{"text": "two", "enter": true, "until": "idle"},
			}, "timeout_ms": 50_000})
			w.waitHeard("heard", "one\r")
			s.press(c.keys)
			got := w.waitAnswer(sending)
			require.True(t, got.fails, got.text)
			require.Contains(t, got.text, c.says)
			require.Contains(t, got.text, "typed: step 1: text (3 bytes), then Enter\nnot typed: step 2: text (3 bytes): not sent")
			require.NotContains(t, w.content("heard"), "two")
		})
	}
}

// Over HTTP the parts of an input are the steps; the receipt says what met each.
func TestStepsOverHTTP(t *testing.T) {
	_, s, c, at := newTypingCaller(t)
	body := `{"parts":[{"kind":"text","data":"one","until":{"quietMs":50}},{"kind":"text","data":"two","until":{"text":"two"}}],"timeoutMs":%d}`
	got := reply[protocol.InputResult](t, c.do("POST", at+"/input", fmt.Sprintf(body, 20_000), 200))
	require.True(t, got.Parts[0].Until.Met)
	require.Equal(t, "quiet", got.Parts[0].Until.Matched)
	require.Contains(t, c.do("POST", at+"/input", `{"parts":[{"data":"x","until":{"regex":"("}},{"data":"y"}]}`, 400), "parts.until.regex")
	require.Contains(t, c.do("POST", at+"/input", `{"parts":[{"data":"x","until":{"exit":true}},{"data":"y"}]}`, 400), "parts.until.exit")
	require.Contains(t, c.do("POST", at+"/input", `{"parts":[{"data":"x","until":{"text":"no such text"}},{"data":"y"}],"timeoutMs":100}`, 504), "after part 1")
	s.press("C-d")
	require.Zero(t, s.status())
	c.client.CloseIdleConnections()
}

// Under level type the user answers once, for all steps: the question shows them.
func TestOneQuestionForAllSteps(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	s.runListener("--agent --grant type")
	w.session()
	a := w.agent("codex", eras[1])
	a.mustCall("terminal_request_control", args{"reason": "type", "level": "type"}, "granted")
	steps := []args{{"text": "one", "enter": true, "until": "idle", "value": "100ms"}, {"text": "two", "enter": true, "until": "idle", "value": "100ms"}}
	sending := a.startCall("terminal_send", args{"steps": steps, "timeout_ms": 50_000})
	s.wait(`"one"<Enter>"two"<Enter>`)
	require.NotContains(t, w.content("heard"), "one")
	s.releaseHeld("C-g")
	got := w.waitAnswer(sending)
	require.False(t, got.fails, got.text)
	require.Contains(t, got.text, "step 1: quiet\nstep 2: quiet\n")
	require.Contains(t, w.content("heard"), "one\rtwo\r")
	sending = a.startCall("terminal_send", args{"steps": steps, "timeout_ms": 50_000})
	s.wait(`"one"<Enter>"two"<Enter>`)
	s.press(`C-\`)
	got = w.waitAnswer(sending)
	require.True(t, got.fails, got.text)
	require.Contains(t, got.text, "typed: nothing")
	require.NotContains(t, w.content("heard"), "two\rone")
}

// A caller who leaves between two steps has the rest not typed. The user who takes the keyboard
// back ends the wait after the last step.
func TestStepsEndWithTheirCaller(t *testing.T) {
	w, s, c, at := newTypingCaller(t)
	ctx, leave := context.WithCancel(w.ctx)
	left := make(chan error, 1)
	go func() { // ends when the caller leaves
		resp, err := c.ask(ctx, "POST", at+"/input", `{"requestId":"left","parts":[{"data":"one","until":{"text":"no such text"}},{"data":"two"}],"timeoutMs":60000}`)
		if err == nil {
			_ = resp.Body.Close()
		}
		left <- err
	}()
	w.waitHeard("got", "one")
	leave()
	require.ErrorIs(t, <-left, context.Canceled)
	c.do("POST", at+"/input", `{"data":"three"}`, 200)
	require.Equal(t, "onethree", w.content("got"))
	answer := make(chan string, 1)
	go func() { // ends with the keyboard
		answer <- c.do("POST", at+"/input", `{"parts":[{"data":"four","until":{"text":"no such text"}}],"timeoutMs":60000}`, 200)
	}()
	w.waitHeard("got", "four")
	s.press(`C-\`)
	got := reply[protocol.InputResult](t, <-answer)
	require.Equal(t, protocol.StatusWritten, got.Status)
	require.Equal(t, protocol.ReasonReclaimed, got.Ended)
	require.False(t, got.Parts[0].Until.Met)
	s.press("C-d")
	require.Zero(t, s.status())
	c.client.CloseIdleConnections()
}
