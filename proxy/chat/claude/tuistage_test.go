package claude_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol/fake"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/claude"
)

// screen is a terminal with Claude Code's interface on it, as the test draws it.
type screen struct {
	mu      sync.Mutex
	changed *sync.Cond
	now     chat.Screen
	keys    uint64 // of the user, from 1
	typed   []string
	closed  bool
	hands   atomic.Int64 // how often the keyboard was taken back
	// reacts draws Claude Code's reaction to typed text.
	reacts func(piece string)
}

func newScreen() *screen {
	s := &screen{keys: 1}
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *screen) ReadScreen() (chat.Screen, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, true
}

func (s *screen) StandingCheck() (still func() bool) {
	then := s.hands.Load()
	return func() bool { return s.hands.Load() == then }
}

func (s *screen) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.changed.Broadcast()
}

// Type types as a terminal does: nothing follows the user's keys.
func (s *screen) Type(t chat.TypeRequest) {
	go func() {
		out := chat.TypeResult{}
		for i, p := range t.Pieces {
			if out.Err = s.may(i, &t, &out); out.Err != nil {
				break
			}
			s.mu.Lock()
			s.typed = append(s.typed, string(p))
			reacts := s.reacts
			s.mu.Unlock()
			out.Pieces++
			if reacts != nil {
				reacts(string(p))
			}
		}
		t.Done(out)
	}()
}

func (s *screen) may(piece int, t *chat.TypeRequest, out *chat.TypeResult) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if !t.Still() {
			return chat.ErrTaken
		}
		if out.Keys == 0 {
			if out.Keys = s.keys; t.Keys != 0 && t.Keys != s.keys {
				return chat.ErrUserTyped
			}
		}
		if out.Keys != s.keys {
			return chat.ErrUserTyped
		}
		err := t.May(piece, s.now)
		if err != chat.ErrNotYet || s.closed { //nolint:errorlint // exactly this one
			return err
		}
		s.changed.Wait()
	}
}

// tui is a conversation beside an interface.
type tui struct {
	*session
	driver *claude.TUI
	screen *screen
	home   string
	id     string
	took   chan struct{} // holds a value for each prompt that was taken
}

const rule = "──────────────────────────────"

// draw draws rows: a row that begins with ❯ has the cursor at its end.
func (u *tui) draw(rows ...string) {
	u.screen.mu.Lock()
	u.screen.now = chat.Screen{Pastes: true}
	for _, r := range rows {
		row := chat.Row{Text: r, Plain: r, Caret: -1}
		if strings.HasPrefix(r, "❯") {
			row.Caret = len([]rune(r))
		}
		u.screen.now.Rows = append(u.screen.now.Rows, row)
	}
	u.screen.changed.Broadcast()
	u.screen.mu.Unlock()
	u.driver.NoteOutput()
}

func (u *tui) prompt(text string) {
	rows := strings.Split("❯ "+text, "\n")
	u.draw(append(append([]string{"", rule}, rows...), rule, "  manual mode on")...)
}

func (u *tui) dialog(question string) {
	u.draw("", rule, question, "Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend")
}

// hook runs a hook as Claude Code does, and returns what it prints.
func (u *tui) hook(event string, more string) (out string, status int) {
	u.T.Helper()
	told := fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":"/home/ada/work","hook_event_name":%q%s}`, u.id, u.record(), event, more)
	var answer, errs bytes.Buffer
	status = claude.RunHook(event, strings.NewReader(told), &answer, &errs)
	return answer.String(), status
}

// passHook runs a hook that gets an empty answer at once.
func (u *tui) passHook(event string, more string) {
	u.T.Helper()
	out, status := u.hook(event, more)
	require.Zero(u.T, status)
	require.Empty(u.T, out)
}

func (u *tui) record() string { return filepath.Join(u.home, u.id+".jsonl") }

func (u *tui) appendRecord(text string) {
	u.T.Helper()
	f, err := os.OpenFile(u.record(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(u.T, err)
	_, err = f.WriteString(text)
	require.NoError(u.T, err)
	require.NoError(u.T, f.Close())
	u.driver.NoteOutput()
}

// beside begins a conversation, before any output of Claude Code's.
func beside(t *testing.T, change ...func(*claude.TUI)) *tui {
	t.Helper()
	u := &tui{session: &session{T: t}, screen: newScreen(), home: t.TempDir(), id: "b3a4c53a-e7be-4d2b-9712-84cdf9e4473b", took: make(chan struct{}, 9)}
	dir := t.TempDir()
	u.driver = claude.NewTUI(claude.TUIConfig{ID: u.id, Hook: "gateway hook", Dir: dir})
	for _, do := range change {
		do(u.driver)
	}
	env, err := u.driver.ListenForHooks()
	require.NoError(t, err)
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	u.driver.Attach(u.screen)
	u.Session = chat.New("claude", u.driver)
	require.NoError(t, u.Start())
	t.Cleanup(func() { u.screen.end(); require.NoError(t, u.Close()); require.NoDirExists(t, dir) })
	return u
}

// atPrompt begins a conversation and gets to the prompt.
func atPrompt(t *testing.T, change ...func(*claude.TUI)) *tui {
	t.Helper()
	u := beside(t, change...)
	u.passHook("SessionStart", `,"source":"startup"`)
	u.prompt("")
	u.WaitForState(chat.AtPrompt)
	return u
}

// asking begins a conversation with a dialog at its terminal, and returns the answer of its hook,
// followed by the hook's exit status.
func asking(t *testing.T) (u *tui, answer chan string) {
	t.Helper()
	u = atPrompt(t)
	u.passHook("UserPromptSubmit", `,"prompt":"go"`)
	u.passHook("PreToolUse", bash+`,"tool_use_id":"t1"`)
	require.True(t, u.driver.HasDialog(), "before it is drawn")
	answer = u.askHook(bash)
	u.dialog("touch f1")
	return u, answer
}

const bash = `,"tool_name":"Bash","tool_input":{"command":"touch f1"}`

// askHook runs the hook that waits for a person.
func (u *tui) askHook(what string) (answer chan string) {
	u.T.Helper()
	answer = make(chan string, 1)
	var running sync.WaitGroup
	running.Go(func() {
		out, status := u.hook("PermissionRequest", what)
		answer <- fmt.Sprint(out, " ", status)
	})
	u.T.Cleanup(func() {
		assert.NoError(u.T, u.Close()) // an unanswered hook waits until then
		running.Wait()
	})
	u.Next("a request", func(r chat.Record) bool { return r.Request != nil })
	return answer
}

// waitTurn waits until the prompt is taken, and ends its turn: then no prompt waits any longer.
func (u *tui) waitTurn() {
	u.T.Helper()
	fake.Receive(u.T, u.took, "the prompt")
	u.passHook("Stop", "")
	u.appendRecord(`{"type":"system","subtype":"turn_duration"}` + "\n")
	u.WaitForState(chat.AtPrompt)
}

// acceptPrompt plays Claude Code, which shows a prompt, and takes it at Enter.
func (u *tui) acceptPrompt(text string) func(string) {
	return func(piece string) {
		if u.prompt(text); piece == "\r" {
			u.prompt("")
			u.passHook("UserPromptSubmit", fmt.Sprintf(`,"prompt":%q`, text))
			u.took <- struct{}{}
		}
	}
}

func (u *tui) pressed() []string {
	u.screen.mu.Lock()
	defer u.screen.mu.Unlock()
	return u.screen.typed
}
