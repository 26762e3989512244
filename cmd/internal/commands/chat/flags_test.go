package chat

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/proxy/chat"
)

// An approval that is not answered in time is refused. The agent reads why, the line comes back,
// and a prompt on the command line fails.
func TestAnApprovalIsRefusedAfterItsTime(t *testing.T) {
	clitest.SetForTest(t, &questionQuiet, questionDelay)
	for name, args := range map[string][]string{"interactive": {"--answer-within", "1s"}, "one prompt": {"touch x", "--answer-within", "1s"}} {
		t.Run(name, func(t *testing.T) {
			c := chatOnTerminal(t, args...)
			if name == "interactive" {
				c.wait("You: ")
				c.typeKeys("touch x\r")
			}
			c.wait("May claude use Bash? (refused if not answered by ")
			c.wait("· closed: not answered within 1s")
			c.wait(`{"behavior":"deny","message":"not answered within`)
			if name == "interactive" {
				c.typeKeys("\x04")
			}
			c.waitExit(cli.StatusRefused)
		})
	}
}

// The hint appears once, faintly, on a terminal, with a prompt on the command line as well; never
// without a terminal.
func TestTheStartSaysThatOneCanType(t *testing.T) {
	for name, c := range map[string]struct {
		term, want string
		args       []string
	}{
		"interactive":          {"xterm-256color", "\x1b[2m· claude starts: type at any time, Enter sends; Ctrl+C interrupts, Ctrl+D ends\x1b[m", nil},
		"a prompt":             {"xterm-256color", "\x1b[2m· type while claude works, Enter sends the line; Ctrl+C interrupts\x1b[m", []string{"LENGTH"}},
		"a terminal of no use": {"dumb", "· claude starts: type at any time", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TERM", c.term)
			on := chatOnTerminal(t, c.args...)
			on.wait(c.want)
			if c.args == nil {
				on.wait("You: ")
				on.typeKeys("LENGTH\r")
			}
			on.wait("HEARD 6 BYTES")
			if c.args == nil {
				on.typeKeys("\x04")
			}
			on.waitExit(cli.StatusOK)
			require.NotContains(t, on.all(), "Ctrl+C interrupts", "it is said once")
		})
	}
	withClaude(t)
	got := clitest.Command(t, "chat", "LENGTH")
	require.NotContains(t, got.Out+got.Err, "Ctrl+C")
}

func TestALimitForAnswersIsChecked(t *testing.T) {
	clitest.Isolate(t)
	for _, limit := range []string{"-1s", "10ms"} {
		clitest.Command(t, "chat", "--answer-within", limit, "hello").MustFail(t, cli.StatusUsage, "--answer-within "+limit)
		clitest.Command(t, "run", "--chat", "--answer-within", limit, "--", "claude").MustFail(t, cli.StatusUsage, "--answer-within "+limit)
	}
	clitest.Command(t, "chat", "--answer-within", "soon", "hello").MustFail(t, cli.StatusUsage, "--answer-within \"soon\": not a duration")
	clitest.Command(t, "run", "--answer-within", "10m", "--", "true").MustFail(t, cli.StatusUsage, "--answer-within needs --chat")
}

// The recording has what the user typed, each question and answer, and the end. Only the user can
// read it, and it overwrites nothing.
func TestAnInteractiveConversationIsRecorded(t *testing.T) {
	clitest.SetForTest(t, &questionQuiet, questionDelay)
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	c := chatOnTerminal(t, "--record-json", file)
	c.wait("You: ")
	c.typeKeys("touch x\r")
	c.wait("Your answer (1-2): ")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), `"text":"touch x"`, "it is there at once")
	c.typeKeys("1\r")
	c.wait(`{"behavior":"allow"`)
	c.typeKeys("\x04")
	c.waitExit(cli.StatusOK)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	text, err = os.ReadFile(file)
	require.NoError(t, err)
	at := 0
	for _, want := range []string{
		`"item":{"kind":"user",`, `"prompt":{"id":`, `"fate":"sent"`, `"request":{"id":"r1",`,
		`"intent":{"by":"you","request":"r1","answer":{"verdict":"once"}}`, `"closed":{"id":"r1","by":"you"`, `"turn":{"outcome":"done"}`, `"state":"ended"`,
	} {
		next := strings.Index(string(text)[at:], want)
		require.GreaterOrEqual(t, next, 0, "%s is not behind the rest in\n%s", want, text)
		at += next
	}
	clitest.Command(t, "chat", "--record-json", file, "hello").MustFail(t, cli.StatusRefused, "--record-json: "+file+" exists and is not empty: name a new file")
	clitest.Command(t, "chat", "--record-json", t.TempDir(), "hello").MustFail(t, cli.StatusRefused, "--record-json: ")
	clitest.Command(t, "chat", "--record-json", filepath.Join(t.TempDir(), "none", "f"), "hello").MustFail(t, cli.StatusRefused, "--record-json: ")
	again, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, text, again)
}

// deaf is a driver that takes no prompt.
type deaf struct{ report func(chat.Event) }

func (d *deaf) Start(report func(chat.Event)) error { d.report = report; return nil }
func (d *deaf) Send(chat.Prompt) error              { return errors.New("no space left on device") }
func (d *deaf) Interrupt(chat.MayAct) error         { return nil }
func (d *deaf) Answer(string, chat.Answer) error    { return nil }
func (d *deaf) Close() error                        { d.report(chat.AgentExited{}); return nil }

// No turn comes that would end, so the waiting prompts are dropped, and the command fails.
func TestAnUnsentPromptDropsTheWaitingOnes(t *testing.T) {
	d, out := &deaf{}, &strings.Builder{}
	talk := &talk{session: chat.New("claude", d), view: &chatView{text: out, about: out}, prompts: []string{"one", "two"}}
	require.NoError(t, talk.session.Start())
	d.report(chat.Ready{})
	talk.sendNextOrFinish()
	talk.parts.Wait()
	require.Equal(t, "→ You: one\n· not sent: no space left on device\n· not sent: two\n", out.String())
	require.True(t, talk.refused && talk.leaving)
}
