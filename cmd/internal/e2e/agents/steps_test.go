package agents_test

import (
	"context"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// Steps are typed one after another, each when the one before did what was expected of it. The
// answer names what met each of them, and what was not typed.
func TestSteps(t *testing.T) {
	w, a := world.NewAgent(t, "bash", "vim")
	w.Write("rc", strings.Replace(marks, "marks>", "$", 1))
	step := func(text, until, value string) world.Args {
		s := world.Args{"text": text, "until": until}
		if value != "" {
			s["value"] = value
		}
		return s
	}
	const absent = "no such text"
	never := step("touch never\n", "waiting", "")
	for _, c := range []struct {
		name  string
		steps []world.Args
		limit int // ms
		fails bool
		shows []string // in the answer
	}{
		{
			"all met",
			[]world.Args{step("echo $((6*7))\n", "text", "42"), step("echo $((7*7))\n", "regex", "^4[89]$"), step("exit 4\n", "exit", "")},
			20_000, false,
			[]string{"step 1: 42\n", "step 2: 49\n", "step 3: exit\n", "exited 4"},
		},
		{
			"text that does not come",
			[]world.Args{step("echo a$((1+1))\n", "text", absent), never},
			500, true,
			[]string{"step 1: no match: timeout", "typed: step 1: text (14 bytes), then Enter", "not typed: step 2: text (11 bytes): not sent"},
		},
		{
			"a command that fails",
			[]world.Args{step("(exit 3)\n", "text", absent), never},
			200_000, true,
			[]string{"step 1: stop: waiting", "waiting (last exit 3)", "not typed: step 2"},
		},
		{
			"a stop pattern",
			[]world.Args{{"text": "false || echo 'fail'ed\n", "until": "text", "value": absent, "stop": []string{"^failed"}}, never},
			20_000, true,
			[]string{`step 1: stop: "^failed"`, "not typed: step 2"},
		},
		{"the program ends", []world.Args{step("exit 3\n", "text", absent), never}, 20_000, true, []string{"the program ended", "not typed: step 2", "exited 3"}},
		{"a question for a secret", []world.Args{step("read -s x\n", "text", absent), never}, 20_000, true, []string{"password", "not typed: step 2"}},
		{
			"an editor",
			[]world.Args{
				step("vim -N -u NONE -n notes.txt\n", "text", "[New]"), step("ihello", "text", "hello"),
				{"keys": []string{"esc"}, "until": "idle", "value": "100ms"},
				step(":wq\n", "waiting", ""),
			},
			20_000, false,
			[]string{"step 3: quiet\n", "step 4: "},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			id, _ := a.RunProgram(world.Args{"program": "bash", "args": []string{"--noprofile", "--rcfile", "rc", "-i"}, "cwd": w.Dir, "wait_for": "text", "value": "$"})
			got := a.Call("terminal_send", world.Args{"terminal": id, "steps": c.steps, "timeout_ms": c.limit})
			require.Equal(t, c.fails, got.Fails, got.Text)
			for _, part := range c.shows {
				require.Contains(t, got.Text, part)
			}
			require.Equal(t, c.fails, strings.Contains(got.Text, "not typed"))
		})
	}
	require.NoFileExists(t, w.Path("never"))
	require.Equal(t, "hello\n", w.Content("notes.txt"))
}

// Steps with a fault are refused before anything is typed, with the field and the way out.
func TestFaultyStepsAreNotTyped(t *testing.T) {
	w, a := world.NewAgent(t)
	a.RunProgram(world.Args{"program": "bash", "args": []string{"--norc", "-i"}, "cwd": w.Dir, "wait_for": "waiting"})
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
		`steps: unknown field "wait_for": a step takes text, paste, keys, enter, until, value`: []world.Args{{"text": "touch never\n", "wait_for": "waiting"}, good},
	} {
		a.MustFail("terminal_send", world.Args{"steps": steps}, want)
	}
	a.MustFail("terminal_send", world.Args{"text": "x", "steps": []world.Args{good}}, "steps replaces text")
	a.MustFail("terminal_send", world.Args{"steps": []world.Args{good, good}, "expect_rev": 1}, "not typed: step 1: text (11 bytes): refused")
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

// Under level type the user answers once, for all parts or steps of an input: the question shows
// them. A refusal types nothing, and the receipt says so.
func TestOneQuestionForAllParts(t *testing.T) {
	w, s, _ := world.StartListener(t, 100, 24, "--agent --grant type")
	a := w.Agent("codex", world.Eras[1])
	a.MustCall("terminal_request_control", world.Args{"reason": "type", "level": "type"}, "granted")
	line := world.Args{"text": "one", "enter": true, "until": "idle", "value": "100ms"}
	for _, c := range []struct {
		send         world.Args
		asked, heard string
	}{
		{world.Args{"text": "free", "keys": []string{"left"}, "enter": true}, `"free"<Left><Enter>`, "free\x1b[D\r"},
		{world.Args{"steps": []world.Args{line, line}}, `"one"<Enter>"one"<Enter>`, "one\rone\r"},
	} {
		before := w.Content("heard")
		sending := a.StartCall("terminal_send", c.send)
		s.Wait(`“codex” wants to send ` + c.asked)
		require.Equal(t, before, w.Content("heard"), "nothing of it is typed yet")
		s.ReleaseHeld("C-g")
		got := w.WaitAnswer(sending)
		require.False(t, got.Fails, got.Text)
		w.WaitContent("heard", before+c.heard)
	}
	before := w.Content("heard")
	sending := a.StartCall("terminal_send", lineOf("never"))
	s.Wait(`"never"<Enter>`)
	s.Press(`C-\`)
	got := w.WaitAnswer(sending)
	require.True(t, got.Fails)
	require.Contains(t, got.Text, "the user did not let ")
	require.Contains(t, got.Text, "typed: nothing\nnot typed: text (5 bytes): refused")
	s.QuitProgram("\x04")
	require.Equal(t, before+"\x04", w.Content("heard"))
}

// Over HTTP the parts of an input are the steps. A caller who leaves between two of them has the rest
// not typed. The user who takes the keyboard back ends the wait after the last step.
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
		answer <- c.Do("POST", at+"/input", `{"parts":[{"data":"x","until":{"quietMs":50}},{"data":"four","until":{"text":"no such text"}}],"timeoutMs":60000}`, 200)
	}()
	w.WaitHeard("got", "xfour")
	s.Press(`C-\`)
	got := world.Reply[protocol.InputResult](t, <-answer)
	require.Equal(t, protocol.StatusWritten, got.Status)
	require.Equal(t, protocol.ReasonReclaimed, got.Ended)
	require.Equal(t, "quiet", got.Parts[0].Until.Matched)
	require.False(t, got.Parts[1].Until.Met)
	require.Contains(t, c.Do("POST", at+"/input", `{"parts":[{"data":"x","until":{"regex":"("}},{"data":"y"}]}`, 400), "parts.until.regex")
	s.QuitProgram("\x04")
	c.Client.CloseIdleConnections()
}

// An input is typed once, however often it is sent under its id, at the same time and later, and over
// another connection. With another text it is refused.
func TestAnInputIsTypedOnce(t *testing.T) {
	w, s, c, at := newTypingCaller(t)
	body := `{"requestId":"same","parts":[{"kind":"text","data":"once"},{"kind":"keys","data":"left"},{"kind":"keys","data":"enter"}],"settleMs":50}`
	answers := make(chan string, 8)
	for range cap(answers) {
		go func() { answers <- c.Do("POST", at+"/input", body, 200) }() // ends with the answer
	}
	for range cap(answers) {
		require.Equal(t, 8, world.Reply[protocol.InputResult](t, <-answers).WrittenBytes)
	}
	c.Client.CloseIdleConnections()
	require.Equal(t, 8, world.Reply[protocol.InputResult](t, c.Do("POST", at+"/input", body, 200)).WrittenBytes)
	c.Do("POST", at+"/input", strings.Replace(body, "left", "right", 1), 400)
	c.Do("POST", at+"/input", `{"requestId":"other","data":"twice\r\nmore\n","kind":"text"}`, 200)
	w.WaitContent("got", "once\x1b[D\rtwice\rmore\r") // an end of a line is one Enter
	s.QuitProgram("\x04")
	c.Client.CloseIdleConnections()
}

// gateway send takes the steps from a file, and ends with the status of the step that failed.
func TestStepsFromAShell(t *testing.T) {
	w, s, id := world.StartListener(t, 80, 24, "--agent --grant drive")
	w.RequestGrant(id)
	w.Write("steps", `[{"text":"one\n","until":"idle","value":"50ms"},{"text":"two","until":"text","value":"no such text"},{"text":"three"}]`)
	w.Write("bad", `[{"text":"one","wait_for":"idle"}]`)
	w.Gateway("send", id, "--steps", w.Path("bad")).MustFail(t, 2, `unknown field "wait_for"`)
	w.Gateway("send", id, "--steps", w.Path("steps"), "--text", "x").MustFail(t, 2, "--steps cannot be used with --text")
	got := w.Gateway("send", id, "--steps", w.Path("steps"), "--timeout", "3s")
	got.MustFail(t, 124, "step 2: no match: timeout")
	require.Contains(t, got.Err, "not typed: step 3: text (5 bytes): not sent")
	require.Contains(t, got.Err, "step 1: quiet")
	w.WaitContent("heard", "one\rtwo")
	s.QuitProgram("\x04")
}
