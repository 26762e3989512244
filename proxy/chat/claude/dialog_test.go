package claude_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat"
)

// switching shows the dialog of /model after a first turn.
func (u *tui) switching() {
	u.draw("● DONE", "▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔", "  Switch model?", "", "  The full history gets re-read.", "", "  ❯ 1. Yes, switch to Sonnet", "    2. No, go back", "", "  Enter to confirm · Esc to cancel")
}

// A dialog in place of the prompt, for which no hook asks, is a remote question. Its choices are
// pressed, a refusal is Escape, an answer at the terminal closes it, and a prompt says that it
// waits.
func TestADialogIsAQuestion(t *testing.T) {
	for reply, key := range map[string]string{"No, go back": "2", "": "\x1b"} {
		u := atPrompt(t)
		u.switching()
		r := u.Next("the dialog", func(r chat.Record) bool { return r.Request != nil }).Request
		require.Equal(t, "Switch model?\nThe full history gets re-read.", r.Form[0].Text)
		require.Equal(t, []chat.Option{{Label: "Yes, switch to Sonnet"}, {Label: "No, go back"}}, r.Form[0].Options)
		require.Equal(t, chat.WaitsForDialog, u.WaitReason())
		require.NoError(t, u.Send("ada", "and now"))
		require.Error(t, u.Answer(r.ID, "ada", chat.Answer{Replies: map[string][]string{r.Form[0].ID: {"something else"}}}))
		answer := chat.Answer{}
		if reply != "" {
			answer.Replies = map[string][]string{r.Form[0].ID: {reply}}
		}
		pressed := make(chan string, 9)
		u.screen.mu.Lock()
		u.screen.reacts = func(piece string) { pressed <- piece }
		u.screen.mu.Unlock()
		require.NoError(t, u.Answer(r.ID, "ada", answer))
		require.Equal(t, key, <-pressed)
		u.screen.mu.Lock()
		u.screen.reacts = u.acceptPrompt("and now")
		u.screen.mu.Unlock()
		u.prompt("")
		u.waitTurn()
	}
}

// A dialog without choices can only be left.
func TestADialogIsAnsweredAtTheTerminal(t *testing.T) {
	u := atPrompt(t)
	u.switching()
	u.Next("the dialog", func(r chat.Record) bool { return r.Request != nil })
	u.prompt("")
	require.Equal(t, "answered at the terminal", u.Next("its end", func(r chat.Record) bool { return r.Closed != nil }).Closed.Why)
	u.draw("Settings", "verbose    off", "theme      dark")
	r := u.Next("the settings", func(r chat.Record) bool { return r.Request != nil }).Request
	require.Error(t, u.Answer(r.ID, "ada", chat.Answer{Replies: map[string][]string{r.Form[0].ID: {"dark"}}}))
	require.False(t, u.driver.HasDialog(), "an agent that has every key goes on in it")
	pressed := make(chan string, 9)
	u.screen.mu.Lock()
	u.screen.reacts = func(piece string) { pressed <- piece }
	u.screen.mu.Unlock()
	require.NoError(t, u.Interrupt("ada"))
	require.Equal(t, "\x1b", <-pressed)
}

// An approval is not such a dialog, even if its hook is gone and no turn is known to run: the
// screen may show less than the approval allows.
func TestAnApprovalIsNotADialog(t *testing.T) {
	u := atPrompt(t)
	answer := u.askHook(bash)
	u.dialog("touch f1")
	require.NoError(t, u.Answer(u.OpenRequests()[0].ID, "ada", chat.Answer{}))
	<-answer
	u.Next("its end", func(r chat.Record) bool { return r.Closed != nil })
	u.draw("", rule, "touch f2", "Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel")
	u.driver.FollowDialogAt(0)
	u.driver.FollowDialogAt(time.Minute) // such a dialog becomes a request after a second
	require.Empty(t, u.OpenRequests())
	u.prompt("")
	require.Eventually(t, func() bool { return !u.driver.HasDialog() }, time.Minute, 10*time.Millisecond, "the prompt is seen")
	u.switching()
	u.driver.FollowDialogAt(0)
	u.driver.FollowDialogAt(time.Minute)
	u.Next("the dialog", func(r chat.Record) bool { return r.Request != nil })
}

// An agent's command opens the dialog for a person.
func TestTheModelThatAPersonNamesIsConfirmed(t *testing.T) {
	for _, person := range []bool{true, false} {
		u := atPrompt(t)
		pressed := make(chan string, 9)
		u.screen.mu.Lock()
		u.screen.reacts = func(piece string) {
			switch piece {
			case "\r":
				u.switching()
			case "1":
				pressed <- piece
				u.prompt("")
			default:
				u.prompt("/model sonnet")
			}
		}
		u.screen.mu.Unlock()
		if person {
			require.NoError(t, u.Send("ada", "/model sonnet"))
			require.Equal(t, "1", <-pressed)
			u.WaitForNotice(`claude asked "Switch model?", and the command had answered that: Yes, switch to Sonnet`)
			continue
		}
		require.NoError(t, u.SendForAgent("agent codex", "/model sonnet", func() error { return nil }))
		u.Next("the dialog", func(r chat.Record) bool { return r.Request != nil })
		require.Empty(t, pressed)
	}
}

// The command is read when it has gone from the prompt, and is not a turn.
func TestACommandThatTakesTimeToBeDrawn(t *testing.T) {
	u := atPrompt(t)
	drawn := make(chan struct{})
	u.screen.mu.Lock()
	u.screen.reacts = func(piece string) {
		if piece == "\r" {
			close(drawn)
			return
		}
		u.prompt("/effort high")
	}
	u.screen.mu.Unlock()
	require.NoError(t, u.Send("ada", "/effort high"))
	<-drawn
	u.driver.NoteOutput()
	u.appendRecord(`{"type":"user","message":{"content":"<command-name>/effort</command-name><command-args>high</command-args>"}}` + "\n")
	u.prompt("")
	u.WaitForState(chat.AtPrompt)
	all, _, err := u.Records(t.Context(), 0)
	require.NoError(t, err)
	for _, r := range all {
		require.False(t, r.Item != nil && r.Item.Kind == chat.Notice, "%+v", r.Item)
	}
}
