package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/protocol/fake"
	"terminalproxy/proxy/chat"
)

// playClaude is an agent that speaks as Claude Code does: it asks whether it may run each prompt as
// a command, and reports the answer.
func playClaude() {
	if slices.Contains(os.Args, "unknown") {
		fmt.Fprintln(os.Stderr, "No conversation found with session ID: unknown")
		os.Exit(1)
	}
	in := json.NewDecoder(os.Stdin)
	say := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	turns := 0
	for {
		var m struct {
			Type, UUID string
			ID         string `json:"request_id"`
			Message    struct{ Content string }
			Response   struct{ Response json.RawMessage }
			Request    struct{ Subtype string }
		}
		if in.Decode(&m) != nil {
			return
		}
		switch {
		case m.Type == "control_request" && m.Request.Subtype == "initialize":
			say(`{"type":"control_response","response":{"subtype":"success","response":{"models":[{"value":"opus"},{"value":"haiku","description":"fast"}]}}}`)
		case m.Type == "control_request" && m.Request.Subtype == "set_model":
			say(`{"type":"control_response","response":{"subtype":"success","request_id":%q}}`, m.ID)
		case m.Type == "control_request":
			say(`{"type":"control_cancel_request","request_id":"r%d"}`, turns)
			say(`{"type":"result","terminal_reason":"aborted_tools","is_error":true}`)
		case m.Type == "user" && m.Message.Content == "THINK":
			say(`{"type":"command_lifecycle","command_uuid":%q,"state":"started"}`, m.UUID)
		case m.Type == "user" && strings.HasPrefix(m.Message.Content, "LENGTH"):
			say(`{"type":"command_lifecycle","command_uuid":%q,"state":"started"}`, m.UUID)
			say(`{"type":"assistant","message":{"content":[{"type":"text","text":"HEARD %d BYTES"}]}}`, len(m.Message.Content))
			say(`{"type":"result","result":"done"}`)
		case m.Type == "user":
			say(`{"type":"command_lifecycle","command_uuid":%q,"state":"started"}`, m.UUID)
			say(`{"type":"assistant","message":{"content":[{"type":"text","text":"HEARD %s"}]}}`, m.Message.Content)
			if turns++; turns == 1 {
				say(`{"type":"control_request","request_id":"r%d","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":%q}}}`, turns, m.Message.Content)
				continue
			}
			say(`{"type":"result","result":"done"}`)
		case m.Type == "control_response":
			said, _ := json.Marshal(string(m.Response.Response))
			say(`{"type":"assistant","message":{"content":[{"type":"text","text":%s}]}}`, said)
			say(`{"type":"result","result":"done"}`)
		}
	}
}

// chatting is a gateway chat on a terminal that the test plays.
type chatting struct {
	t        *testing.T
	keyboard *os.File
	cancel   context.CancelFunc // as a signal does
	status   chan int

	mu    sync.Mutex
	shown bytes.Buffer
	wake  chan struct{}
}

// withClaude makes the test's binary the only program in $PATH, under Claude Code's name.
func withClaude(t *testing.T) {
	t.Helper()
	clitest.Isolate(t)
	bin := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(bin, "claude")))
	t.Setenv("PATH", bin)
	t.Setenv("GORACE", "atexit_sleep_ms=0")
}

func chatOnTerminal(t *testing.T, args ...string) *chatting {
	t.Helper()
	withClaude(t)
	keyboard, screen, err := pty.Open()
	require.NoError(t, err)
	require.NoError(t, pty.Setsize(screen, &pty.Winsize{Rows: 24, Cols: 80}))
	c := &chatting{t: t, keyboard: keyboard, status: make(chan int, 1), wake: make(chan struct{}, 1)}
	var parts sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	c.cancel = cancel
	parts.Go(func() {
		c.status <- clitest.Run(ctx, append([]string{"chat"}, args...), screen, screen, c)
		screen.Close()
	})
	parts.Go(func() { _, _ = io.Copy(c, keyboard) })
	t.Cleanup(func() {
		cancel()
		parts.Wait()
		keyboard.Close()
	})
	return c
}

func (c *chatting) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return c.shown.Write(p)
}

// wait waits until words were shown, and forgets the output up to their end.
func (c *chatting) wait(words string) {
	c.t.Helper()
	limit := time.After(fake.Soon)
	for {
		c.mu.Lock()
		_, behind, found := strings.Cut(c.shown.String(), words)
		if found {
			c.shown.Reset()
			c.shown.WriteString(behind)
		}
		all := c.shown.String()
		c.mu.Unlock()
		if found {
			return
		}
		select {
		case <-c.wake:
		case <-limit:
			require.FailNow(c.t, "not shown: "+words, all)
		}
	}
}

// all returns what was shown since the last wait.
func (c *chatting) all() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown.String()
}

func (c *chatting) typeKeys(keys string) {
	c.t.Helper()
	_, err := c.keyboard.WriteString(keys)
	require.NoError(c.t, err)
}

func (c *chatting) waitExit(status int) {
	c.t.Helper()
	select {
	case got := <-c.status:
		require.Equal(c.t, status, got)
	case <-time.After(fake.Soon):
		require.FailNow(c.t, "it does not end")
	}
}

// A question does not take the line that the user is typing for an answer, whatever the line says.
func TestATypedLineDoesNotAnswerALaterQuestion(t *testing.T) {
	clitest.SetForTest(t, &questionQuiet, time.Hour)
	c := chatOnTerminal(t)
	c.wait("You: ")
	c.typeKeys("touch x\r")
	c.wait("2  refuse")
	c.typeKeys("y\r")
	c.wait("HEARD y")
	c.typeKeys("\x03\x03")
	c.waitExit(statusInterrupted)
}

// A half-typed line makes room for a question, and returns even if the question is withdrawn.
func TestAHalfTypedLineComesBack(t *testing.T) {
	clitest.SetForTest(t, &questionQuiet, questionDelay)
	for _, how := range []string{"answered", "taken back"} {
		t.Run(how, func(t *testing.T) {
			c := chatOnTerminal(t)
			c.wait("You: ")
			c.typeKeys("touch x\rhalf 世界")
			c.wait("Your answer (1-2): ")
			if how == "answered" {
				c.typeKeys("\r")
				c.wait("type 1 to 2 and Enter")
				c.typeKeys("yes, please\r")
				c.wait("type 1 to 2 and Enter")
				c.wait("Your answer (1-2): ")
				c.typeKeys("\x1b[Bx\x7f\r")
				c.wait(`{"behavior":"allow","updatedInput":{"command":"touch`)
			} else {
				c.typeKeys("\x03")
				c.wait("· interrupted")
			}
			c.wait("You: half 世界")
			c.typeKeys("\x1b\r\x1b[200~pasted\r\nlines\t\x03!\x1b[201~\r")
			c.wait("HEARD half 世界")
			c.typeKeys("\x04")
			c.waitExit(cli.StatusOK)
		})
	}
}

// A known command sets the agent's options; any other line goes to the agent.
func TestCommandsSetTheAgentsOptions(t *testing.T) {
	clitest.SetForTest(t, &questionQuiet, questionDelay)
	c := chatOnTerminal(t)
	c.wait("You: ")
	c.typeKeys("touch x\r") // then it has started
	c.wait("Your answer (1-2): ")
	c.typeKeys("n\r")
	c.wait("behavior")
	c.wait("You: ")
	c.typeKeys("/model\r")
	c.wait("· /model")
	c.wait("haiku: fast")
	c.typeKeys("/model tiny\r")
	c.wait("· not sent: there is no model tiny")
	c.typeKeys("/model haiku\r")
	c.wait("· you: sets the model to haiku")
	c.wait("· the model is haiku now")
	c.typeKeys("/colour red\r")
	c.wait("HEARD /colour red")
	c.typeKeys("\x03\x03")
	c.waitExit(statusInterrupted)
}

// When the terminal is lost, the question is refused.
func TestALostTerminalRefuses(t *testing.T) {
	c := chatOnTerminal(t)
	c.wait("You: ")
	c.typeKeys("touch x\r")
	c.wait("2  refuse")
	require.NoError(t, c.keyboard.Close())
	c.waitExit(cli.StatusRefused)
}

// While the user waits, a line says that the agent works. At the prompt it says nothing.
func TestASilentAgent(t *testing.T) {
	clitest.SetForTest(t, &silence, time.Second)
	c := chatOnTerminal(t)
	c.wait("You: ")
	c.typeKeys("THINK\r")
	c.wait("· claude is working: silent for 1 s")
	c.typeKeys("\x03")
	c.wait("· interrupted")
	c.typeKeys("\x04")
	c.waitExit(statusInterrupted)
}

// A signal ends a conversation that waits for the user.
func TestASignalEndsAConversationAtItsPrompt(t *testing.T) {
	clitest.SetForTest(t, &questionQuiet, questionDelay)
	c := chatOnTerminal(t)
	c.wait("You: ")
	c.typeKeys("touch x\r")
	c.wait("Your answer (1-2): ")
	c.typeKeys("n\r")
	c.wait("behavior")
	c.wait("You: ")
	c.typeKeys("more\r")
	c.wait("HEARD more")
	c.wait("You: ")
	c.typeKeys("half a line")
	c.cancel()
	c.waitExit(statusInterrupted)
}

// A paste is one line, whatever the pieces in which it arrives.
func TestPastes(t *testing.T) {
	const in = "a\x1b[200~b\r\nc\nd\r\te\x1b[0m\x03\x1b[201~f\x03\x1c\x1bOP"
	const want = "a\x1b[200~b⏎c⏎d⏎⇥e[0m\x1b[201~f\x1bOP"
	for cut := range len(in) {
		e := &editor{stops: make(chan struct{}, 8)}
		out := e.filterKeys([]byte(in[:cut]))
		out = append(out, e.filterKeys(append(e.held, in[cut:]...))...)
		if cut > 0 && in[cut-1] == 0x1b {
			continue // Escape alone is a key
		}
		require.Equal(t, want, string(out), "cut at %d", cut)
		require.False(t, e.pasting)
	}
}

func TestOnlyExactWordsAllow(t *testing.T) {
	q := &question{request: &chat.Request{Tool: "Bash", Allows: []chat.Choice{{Verdict: chat.Once}, {Verdict: chat.ForSession, Covers: "ls *"}}}}
	for line, want := range map[string]chat.Answer{
		"1": {Verdict: chat.Once}, "y": {Verdict: chat.Once}, "yes": {Verdict: chat.Once}, "allow once": {Verdict: chat.Once},
		"2": {Verdict: chat.ForSession}, "allow for this session: ls *": {Verdict: chat.ForSession},
		"3": {}, "n": {}, "no use tabs": {Words: "use tabs"}, "3 use tabs": {Words: "use tabs"}, "refuse": {},
	} {
		got, done, again := q.recordAnswer(line)
		require.Empty(t, again, line)
		require.True(t, done, line)
		require.Equal(t, want, got, line)
	}
	for _, line := range []string{"", "0", "4", "-1", "1 2", "1.", "Y", "yes please", "allow", "ok", "1\n1", "²"} {
		got, _, again := q.recordAnswer(line)
		require.NotEmpty(t, again, line)
		require.True(t, got.Refuses(), line)
	}
}

func TestAQuestionShowsWhatWillRun(t *testing.T) {
	q := &question{request: &chat.Request{Tool: "Ba\x1b[8msh", Input: json.RawMessage(`{"command":"ls\n  1  allow once\u202e\u200b","n":[1, 2]}`), Allows: []chat.Choice{{Verdict: chat.Once}}}}
	require.Equal(t, "? May claude use Ba\\u{1b}[8msh?\n  │ command: \n  │ ls\n  │   1  allow once\\u{202e}\\u{200b}\n  │ n: [1, 2]\n  1  allow once\n  2  refuse",
		q.questionText("claude"))
	shown, missing := wholeInput(json.RawMessage("[]"))
	require.Equal(t, "  │ []\n", shown)
	require.Zero(t, missing)
}

// No word allows a command whose end is out of sight, far to the right or below, or covered by the
// proxy.
func TestAHiddenCommandCannotBeAllowed(t *testing.T) {
	allows := []chat.Choice{{Verdict: chat.Once}, {Verdict: chat.ForSession, Covers: "ls"}}
	for name, command := range map[string]string{
		"blanks first": strings.Repeat(" ", 4<<20) + "touch HIT", "a long line": strings.Repeat("x", 1<<20) + ";touch HIT", "many lines": strings.Repeat("#\n", 200<<10) + "touch HIT",
	} {
		input, err := json.Marshal(map[string]string{"command": command})
		require.NoError(t, err)
		q := &question{request: &chat.Request{Tool: "Bash", Input: input, Allows: allows}}
		require.Equal(t, []string{"refuse"}, q.choiceLabels(), name)
		require.Contains(t, q.questionText("claude"), "cannot be allowed", name)
		for _, line := range []string{"y", "yes", "allow once", "2"} {
			got, _, again := q.recordAnswer(line)
			require.True(t, got.Refuses() && again != "", "%s: %s", name, line)
		}
	}
	q := &question{request: &chat.Request{Tool: "Bash", Allows: allows, AtTerminal: "covered"}}
	require.Contains(t, q.questionText("claude"), "NOT SHOWN IN FULL: covered\n  1  refuse")
	_, err := answering{verdict: chat.Once}.buildReply(q.request)
	require.ErrorContains(t, err, "covered")
	input, err := json.Marshal(map[string]string{"command": strings.Repeat("#\n", 30<<10) + "touch HIT"})
	require.NoError(t, err)
	q = &question{request: &chat.Request{Tool: "Bash", Input: input, Allows: allows}}
	require.Contains(t, q.questionText("claude"), "  │ touch HIT\n  1  allow once")
}

// While a line stands below it, text comes in whole rows.
func TestTextComesInRows(t *testing.T) {
	var out strings.Builder
	v := &chatView{text: &out, about: &out, cols: func() int { return 10 }}
	for _, piece := range []string{"one two", " three", " 世界世界世界x", "\nlast"} {
		v.printPiece(&chat.Piece{ID: "1", Text: piece})
	}
	require.Equal(t, "one two \nthree \n世界世界世\n界x\n", out.String())
	v.printItem("claude", &chat.Item{Kind: chat.Text, ID: "1", Author: "claude", Text: "one two three 世界世界世界x\nlast words"})
	v.printItem("claude", &chat.Item{Kind: chat.ToolResult, Author: "claude", Text: "1\n2\n3\n4\n5\n6\n7\x1b[m\n", Failed: true})
	require.Equal(t, "last words\n  ⎿ failed: 1\n    2\n    3\n    4\n    5\n    ... and 2 lines more\n", out.String()[len("one two \nthree \n世界世界世\n界x\n"):])
}

// One conversation has one writer, and the next one after it ends.
func TestAConversationIsLocked(t *testing.T) {
	clitest.Isolate(t)
	l, err := newChatLock()
	require.NoError(t, err)
	require.NoError(t, l.LockConversation("c1"))
	got := clitest.Command(t, "chat", "--resume", "c1", "hello")
	got.MustFail(t, cli.StatusRefused, fmt.Sprintf("chat: the conversation c1 is open in gateway chat (process %d", os.Getpid()))
	require.Contains(t, got.Err, "\nhint: go on there, or end it there first: ")
	l.Release()
	require.NoError(t, l.LockConversation("c1"))
	l.Release()
}

func TestChatNeedsTheAgent(t *testing.T) {
	clitest.Isolate(t)
	t.Setenv("PATH", t.TempDir())
	_, err := exec.LookPath("claude")
	require.Error(t, err)
	got := clitest.Command(t, "chat", "hello")
	got.MustFail(t, cli.StatusRefused, "chat: claude is not installed: executable file not found in $PATH\nhint: install it with: npm install")
}

// A prompt of 1 MB reaches the agent whole. A longer one is refused with a next step.
func TestALongPrompt(t *testing.T) {
	withClaude(t)
	file := filepath.Join(t.TempDir(), "prompts")
	prompt := strings.Repeat("a", 1_000_000)
	require.NoError(t, os.WriteFile(file, []byte("first\nLENGTH "+prompt+"\n"), 0o600))
	got := clitest.Command(t, "chat", "--prompt-file", file)
	require.Contains(t, got.Out, fmt.Sprintf("HEARD %d BYTES", len("LENGTH ")+len(prompt)))
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("a", maxPrompt+1)), 0o600))
	got = clitest.Command(t, "chat", "--prompt-file", file)
	got.MustFail(t, cli.StatusUsage, "--prompt-file: a line is longer than 1048576 bytes: put the text into a file, and name the file in the prompt")
}

// If the conversation does not exist, the error says so, with a next step.
func TestAnUnknownConversation(t *testing.T) {
	withClaude(t)
	got := clitest.Command(t, "chat", "--resume", "unknown", "hello")
	got.MustFail(t, cli.StatusRefused, "chat: claude did not start: claude ended with exit status 1: No conversation found with session ID: unknown\nhint: without --resume a new conversation begins")
}

// opencode asks before it acts, unless the user decided otherwise.
func TestOpencodeAsks(t *testing.T) {
	t.Setenv("OPENCODE_PERMISSION", "")
	variable, value, _ := strings.Cut(askingVariables()[0], "=")
	require.Equal(t, "OPENCODE_PERMISSION", variable)
	var rules map[string]string
	require.NoError(t, json.Unmarshal([]byte(value), &rules))
	for _, tool := range []string{"*", "read", "question"} {
		require.Equal(t, map[string]string{"*": "ask", "read": "allow", "question": "deny"}[tool], rules[tool])
	}
	for _, tool := range []string{"bash", "edit", "webfetch", "task"} {
		require.NotContains(t, rules, tool, "it falls under *")
	}
	t.Setenv("OPENCODE_PERMISSION", `{"*":"allow"}`)
	require.Empty(t, askingVariables())
}

// Keys without a meaning here do nothing: Ctrl+Z does not stop the line.
func TestKeysWithoutAMeaning(t *testing.T) {
	e := &editor{stops: make(chan struct{}, 8)}
	require.Equal(t, "a世b", string(e.filterKeys([]byte("a\x1a世\x1c\x1d\x1e\x1fb\x1b"))))
	require.Empty(t, e.stops)
}
