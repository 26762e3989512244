package main

import "testing"

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

func TestALimitForAnswersIsChecked(t *testing.T) {
	alone(t)
	for _, limit := range []string{"-1s", "10ms"} {
		command(t, "chat", "--answer-within", limit, "hello").fails(t, statusUsage, "--answer-within "+limit)
		command(t, "run", "--chat", "--answer-within", limit, "--", "claude").fails(t, statusUsage, "--answer-within "+limit)
	}
	command(t, "chat", "--answer-within", "soon", "hello").fails(t, statusUsage, "--answer-within \"soon\": not a duration")
	command(t, "run", "--answer-within", "10m", "--", "true").fails(t, statusUsage, "--answer-within needs --chat")
}
