package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What nobody answers in time is refused: the agent reads why, the line comes back, and a prompt that ends so did not go well.
func TestAnApprovalIsRefusedAfterItsTime(t *testing.T) {
	was := questionQuiet
	questionQuiet = questionDelay
	t.Cleanup(func() { questionQuiet = was })
	for name, args := range map[string][]string{"interactive": {"--answer-within", "1s"}, "one prompt": {"touch x", "--answer-within", "1s"}} {
		t.Run(name, func(t *testing.T) {
			c := chatOnTerminal(t, args...)
			if name == "interactive" {
				c.wait("You: ")
				c.types("touch x\r")
			}
			c.wait("May claude use Bash? (refused if not answered by ")
			c.wait("· closed: not answered within 1s")
			c.wait(`{"behavior":"deny","message":"not answered within`)
			if name == "interactive" {
				c.types("\x04")
			}
			c.ends(statusRefused)
		})
	}
}

// TestTheStartSaysThatOneCanType: once, faintly, on a terminal, with a prompt on the command line as well; never without a terminal.
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
				on.types("LENGTH\r")
			}
			on.wait("HEARD 6 BYTES")
			if c.args == nil {
				on.types("\x04")
			}
			on.ends(statusOK)
			require.NotContains(t, on.all(), "Ctrl+C interrupts", "it is said once")
		})
	}
	withClaude(t)
	got := command(t, "chat", "LENGTH")
	require.NotContains(t, got.out+got.err, "Ctrl+C")
}

func TestALimitForAnswersIsChecked(t *testing.T) {
	alone(t)
	for _, limit := range []string{"-1s", "10ms"} {
		command(t, "chat", "--answer-within", limit, "hello").fails(t, statusUsage, "--answer-within "+limit)
		command(t, "run", "--chat", "--answer-within", limit, "--", "claude").fails(t, statusUsage, "--answer-within "+limit)
	}
	command(t, "chat", "--answer-within", "soon", "hello").fails(t, statusUsage, "--answer-within \"soon\": not a duration")
	command(t, "run", "--answer-within", "10m", "--", "true").fails(t, statusUsage, "--answer-within needs --chat")
}
