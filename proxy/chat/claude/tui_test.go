package claude_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol/fake"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/claude"
)

func TestBesideItsInterface(t *testing.T) {
	u := beside(t)
	u.prompt("")
	u.passHook("SessionStart", `,"source":"startup"`)
	u.WaitForState(chat.AtPrompt)
	require.Equal(t, u.id, u.Conversation())
	u.screen.reacts = func(piece string) {
		switch {
		case strings.HasPrefix(piece, "\x1b[200~"):
			u.prompt("two\n  lines")
		case piece == "\r":
			u.prompt("")
			u.passHook("UserPromptSubmit", `,"prompt":"two\nlines"`)
			u.took <- struct{}{}
		}
	}
	require.NoError(t, u.Send("ada", "two\r\nlines\n"))
	u.Next("the text", func(r chat.Record) bool { return r.Item != nil && r.Item.Author == "ada" })
	fake.Receive(u.T, u.took, "the prompt")
	u.appendRecord(`{"type":"user","message":{"content":"two\nlines"}}` + "\n")
	u.appendRecord(`{"type":"api-request","message":{broken}` + "\n" + `{"message":{"content":[{"type":"text","text":"I look"}]},"ty`)
	u.appendRecord(`pe":"assistant"}` + "\n")
	u.WaitForItem(chat.Text, "I look")
	u.passHook("PreToolUse", bash+`,"tool_use_id":"t1"`)
	answer := u.askHook(bash)
	u.dialog("touch f1")
	r := u.OpenRequests()[0]
	require.Equal(t, "Bash", r.Tool)
	require.NoError(t, u.Answer(r.ID, "ada", chat.Answer{Verdict: chat.Once}))
	require.JSONEq(t, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"command":"touch f1"}}}}`,
		strings.TrimSuffix(fake.Receive(u.T, answer, "the answer"), " 0"))
	u.prompt("")
	u.appendRecord(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"done"}]}}` + "\n")
	u.WaitForItem(chat.ToolResult, "done")
	u.passHook("Stop", `,"stop_hook_active":false`)
	u.appendRecord(`{"type":"system","subtype":"turn_duration"}` + "\n")
	u.Next("the turn", func(r chat.Record) bool { return r.Turn != nil && r.Turn.Outcome == chat.Done })
	u.driver.NoteExit("", nil)
	u.WaitForState(chat.Ended)
	u.screen.mu.Lock()
	defer u.screen.mu.Unlock()
	require.Equal(t, []string{"\x1b[200~two\rlines\x1b[201~", "\r"}, u.screen.typed)
	all, _, err := u.Records(t.Context(), 0)
	require.NoError(t, err)
	for _, r := range all {
		require.False(t, r.Item != nil && (r.Item.Kind == chat.Notice || strings.Contains(r.Item.Author, "terminal")), "%+v", r.Item)
	}
}

// The record that 2.1.329 wrote, read in two halves twice: its content is reported in order.
func TestARecordOfClaudes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "transcript.jsonl"))
	require.NoError(t, err)
	u := atPrompt(t)
	u.appendRecord(string(text[:len(text)/2]))
	u.appendRecord(string(text[len(text)/2:]))
	u.WaitForItem(chat.Text, "third done")
	var got []string
	all, _, err := u.Records(t.Context(), 0)
	require.NoError(t, err)
	for _, r := range all {
		if i := r.Item; i != nil {
			got = append(got, fmt.Sprintf("%s %s %.30s%s", i.Author, i.Kind, strings.ReplaceAll(i.Text, "\n", " "), i.Tool))
		}
	}
	const you = "you, at the terminal user "
	require.Equal(t, []string{
		you + "go", "claude text I will look.", "claude tool call Bash", "claude tool result (Bash completed with no output", "claude text It said: (Bash completed with ",
		you + "again", "claude tool call Bash", "claude tool result (Bash completed with no output", "claude text second done",
		you + "third", "claude tool call AskUserQuestion", "claude tool result The user doesn't want to proce",
		you + "line 0 line 1 line 2 line 3 li", "claude text third done",
	}, got)
}

// A conversation that continues is read from near its end, however long it is, and /clear begins
// another one.
func TestALongRecord(t *testing.T) {
	u := beside(t)
	const size = 100 << 20
	require.NoError(t, os.WriteFile(u.record(), []byte(`{"type":"user","message":{"content":"the first"}}`+"\n"), 0o600))
	require.NoError(t, os.Truncate(u.record(), size)) // the rest of it is one line, which would be dropped with a notice
	u.appendRecord("\n" + `{"type":"user","message":{"content":"the last"}}` + "\n")
	u.passHook("SessionStart", `,"source":"resume"`)
	u.WaitForItem(chat.User, "the last")
	u.prompt("")
	u.WaitForState(chat.AtPrompt)
	old := u.id
	u.id = "11111111-e7be-4d2b-9712-84cdf9e4473b"
	u.appendRecord(`{"type":"user","message":{"content":"a new one"}}` + "\n")
	u.passHook("SessionStart", `,"source":"clear"`)
	u.WaitForNotice("began another conversation: " + u.id)
	u.WaitForItem(chat.User, "a new one")
	require.NotEqual(t, old, u.id)
	all, _, err := u.Records(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, u.id, u.Conversation())
	for _, r := range all {
		require.False(t, r.Item != nil && (r.Item.Text == "the first" || strings.Contains(r.Item.Text, "dropped")), "%+v", r.Item)
	}
}

func TestTypeOf(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"user"}`: "user",
		`{"a":{"type":"x"},"b":["type","y"],"type" : "z"}`: "z",
		`{"a":"type","b":"\",\"type\":\"x\"","type":"y"}`:  "y",
		`{"a":"\\","type":"y"`:                             "y",
		`{"type":7,"a":"b"}`:                               "",
		`["type","x"]`:                                     "",
		`garbage "type":"x"`:                               "",
		`{"a":"b`:                                          "",
	} {
		require.Equal(t, want, claude.TypeOf([]byte(line)), line)
	}
}

// However the driver notices that a dialog was answered at the terminal, it closes the request, and
// tells so to anyone who answers it afterwards.
func TestAnsweredAtTheTerminal(t *testing.T) {
	for name, answered := range map[string]func(u *tui){
		"a key":      func(u *tui) { u.driver.NoteKeys([]byte("1")) },
		"the prompt": func(u *tui) { u.prompt("") },
		"a result": func(u *tui) {
			u.appendRecord(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1"}]}}` + "\n")
		},
		"an interruption": func(u *tui) {
			u.appendRecord(`{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}` + "\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			u, answer := asking(t)
			id := u.OpenRequests()[0].ID
			u.waitSeen()
			answered(u)
			closed := u.Next("the end of the request", func(r chat.Record) bool { return r.Closed != nil })
			require.Empty(t, closed.Closed.By)
			require.ErrorContains(t, u.Answer(id, "ada", chat.Answer{Verdict: chat.Once}), closed.Closed.Why)
			require.Equal(t, " 1", fake.Receive(u.T, answer, "the answer"), "the hook decides nothing")
		})
	}
}

// waitSeen waits until the driver has seen what is drawn.
func (u *tui) waitSeen() {
	u.T.Helper()
	u.appendRecord(`{"type":"system","subtype":"compact_boundary"}` + "\n")
	u.WaitForNotice("shortened the conversation")
}

// A faulty hook allows nothing: it prints no answer, a tool is blocked, and a dialog stays with
// agents' keys held.
func TestNoHookFailsOpen(t *testing.T) {
	u, answer := asking(t)
	u.waitSeen()
	run := func(event, told string) (string, int) {
		var out, errs bytes.Buffer
		return out.String(), claude.RunHook(event, strings.NewReader(told), &out, &errs)
	}
	socket := os.Getenv("TERMINALPROXY_CHAT_SOCKET")
	for name, broken := range map[string]func(t *testing.T){
		"no session":  func(t *testing.T) { t.Helper(); t.Setenv("TERMINALPROXY_CHAT_SOCKET", "") },
		"it is gone":  func(t *testing.T) { t.Helper(); t.Setenv("TERMINALPROXY_CHAT_SOCKET", socket+"x") },
		"not its key": func(t *testing.T) { t.Helper(); t.Setenv("TERMINALPROXY_CHAT_KEY", "guessed") },
		"another one": func(t *testing.T) { t.Helper(); answersHooks(t, `{"hookSpecificOutput":{"permissionDec`) },
		"it hangs up": func(t *testing.T) { t.Helper(); answersHooks(t, "") },
	} {
		t.Run(name, func(t *testing.T) {
			broken(t)
			for event, want := range map[string]int{"PreToolUse": 2, "PermissionRequest": 1, "SessionStart": 1, "Stop": 1} {
				out, status := run(event, `{}`)
				require.Empty(t, out)
				require.Equal(t, want, status, event)
			}
		})
	}
	out, status := run("PreToolUse", "garbage")
	require.Empty(t, out)
	require.Equal(t, 2, status)
	for _, told := range []string{"garbage", `{}`, `{"tool_name":"Bash"}`, `{"tool_name":"Bash","tool_input":"ls"}`, `{"tool_name":"AskUserQuestion","tool_input":{}}`} {
		out, status = run("PermissionRequest", told)
		require.Empty(t, out)
		require.Equal(t, 1, status, told)
	}
	require.Len(t, u.OpenRequests(), 1)
	require.Len(t, answer, 0)
	require.NoError(t, u.Close())
	require.True(t, strings.HasPrefix(fake.Receive(u.T, answer, "the answer"), `{"hookSpecificOutput"`), "refused")
}

// answersHooks replaces the session with a listener that says words to every hook and hangs up.
func answersHooks(t *testing.T, words string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hooks")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	require.NoError(t, err)
	t.Setenv("TERMINALPROXY_CHAT_SOCKET", path)
	var serving sync.WaitGroup
	serving.Go(func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(conn)
			_, _ = in.ReadBytes('\n')
			_, _ = in.ReadBytes('\n') // it has sent everything
			if words != "" {
				_, _ = conn.Write([]byte(words + "\n"))
			}
			conn.Close()
		}
	})
	t.Cleanup(func() { _ = l.Close(); serving.Wait() })
}

// Of two answers, one from the page, one counts.
func TestTwoAnswers(t *testing.T) {
	u, answer := asking(t)
	id := u.OpenRequests()[0].ID
	errs := make([]error, 2)
	var both sync.WaitGroup
	both.Go(func() { errs[0] = u.Answer(id, "ada", chat.Answer{Verdict: chat.Once}) })
	both.Go(func() { errs[1] = u.Answer(id, "bob", chat.Answer{Words: "never"}) })
	both.Wait()
	want := `"behavior":"allow"`
	if errs[0] != nil {
		want = `"message":"never"`
	}
	require.NotEqual(t, errs[0] == nil, errs[1] == nil)
	require.Contains(t, fake.Receive(u.T, answer, "the answer"), want)
}

func TestQuestionsBeside(t *testing.T) {
	u := atPrompt(t)
	answer := u.askHook(`,"tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which?","options":[{"label":"Red"}]},{"question":"What?","multiSelect":true}]}`)
	r := u.OpenRequests()[0]
	require.Len(t, r.Form, 2)
	require.NoError(t, u.Answer(r.ID, "ada", chat.Answer{Replies: map[string][]string{"q1": {"none"}, "q2": {"a", "b"}}}))
	var got struct {
		Out struct {
			Decision struct {
				Behavior string
				Input    struct{ Answers map[string]string } `json:"updatedInput"`
			}
		} `json:"hookSpecificOutput"`
	}
	require.NoError(t, json.Unmarshal([]byte(strings.TrimSuffix(fake.Receive(u.T, answer, "the answer"), " 0")), &got))
	require.Equal(t, "allow", got.Out.Decision.Behavior)
	require.Equal(t, map[string]string{"Which?": "none", "What?": "a, b"}, got.Out.Decision.Input.Answers)
}

// Agents' keys are held from the announcement of a tool until the prompt is drawn again, whatever
// becomes of the request.
func TestADialogHoldsKeys(t *testing.T) {
	u := beside(t)
	require.False(t, u.driver.HasDialog())
	u.draw("Do you trust this folder?", "❯ 1. No, exit", "  2. Yes", "Enter to confirm")
	require.Eventually(t, u.driver.HasDialog, 2*time.Minute, time.Millisecond, "one that no hook tells of")
	u.prompt("")
	require.Eventually(t, func() bool { return !u.driver.HasDialog() }, 2*time.Minute, time.Millisecond)
	u.passHook("SessionStart", "")
	u.WaitForState(chat.AtPrompt)
	u.passHook("PreToolUse", bash+`,"tool_use_id":"t1"`)
	require.True(t, u.driver.HasDialog())
	_ = u.askHook(bash)
	u.dialog("touch f1")
	u.waitSeen()
	require.NoError(t, u.Answer(u.OpenRequests()[0].ID, "ada", chat.Answer{Verdict: chat.Once}))
	u.draw("some other picture")
	u.waitSeen()
	require.True(t, u.driver.HasDialog(), "it may stand behind that")
	u.prompt("")
	require.Eventually(t, func() bool { return !u.driver.HasDialog() }, 2*time.Minute, time.Millisecond)
}

// What the user has typed and not sent is never submitted, and no key is pressed before the text
// has appeared.
func TestSubmitting(t *testing.T) {
	t.Run("the user's line", func(t *testing.T) {
		u := atPrompt(t)
		u.prompt("half a li")
		u.waitSeen()
		require.NoError(t, u.Send("ada", "go"))
		u.waitSeen()
		u.draw("", rule, "❯ half a li", rule)
		u.waitSeen()
		require.Empty(t, u.pressed())
		u.screen.reacts = u.acceptPrompt("go")
		u.prompt("")
		u.waitTurn()
	})
	t.Run("the user types in between", func(t *testing.T) {
		u := atPrompt(t)
		u.screen.reacts = func(string) {
			u.screen.mu.Lock()
			u.screen.keys++
			u.screen.mu.Unlock()
			u.prompt("gox")
		}
		require.NoError(t, u.Send("ada", "go"))
		u.WaitForNotice("the user typed meanwhile")
		require.Equal(t, []string{"\x1b[200~go\x1b[201~"}, u.pressed())
	})
	t.Run("the prompt shows something else", func(t *testing.T) {
		u := atPrompt(t)
		u.screen.reacts = func(string) { u.prompt("half a line of the user's") }
		require.NoError(t, u.Send("ada", "go"))
		u.WaitForNotice("the prompt shows something else")
		require.Equal(t, []string{"\x1b[200~go\x1b[201~"}, u.pressed())
	})
	t.Run("Enter is lost", func(t *testing.T) {
		u := atPrompt(t)
		u.driver.SignWithin(time.Millisecond)
		enters := 0
		u.screen.reacts = func(piece string) {
			if piece != "\r" {
				u.prompt("[Pasted text #1 +40 lines]")
			} else if enters++; enters == 2 {
				u.prompt("")
				u.passHook("UserPromptSubmit", `,"prompt":"<pasted_content id=\"4\">go</pasted_content id=\"4\">"`)
				u.took <- struct{}{}
			}
		}
		require.NoError(t, u.Send("ada", "go"))
		u.waitTurn()
		require.Equal(t, []string{"\x1b[200~go\x1b[201~", "\r", "\r"}, u.pressed())
	})
	t.Run("no sign, and the text is gone", func(t *testing.T) {
		u := atPrompt(t)
		u.driver.SignWithin(time.Millisecond)
		u.screen.reacts = func(piece string) {
			if u.prompt("go"); piece == "\r" {
				u.prompt("")
			}
		}
		require.NoError(t, u.Send("ada", "go"))
		u.WaitForNotice("does not say that it read it")
		require.Equal(t, []string{"\x1b[200~go\x1b[201~", "\r"}, u.pressed())
	})
	t.Run("a command of its own", func(t *testing.T) {
		u := atPrompt(t)
		u.screen.reacts = func(piece string) {
			if u.prompt("/model sonnet"); piece == "\r" {
				u.prompt("")
			}
		}
		require.NoError(t, u.Send("ada", "/model sonnet"))
		u.Next("the turn", func(r chat.Record) bool { return r.Turn != nil && r.Turn.Outcome == chat.Done })
	})
	t.Run("what is no text", func(t *testing.T) {
		u := atPrompt(t)
		for _, text := range []string{" \n", "a\x1b[201~\rb", "!ls", "\x03"} {
			require.Error(t, u.Send("ada", text), "%q", text)
		}
		require.Empty(t, u.pressed())
	})
	t.Run("the keyboard is taken back", func(t *testing.T) {
		u := atPrompt(t)
		u.prompt("half")
		u.waitSeen()
		require.NoError(t, u.Send("an agent", "go"))
		u.driver.NoteReclaim()
		u.WaitForNotice("did not read: go")
		u.prompt("")
		u.waitSeen()
		require.Empty(t, u.pressed())
	})
	t.Run("the keyboard is taken back, and the driver has yet to hear of it", func(t *testing.T) {
		u := atPrompt(t)
		u.prompt("half")
		u.waitSeen()
		require.NoError(t, u.Send("an agent", "go"))
		u.waitSeen()
		u.screen.hands.Add(1)
		u.prompt("")
		u.WaitForNotice("did not get a prompt: the keyboard changed hands")
		require.Empty(t, u.pressed())
	})
}

// The user takes the keyboard back behind the last check of an agent's grant, and before the driver
// has what it says: nothing of it is typed, however long it waits, and no prompt of a person's goes
// with it.
func TestAReclaimBehindTheLastCheck(t *testing.T) {
	takenBehind := func(u *tui) func() error {
		taken := false
		return func() error {
			if taken {
				return errors.New("your grant ended")
			}
			taken = true // the first one to ask is the session
			u.screen.hands.Add(1)
			u.driver.NoteReclaim()
			return nil
		}
	}
	t.Run("a prompt", func(t *testing.T) {
		u := atPrompt(t)
		require.NoError(t, u.SendForAgent("agent codex", "go", takenBehind(u)))
		u.WaitForNotice("did not read: go")
		u.prompt("")
		u.waitSeen()
		require.Empty(t, u.pressed())
	})
	t.Run("an interrupt", func(t *testing.T) {
		u := atPrompt(t)
		u.passHook("UserPromptSubmit", `,"prompt":"work"`)
		u.draw("working")
		u.waitSeen()
		may := takenBehind(u)
		require.NoError(t, may())
		require.NoError(t, u.Send("ada", "and then"))
		require.NoError(t, u.driver.Interrupt(may))
		u.WaitForNotice("was not interrupted: the keyboard changed hands")
		require.Empty(t, u.pressed())
		u.screen.reacts = u.acceptPrompt("and then")
		u.prompt("")
		u.waitTurn()
	})
}

func TestInterruptsWithEscape(t *testing.T) {
	u := atPrompt(t)
	require.NoError(t, u.Interrupt("ada"))
	u.waitSeen()
	require.Empty(t, u.pressed(), "no turn runs: at the prompt it would mean something else")
	u.passHook("UserPromptSubmit", `,"prompt":"go"`)
	pressed := make(chan string, 1)
	u.screen.reacts = func(piece string) { pressed <- piece }
	require.NoError(t, u.Interrupt("ada"))
	require.Equal(t, "\x1b", <-pressed)
	u.appendRecord(`{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}` + "\n")
	u.Next("the turn", func(r chat.Record) bool { return r.Turn != nil && r.Turn.Outcome == chat.Interrupted })
}

func TestAFailedStart(t *testing.T) {
	u := beside(t)
	u.driver.NoteExit("ended with exit status 1", []string{"", "Invalid API key", ""})
	require.Equal(t, "claude ended with exit status 1: Invalid API key", u.WaitForState(chat.Failed).Why)
	u = atPrompt(t)
	u.driver.NoteExit("was killed: SIGKILL", []string{"a prompt"})
	require.Equal(t, "claude was killed: SIGKILL", u.WaitForState(chat.Ended).Why)
}

// What the user says on the command line stays.
func TestItsArguments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"beep"}]}]}}`), 0o600))
	const id = "b3a4c53a-e7be-4d2b-9712-84cdf9e4473b"
	fresh, chosen := filepath.Join(t.TempDir(), "none"), filepath.Join(t.TempDir(), "settings.json")
	require.NoError(t, os.WriteFile(chosen, []byte(`{"permissions":{"defaultMode":"acceptEdits"}}`), 0o600))
	for _, c := range []struct {
		args         []string
		settings     string // the user's, "" for headless
		want         string // after the settings
		conversation string
	}{
		{nil, "", "--session-id new --permission-mode default", "new"},
		{nil, fresh, "--session-id new --permission-mode default", "new"},
		{nil, chosen, "--session-id new --permission-mode acceptEdits", "new"},
		{[]string{"--settings", `{"permissions":{"defaultMode":"plan"}}`}, chosen, "--session-id new --permission-mode plan", "new"},
		{[]string{"--dangerously-skip-permissions"}, fresh, "--session-id new --dangerously-skip-permissions", "new"},
		{[]string{"--allow-dangerously-skip-permissions"}, fresh, "--session-id new --permission-mode default --allow-dangerously-skip-permissions", "new"},
		{[]string{"fix it"}, "", "--session-id new --permission-mode default fix it", "new"},
		{[]string{"--permission-mode", "plan"}, chosen, "--session-id new --permission-mode plan", "new"},
		{[]string{"--resume", id}, fresh, "--permission-mode default --resume " + id, id},
		{[]string{"--session-id=" + id}, fresh, "--permission-mode default --session-id=" + id, id},
		{[]string{"-c"}, fresh, "--permission-mode default -c", ""},
		{[]string{"-r"}, fresh, "--permission-mode default -r", ""},
		{[]string{"--settings", file, "x"}, fresh, "--session-id new --permission-mode default x", "new"},
		{[]string{"--settings=" + file}, fresh, "--session-id new --permission-mode default", "new"},
	} {
		d := claude.NewTUI(claude.TUIConfig{Args: c.args, ID: "new", Hook: "gateway hook", Settings: c.settings})
		got, err := d.Arguments()
		require.NoError(t, err)
		require.Equal(t, "--settings", got[0])
		require.Equal(t, c.want, strings.Join(got[2:], " "))
		require.Equal(t, c.conversation, d.Conversation())
		require.Contains(t, got[1], `"command":"gateway hook PermissionRequest","timeout":86400`)
		if strings.Contains(strings.Join(c.args, " "), file) {
			require.Contains(t, got[1], `"command":"beep"`)
			require.Contains(t, got[1], `"model":"opus"`)
			require.Contains(t, got[1], `"command":"gateway hook Stop"`)
		}
	}
	for _, args := range [][]string{{"-p", "x"}, {"--print"}, {"--settings", "/nonexistent"}, {"--settings", "{"}} {
		_, err := claude.NewTUI(claude.TUIConfig{Args: args, ID: "new"}).Arguments()
		require.Error(t, err, "%v", args)
	}
}

// Without a user at the terminal, the user's configuration is in place and does not change.
func TestHome(t *testing.T) {
	own, dir := t.TempDir(), t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", own)
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789-0123456789")
	before := `{"theme":"light","projects":{"/other":{"x":1}}}`
	require.NoError(t, os.WriteFile(filepath.Join(own, ".claude.json"), []byte(before), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(own, ".credentials.json"), []byte("secret"), 0o600))
	env, err := claude.Home(dir, "/home/ada/work")
	require.NoError(t, err)
	require.Equal(t, []string{"CLAUDE_CONFIG_DIR=" + dir}, env)
	state, err := os.ReadFile(filepath.Join(dir, ".claude.json"))
	require.NoError(t, err)
	require.JSONEq(t, `{"theme":"light","hasCompletedOnboarding":true,"customApiKeyResponses":{"approved":["123456789-0123456789"],"rejected":[]},
		"projects":{"/other":{"x":1},"/home/ada/work":{"hasTrustDialogAccepted":true}}}`, string(state))
	linked, err := os.Readlink(filepath.Join(dir, ".credentials.json"))
	require.NoError(t, err)
	require.Equal(t, filepath.Join(own, ".credentials.json"), linked)
	_, err = os.ReadDir(filepath.Join(dir, "projects"))
	require.NoError(t, err)
	after, err := os.ReadFile(filepath.Join(own, ".claude.json"))
	require.NoError(t, err)
	require.Equal(t, before, string(after))
}
