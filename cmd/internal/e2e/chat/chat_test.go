package chat_test

import (
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/dev/fakemodel"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// start runs gateway chat.
func start(c *world.Chatting, args string) {
	c.W.T.Helper()
	c.S.RunAnew(c.Env + "gateway chat --with " + c.Agent.Name + " " + args + c.Agent.With)
}

// askToRun lets the model ask to run a command, and waits for the approval, so that the next line
// is the user's answer. If the agent asks the model again, it has thrown the call away, and gets
// the call once more.
func askToRun(c *world.Chatting, command string) {
	c.W.T.Helper()
	for again := true; again; {
		c.CallShell(command)
		_, again = askedOrNext(c, command)
	}
}

// waitRequest waits for an approval or a question with these words, so that the next line is the
// user's answer.
func waitRequest(c *world.Chatting, words string) {
	c.W.T.Helper()
	waitApproval(c.S, words)
}

// waitApproval waits until gateway chat takes an answer for a command.
func waitApproval(s *world.Terminal, command string) {
	s.W.T.Helper()
	s.See("an approval of "+command, func(screen string) bool { return approves(screen, command) })
}

func approves(screen, command string) bool {
	at := strings.LastIndex(screen, command)
	return at >= 0 && strings.Contains(screen[at:], "→ Your answer")
}

// askedOrNext waits for the approval of a command, or for another question to the model. In the
// second case the agent has thrown the command away.
func askedOrNext(c *world.Chatting, command string) (r fakemodel.Request, next bool) {
	c.W.T.Helper()
	c.S.See("an approval of "+command+" or a question to the model", func(screen string) bool {
		if approves(screen, command) {
			return true
		}
		select {
		case q := <-c.Asked:
			next = q.Ctx.Err() == nil
			if next {
				r, c.Open = q.Request, q
			}
		default:
		}
		return next
	})
	return r, next
}

// TestChatMatrix_Client holds a conversation line by line with each real agent.
func TestChatMatrix_Client(t *testing.T) {
	for _, agent := range world.ChatAgents {
		t.Run(agent.Name, func(t *testing.T) {
			world.Clients(t)
			w := world.New(t)
			writeDot(w, "dot.png")
			c := w.NewChat(agent)
			start(c, "")
			c.S.Wait("→ You:")
			if agent.Mode != "" {
				c.S.Wait("the mode is " + agent.Mode)
			}
			if agent.Absorbs { // after a refusal its next turns overlap
				asksAndAnswers(c)
				c.S.Press("C-d")
				require.Zero(t, c.S.Status())
				start(c, "")
				c.S.Wait("→ You:")
			}
			allowsAndRefuses(c)
			if !agent.Absorbs {
				asksAndAnswers(c)
			}
			seesAnImage(c)
			c.S.Press("C-d")
			id := c.S.Match(`--resume (\S+)`)
			require.Zero(t, c.S.Status())
			if !agent.Forgets {
				resumes(c, id)
			}
			interrupts(c)
			dies(c)
			abandons(c)
		})
	}
}

// allowsAndRefuses checks that the agent does what the user allows and nothing that the user
// refuses. What the user types meanwhile is read and kept.
func allowsAndRefuses(c *world.Chatting) {
	t := c.W.T
	t.Helper()
	c.Say("make a file")
	require.Contains(t, c.Next().Text, "make a file")
	c.S.Typed("half a li")
	askToRun(c, "touch made-once")
	require.NotContains(t, bottomRow(c.S), "half a li")
	require.NoFileExists(t, c.W.Path("made-once"))
	c.Say("1")
	c.Next()
	require.FileExists(t, c.W.Path("made-once"))
	c.S.Wait("→ You: half a li")
	c.Say("ne follows")
	if c.Agent.Turns {
		for text := ""; !strings.Contains(text, "half a line follows"); { // the last one counts
			text = c.Next().Text
		}
		c.W.Until(func() bool { return c.Thinking.Load() == 1 }, func() string { return "the agent goes on with its first question to the model" })
	}
	if c.Agent.Absorbs {
		c.CallShell("touch made-twice")
		r, anew := askedOrNext(c, "touch made-twice")
		if !anew {
			c.Say("1")
			r = c.Next()
		}
		require.Contains(t, r.Text, "half a line follows")
	}
	askToRun(c, "touch made-never")
	c.Say("no use the other one")
	said := ""
	if c.Agent.Turns || c.Agent.Absorbs {
		said = "half a line follows"
	}
	for { // some agents end the turn after a refusal; the user's words follow in any case
		said += c.Next().Text
		require.NoFileExists(t, c.W.Path("made-never"))
		if strings.Contains(said, "half a line follows") && strings.Contains(said, "use the other one") {
			break
		}
		c.Reply(fakemodel.Turn{Say: "GOING ON"})
	}
	c.Reply(fakemodel.Turn{Say: "THE FIRST IS DONE"})
	c.S.Wait("THE FIRST IS DONE")
}

// asksAndAnswers answers one of the model's questions with the arrow keys, and one with words.
func asksAndAnswers(c *world.Chatting) {
	c.W.T.Helper()
	if c.Agent.Asks == "" {
		return
	}
	questions := []world.Args{
		{"id": "colour", "question": "Which colour?", "header": "Colour", "options": []world.Args{{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}}},
		{"id": "sizes", "question": "Which sizes?", "header": "Sizes", "options": []world.Args{{"label": "Small", "description": "s"}, {"label": "Large", "description": "l"}}},
	}
	if c.Agent.AsksIf == "" {
		questions[0]["multiSelect"], questions[1]["multiSelect"] = false, true
	}
	c.Say("ask me")
	c.Next()
	c.Reply(fakemodel.Turn{Tool: c.Agent.Asks, Args: world.Args{"questions": questions}})
	waitRequest(c, "Which colour?")
	c.S.Press("Down", "Down", "Enter")
	if c.Agent.AsksIf == "" {
		choosesSeveral(c)
	} else {
		answersInWords(c)
	}
	c.Reply(fakemodel.Turn{Say: "THE ANSWERS ARE READ"})
	c.S.Wait("THE ANSWERS ARE READ")
}

// answersInWords answers the second question, if the agent takes only one choice.
func answersInWords(c *world.Chatting) {
	c.W.T.Helper()
	waitRequest(c, "Which sizes?")
	c.Say("none at all")
	got := c.Next().Result
	require.Contains(c.W.T, got, `"colour":{"answers":["Blue"]}`)
	require.Contains(c.W.T, got, `"sizes":{"answers":["user_note: none at all"]}`)
}

// choosesSeveral answers the second question with one of its choices, and with words.
func choosesSeveral(c *world.Chatting) {
	c.W.T.Helper()
	c.S.See("the second question", func(screen string) bool { return strings.Contains(screen, "→ Choose (1-2)") })
	c.Say("1")
	c.S.Wait("[x] Small")
	c.Say("none at all")
	c.S.Press("Enter")
	got := c.Next().Result
	require.Contains(c.W.T, got, `"Which colour?"="Blue"`)
	require.Contains(c.W.T, got, `"Which sizes?"="Small, none at all"`)
}

// seesAnImage checks that the model gets an image with the next line.
func seesAnImage(c *world.Chatting) {
	c.W.T.Helper()
	c.Say("/image dot.png")
	c.S.Wait("· with your next line: [image: dot.png, ")
	c.Say("what do you see?")
	waitForDot(c, "what do you see?")
	c.Reply(fakemodel.Turn{Say: "A RED DOT"})
	c.S.Wait("A RED DOT")
}

// interrupts checks that Ctrl+C ends the turn and the conversation then continues until Ctrl+D.
func interrupts(c *world.Chatting) {
	t := c.W.T
	t.Helper()
	start(c, "")
	c.S.Wait("→ You:")
	c.Say("think for ever")
	c.Next()
	c.S.Press("C-c")
	c.S.Wait("· interrupted")
	c.Say("and again")
	require.Contains(t, c.Next().Text, "and again")
	c.S.Press("C-c")
	c.S.See("the second interruption", func(screen string) bool { return strings.Count(screen, "· interrupted") == 2 })
	c.S.Press("C-d")
	require.Equal(t, 130, c.S.Status())
}

// resumes checks that the conversation continues where it stopped, and that a second writer is
// refused.
func resumes(c *world.Chatting, id string) {
	t := c.W.T
	t.Helper()
	start(c, "--resume "+id+` --image dot.png "and now"`)
	r := waitForDot(c, "and now")
	require.Contains(t, r.Text, "make a file")
	second := c.W.Gateway("chat", "--resume", id, "me too")
	require.Equal(t, 1, second.Status)
	require.Contains(t, second.Err, "the conversation "+id+" is open in gateway chat (process ")
	c.Reply(fakemodel.Turn{Say: "IT GOES ON"})
	require.Zero(t, c.S.Status())
	c.S.Wait("IT GOES ON")
}

// dies kills the agent while an approval is open.
func dies(c *world.Chatting) {
	t := c.W.T
	t.Helper()
	start(c, `"make another"`)
	c.Next()
	askToRun(c, "touch made-after-death")
	killed := 0
	for _, p := range c.W.Processes() {
		pid, line, _ := strings.Cut(p, " ")
		ours := slices.ContainsFunc(c.Agent.Programs, func(program string) bool { return strings.Contains(line, program) })
		if !strings.Contains(line, "gateway") && ours && !strings.HasPrefix(line, "tmux") && !strings.HasPrefix(line, "bash") {
			c.W.KillOne(pid, syscall.SIGKILL)
			killed++
		}
	}
	require.Positive(t, killed)
	require.Equal(t, 1, c.S.Status())
	c.S.Wait(c.Agent.Name + " was killed")
	require.NoFileExists(t, c.W.Path("made-after-death"))
}

// abandons kills gateway chat while an approval is open. The agent ends, and does nothing before
// that.
func abandons(c *world.Chatting) {
	t := c.W.T
	t.Helper()
	start(c, `"make a last one"`)
	c.Next()
	askToRun(c, "touch made-alone")
	var left []string
	for _, p := range c.W.Processes() {
		pid, line, _ := strings.Cut(p, " ")
		switch {
		case strings.HasPrefix(line, "gateway chat") || strings.Contains(line, "/gateway chat"):
			c.W.Kill(pid, syscall.SIGKILL)
		case !strings.HasPrefix(line, "tmux") && !strings.HasPrefix(line, "bash") && !strings.HasPrefix(line, "cat "): // the film of the window
			left = append(left, pid)
		}
	}
	require.NotEmpty(t, left)
	ended := make(chan struct{})
	var model sync.WaitGroup
	model.Go(func() { // some agents continue the turn after a refusal
		for {
			select {
			case q := <-c.Asked:
				q.Answer <- fakemodel.Turn{Say: "NOBODY READS THIS"}
			case <-ended:
				return
			}
		}
	})
	defer model.Wait()
	defer close(ended)
	for _, pid := range left {
		c.W.WaitGone(pid)
	}
	require.NoFileExists(t, c.W.Path("made-alone"))
}

// bottomRow returns the last row that is not empty.
func bottomRow(s *world.Terminal) string {
	rows := strings.Split(strings.TrimRight(s.Screen(), "\n "), "\n")
	return rows[len(rows)-1]
}

// Without a terminal, gateway chat reads only the prompt and allows nothing.
func TestChatWithoutATerminal_Client(t *testing.T) {
	for _, agent := range world.ChatAgents {
		t.Run(agent.Name, func(t *testing.T) {
			world.Clients(t)
			w := world.New(t)
			c := w.NewChat(agent)
			r := w.Prepare("gateway", "chat", "--with", agent.Name)
			r.Cmd.Env = append(r.Cmd.Env, envOf(c.Env)...)
			r.Cmd.Stdin = strings.NewReader("make a file\n")
			r.Run()
			require.Contains(t, c.Next().Text, "make a file")
			c.CallShell("touch made-without")
			select {
			case q := <-c.Asked:
				q.Answer <- fakemodel.Turn{Say: "NOTHING IS DONE"}
				require.Equal(t, "NOTHING IS DONE\n", r.Wait().Out)
			case <-r.Ended: // some agents end the turn after a refusal
			}
			got := r.Wait()
			got.MustFail(t, 1, "no person can answer without a terminal")
			require.NoFileExists(t, w.Path("made-without"))

			if agent.Name != "claude" {
				return
			}
			r = w.Prepare("gateway", "chat", "--json", "--with", agent.Name, "say something")
			r.Cmd.Env = append(r.Cmd.Env, envOf(c.Env)...)
			r.Run()
			c.Next()
			require.NoError(t, r.Cmd.Process.Signal(syscall.SIGINT))
			got = r.Wait()
			require.Equal(t, 130, got.Status, got.Err)
			require.Contains(t, got.Out, `"turn":{"outcome":"interrupted"`)
			for line := range strings.Lines(got.Out) {
				require.True(t, strings.HasPrefix(line, `{"number":`) && strings.HasSuffix(line, "}\n"), line)
			}
		})
	}
}

// envOf returns the variables in the prefix of a command that chats made.
func envOf(prefix string) []string {
	return strings.Split(strings.TrimSuffix(strings.TrimPrefix(prefix, "env '"), "' "), "' '")
}
