package agents_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// Steps are typed one after another, each when the one before did what was expected of it. The
// answer names what met each of them, and what was not typed.
func TestSteps(t *testing.T) {
	w := world.New(t, "bash", "python3", "vim")
	w.Write("rc", "PS1='$ '\n")
	a := w.Agent("claude", world.Eras[1])
	step := func(text, until, value string) world.Args {
		s := world.Args{"text": text, "until": until}
		if value != "" {
			s["value"] = value
		}
		return s
	}
	bash := []string{"bash", "--noprofile", "--rcfile", w.Path("rc"), "-i"}
	for _, c := range []struct {
		name  string
		run   []string
		ready string
		steps []world.Args
		fails bool
		shows []string // in the answer
		lacks string
	}{
		{
			"all met", bash, "$",
			[]world.Args{
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
			[]world.Args{step("echo a$((1+1))\n", "text", "no such text"), step("touch never\n", "waiting", "")},
			true,
			[]string{"step 1: no match: timeout", "typed: step 1: text (14 bytes), then Enter", "not typed: step 2: text (11 bytes): not sent", "a2"},
			"",
		},
		{
			"a stop pattern", bash, "$",
			[]world.Args{
				{"text": "false || echo 'fail'ed\n", "until": "text", "value": "no such text", "stop": []string{"^failed"}},
				step("touch never\n", "waiting", ""),
			},
			true,
			[]string{`step 1: stop: "^failed"`, "not typed: step 2"},
			"",
		},
		{
			"the program ends", bash, "$",
			[]world.Args{step("exit 3\n", "text", "no such text"), step("touch never\n", "waiting", "")},
			true,
			[]string{"the program ended", "not typed: step 2", "exited 3"},
			"keyboard: user",
		},
		{
			"a question for a secret", bash, "$",
			[]world.Args{step("read -s x\n", "text", "no such text"), step("touch never\n", "waiting", "")},
			true,
			[]string{"password", "not typed: step 2"},
			"",
		},
		{
			"the last step is the end", bash, "$",
			[]world.Args{step("echo b$((2+2))\n", "text", "b4"), step("exit 4\n", "exit", "")},
			false,
			[]string{"step 1: b4\n", "step 2: exit\n", "exited 4"},
			"not typed",
		},
		{
			"the last step is not met", bash, "$",
			[]world.Args{step("echo c$((2+2))\n", "text", "c4"), step("echo d\n", "text", "no such text")},
			false,
			[]string{"step 1: c4\n", "no match: timeout"},
			"not typed",
		},
		{
			"a REPL",
			[]string{"env", "PYTHON_BASIC_REPL=1", "python3", "-q"},
			">>>",
			[]world.Args{step("x = 6\n", "waiting", ""), step("print(x * 7)\n", "regex", "^42$")},
			false,
			[]string{"step 1: >>>\n", "step 2: 42\n"},
			"",
		},
		{
			"an editor",
			[]string{"vim", "-N", "-u", "NONE", "-n", "notes.txt"},
			"[New]",
			[]world.Args{
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
			id, _ := a.RunProgram(world.Args{"program": c.run[0], "args": c.run[1:], "cwd": w.Dir, "wait_for": "text", "value": c.ready})
			got := a.Call("terminal_send", world.Args{"terminal": id, "steps": c.steps, "timeout_ms": stepTimeout(c.fails || c.name == "the last step is not met")})
			require.Equal(t, c.fails, got.Fails, got.Text)
			for _, part := range c.shows {
				require.Contains(t, got.Text, part)
			}
			if c.lacks != "" {
				require.NotContains(t, got.Text, c.lacks)
			}
		})
	}
	require.NoFileExists(t, w.Path("never"))
	require.Equal(t, "hello\n", w.Content("notes.txt"))
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
	w := world.New(t)
	w.Write("rc", "PS1='$ '\n")
	a := w.Agent("claude", world.Eras[1])
	id, _ := a.RunProgram(world.Args{"program": "bash", "args": []string{"--noprofile", "--rcfile", w.Path("rc"), "-i"}, "cwd": w.Dir, "wait_for": "text", "value": "$"})
	good := world.Args{"text": "touch never\n", "until": "waiting"}
	many := make([]world.Args, 100)
	for i := range many {
		many[i] = good
	}
	for want, steps := range map[string]any{
		"steps has 100 steps, the limit is 16: send the rest in another call":                  many,
		"steps, step 2: the regular expression does not compile":                               []world.Args{good, {"text": "x", "until": "regex", "value": "("}},
		"steps, step 1: until is missing":                                                      []world.Args{{"text": "touch never\n"}, good},
		"steps, step 2: nothing to type":                                                       []world.Args{good, {"until": "waiting"}},
		"steps, step 1: until exit is for the last step":                                       []world.Args{{"text": "touch never\n", "until": "exit"}, good},
		"steps, step 1: value belongs to until":                                                []world.Args{{"text": "touch never\n", "value": "x"}, good},
		`steps: unknown field "wait_for": a step takes text, paste, keys, enter, until, value`: []world.Args{{"text": "touch never\n", "wait_for": "waiting"}, good},
		"steps, step 1: until control is for a wait alone":                                     []world.Args{{"text": "touch never\n", "until": "control"}, good},
	} {
		got := a.Call("terminal_send", world.Args{"terminal": id, "steps": steps})
		require.True(t, got.Fails, want)
		require.Contains(t, got.Text, want)
	}
	got := a.Call("terminal_send", world.Args{"terminal": id, "text": "x", "steps": []world.Args{good}})
	require.Contains(t, got.Text, "steps replaces text")
	got = a.Call("terminal_send", world.Args{"terminal": id, "steps": []world.Args{good, good}, "expect_rev": 1})
	require.Contains(t, got.Text, "not typed: step 1: text (11 bytes): refused")
	require.NoFileExists(t, w.Path("never"))
}

// A person takes the keyboard back, or types, between two parts of an input. No later part is typed,
// and the receipt names what the program has. The expected text of a step never comes: the agent
// waits there until the person has acted.
func TestReclaimBetweenPartsDropsTheRest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, key, says, receipt, heard string }{
		{
			"after a line", `C-\`, "control ended while you typed",
			"typed: step 1: text (3 bytes), then Enter\nnot typed: step 2: keys x enter: not sent; step 3: text (3 bytes): not sent", "one\r",
		},
		{
			"after keys", `C-\`, "control ended while you typed",
			"typed: step 1: text (3 bytes), then Enter, then step 2: keys x enter\nnot typed: step 3: text (3 bytes): not sent", "one\rx\r",
		},
		{
			"typing", "u", "the user typed meanwhile",
			"typed: step 1: text (3 bytes), then Enter\nnot typed: step 2: keys x enter: not sent; step 3: text (3 bytes): not sent", "one\ru",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, s, _ := world.StartListener(t, 100, 24, "--agent --grant drive")
			a := w.Agent("codex", world.Eras[1])
			a.MustCall("terminal_request_control", world.Args{"reason": "type"}, "granted")
			steps := []world.Args{
				{"text": "one", "enter": true, "until": "idle", "value": "10ms"},
				{"keys": []string{"x", "enter"}, "until": "text", "value": "no such text"},
				{"text": "two", "until": "idle"},
			}
			held := "one\rx\r"
			if !strings.HasPrefix(c.heard, held) {
				held, steps[0]["until"], steps[0]["value"] = "one\r", "text", "no such text"
			}
			sending := a.StartCall("terminal_send", world.Args{"steps": steps, "timeout_ms": 50_000})
			w.WaitContent("heard", held)
			s.Press(c.key)
			got := w.WaitAnswer(sending)
			require.True(t, got.Fails, got.Text)
			require.Contains(t, got.Text, c.says)
			require.Contains(t, got.Text, c.receipt)
			s.QuitProgram("\x04")
			require.Equal(t, c.heard+"\x04", w.Content("heard"))
		})
	}
}

// Over HTTP the parts of an input are the steps; the receipt says what met each.
func TestStepsOverHTTP(t *testing.T) {
	_, s, c, at := newTypingCaller(t)
	body := `{"parts":[{"kind":"text","data":"one","until":{"quietMs":50}},{"kind":"text","data":"two","until":{"text":"two"}}],"timeoutMs":%d}`
	got := world.Reply[protocol.InputResult](t, c.Do("POST", at+"/input", fmt.Sprintf(body, 20_000), 200))
	require.True(t, got.Parts[0].Until.Met)
	require.Equal(t, "quiet", got.Parts[0].Until.Matched)
	require.Contains(t, c.Do("POST", at+"/input", `{"parts":[{"data":"x","until":{"regex":"("}},{"data":"y"}]}`, 400), "parts.until.regex")
	require.Contains(t, c.Do("POST", at+"/input", `{"parts":[{"data":"x","until":{"exit":true}},{"data":"y"}]}`, 400), "parts.until.exit")
	require.Contains(t, c.Do("POST", at+"/input", `{"parts":[{"data":"x","until":{"text":"no such text"}},{"data":"y"}],"timeoutMs":100}`, 504), "after part 1")
	s.Press("C-d")
	require.Zero(t, s.Status())
	c.Client.CloseIdleConnections()
}

// Under level type the user answers once, for all steps: the question shows them.
func TestOneQuestionForAllSteps(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	s.RunListener("--agent --grant type")
	w.Session()
	a := w.Agent("codex", world.Eras[1])
	a.MustCall("terminal_request_control", world.Args{"reason": "type", "level": "type"}, "granted")
	steps := []world.Args{{"text": "one", "enter": true, "until": "idle", "value": "100ms"}, {"text": "two", "enter": true, "until": "idle", "value": "100ms"}}
	sending := a.StartCall("terminal_send", world.Args{"steps": steps, "timeout_ms": 50_000})
	s.Wait(`"one"<Enter>"two"<Enter>`)
	require.NotContains(t, w.Content("heard"), "one")
	s.ReleaseHeld("C-g")
	got := w.WaitAnswer(sending)
	require.False(t, got.Fails, got.Text)
	require.Contains(t, got.Text, "step 1: quiet\nstep 2: quiet\n")
	w.WaitContent("heard", "one\rtwo\r")
	sending = a.StartCall("terminal_send", world.Args{"steps": steps, "timeout_ms": 50_000})
	s.Wait(`"one"<Enter>"two"<Enter>`)
	s.Press(`C-\`)
	got = w.WaitAnswer(sending)
	require.True(t, got.Fails, got.Text)
	require.Contains(t, got.Text, "typed: nothing")
	require.NotContains(t, w.Content("heard"), "two\rone")
}

// A caller who leaves between two steps has the rest not typed. The user who takes the keyboard
// back ends the wait after the last step.
func TestStepsEndWithTheirCaller(t *testing.T) {
	w, s, c, at := newTypingCaller(t)
	ctx, leave := context.WithCancel(w.Ctx)
	left := make(chan error, 1)
	go func() { // ends when the caller leaves
		resp, err := c.Ask(ctx, "POST", at+"/input", `{"requestId":"left","parts":[{"data":"one","until":{"text":"no such text"}},{"data":"two"}],"timeoutMs":60000}`)
		if err == nil {
			_ = resp.Body.Close()
		}
		left <- err
	}()
	w.WaitHeard("got", "one")
	leave()
	require.ErrorIs(t, <-left, context.Canceled)
	c.Do("POST", at+"/input", `{"data":"three"}`, 200)
	w.WaitContent("got", "onethree")
	answer := make(chan string, 1)
	go func() { // ends with the keyboard
		answer <- c.Do("POST", at+"/input", `{"parts":[{"data":"four","until":{"text":"no such text"}}],"timeoutMs":60000}`, 200)
	}()
	w.WaitHeard("got", "four")
	s.Press(`C-\`)
	got := world.Reply[protocol.InputResult](t, <-answer)
	require.Equal(t, protocol.StatusWritten, got.Status)
	require.Equal(t, protocol.ReasonReclaimed, got.Ended)
	require.False(t, got.Parts[0].Until.Met)
	s.Press("C-d")
	require.Zero(t, s.Status())
	c.Client.CloseIdleConnections()
}
