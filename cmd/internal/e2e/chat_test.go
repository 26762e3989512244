package e2e_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/fakemodel"
)

// chatAgent is an agent that gateway chat talks to.
type chatAgent struct {
	name  string
	setUp func(w *world, model string) (env []string)
	// shell is the name of its tool that runs a command.
	shell string
	// call builds that tool's arguments; nil for the usual ones.
	call func(command string) args
	// asks is the name of the tool with which the model asks the user, or "".
	asks string
	// asksIf is the agent's own setting that enables the tool, or "" if the tool needs none. The
	// tool then asks for one choice at a time.
	asksIf string
	with   string // more arguments of the command line
	// forgets: the agent does not always find the conversation that it has just saved, and says so.
	forgets bool
	// programs are what the agent needs, with its adapter; nil for one program of its name.
	programs []string
	// turns: if the user says something while the model thinks, the model is asked again.
	turns bool
	// absorbs: the model reads what the user says meanwhile together with the next tool result. If
	// the user spoke before the model answered, it reads the words in place of that answer.
	absorbs bool
	// mode is the agent's first mode, or "" if it has no modes.
	mode string
}

var chatAgents = []chatAgent{
	{name: "claude", setUp: (*world).claudeEnv, shell: "Bash", asks: "AskUserQuestion", mode: "default"},
	{name: "claude-acp", setUp: (*world).claudeEnv, shell: "Bash", asks: "AskUserQuestion", programs: []string{"claude-agent-acp", "claude"}, turns: true, mode: "default"},
	{
		name: "codex", setUp: (*world).codexAsksEnv, shell: "exec_command", programs: []string{"codex-acp", "codex"}, absorbs: true,
		asks: "request_user_input", asksIf: "with a setting", mode: "read-only",
		call: func(command string) args {
			return args{"cmd": command, "sandbox_permissions": "require_escalated", "justification": "a test"}
		},
	},
	{name: "gemini", setUp: (*world).geminiEnv, shell: "run_shell_command", with: " -- --model gemini-2.5-flash", forgets: true, mode: "default"},
	{name: "opencode", setUp: (*world).opencodeEnv, shell: "bash"},
	{name: "copilot", setUp: (*world).copilotEnv, shell: "bash"},
}

func chatAgentNamed(name string) chatAgent {
	return chatAgents[slices.IndexFunc(chatAgents, func(c chatAgent) bool { return c.name == name })]
}

// chatting is a gateway chat in a terminal, with an agent. The test plays the agent's model.
type chatting struct {
	*mind
	s     *terminal
	agent chatAgent
	env   string // set before the command
}

// newChat prepares a terminal for a conversation with an agent.
func (w *world) newChat(c chatAgent) *chatting {
	w.t.Helper()
	if c.programs == nil {
		c.programs = []string{c.name}
	}
	m, url := w.mind()
	m.agent = w.prepare("true") // the terminal runs the agent, not the test
	dir := w.path("agents")
	require.NoError(w.t, os.Mkdir(dir, 0o700))
	for _, program := range c.programs {
		require.NoError(w.t, os.Symlink(fromNpm(w.t, program), filepath.Join(dir, program)))
	}
	env := append(c.setUp(w, url), "PATH="+dir+":"+filepath.Join(root, "bin")+":"+os.Getenv("PATH"))
	return &chatting{mind: m, s: w.terminal(100, 50), agent: c, env: "env '" + strings.Join(env, "' '") + "' "}
}

// next waits for the agent's next question to the model.
func (c *chatting) next() fakemodel.Request {
	c.w.t.Helper()
	return c.nextUntil(nil, c.s.screen)
}

// start runs gateway chat.
func (c *chatting) start(args string) {
	c.w.t.Helper()
	c.s.runAnew(c.env + "gateway chat --with " + c.agent.name + " " + args + c.agent.with)
}

// say types a line.
func (c *chatting) say(line string) {
	c.w.t.Helper()
	c.s.typed(line)
	c.s.press("Enter")
}

// callShell lets the model run a command.
func (c *chatting) callShell(command string) {
	c.w.t.Helper()
	with := args{"command": command, "description": "a test"}
	if c.agent.call != nil {
		with = c.agent.call(command)
	}
	c.reply(fakemodel.Turn{Tool: c.agent.shell, Args: with})
}

// askToRun lets the model ask to run a command, and waits for the approval, so that the next line
// is the user's answer. If the agent asks the model again, it has thrown the call away, and gets
// the call once more.
func (c *chatting) askToRun(command string) {
	c.w.t.Helper()
	for again := true; again; {
		c.callShell(command)
		_, again = c.askedOrNext(command)
	}
}

// waitRequest waits for an approval or a question with these words, so that the next line is the
// user's answer.
func (c *chatting) waitRequest(words string) {
	c.w.t.Helper()
	c.s.waitApproval(words)
}

// waitApproval waits until gateway chat takes an answer for a command.
func (s *terminal) waitApproval(command string) {
	s.w.t.Helper()
	s.see("an approval of "+command, func(screen string) bool { return approves(screen, command) })
}

func approves(screen, command string) bool {
	at := strings.LastIndex(screen, command)
	return at >= 0 && strings.Contains(screen[at:], "→ Your answer")
}

// askedOrNext waits for the approval of a command, or for another question to the model. In the
// second case the agent has thrown the command away.
func (c *chatting) askedOrNext(command string) (r fakemodel.Request, next bool) {
	c.w.t.Helper()
	c.s.see("an approval of "+command+" or a question to the model", func(screen string) bool {
		if approves(screen, command) {
			return true
		}
		select {
		case q := <-c.asked:
			next = q.ctx.Err() == nil
			if next {
				r, c.open = q.Request, q
			}
		default:
		}
		return next
	})
	return r, next
}

// TestChatMatrix holds a conversation line by line with each real agent.
func TestChatMatrix(t *testing.T) {
	for _, agent := range chatAgents {
		t.Run(agent.name, func(t *testing.T) {
			clients(t)
			w := newWorld(t)
			c := w.newChat(agent)
			c.start("")
			c.s.wait("→ You:")
			if agent.absorbs { // after a refusal its next turns overlap
				c.asksAndAnswers()
				c.s.press("C-d")
				require.Zero(t, c.s.status())
				c.start("")
				c.s.wait("→ You:")
			}
			c.allowsAndRefuses()
			if !agent.absorbs {
				c.asksAndAnswers()
			}
			c.s.press("C-d")
			id := c.s.match(`--resume (\S+)`)
			require.Zero(t, c.s.status())
			if !agent.forgets {
				c.resumes(id)
			}
			c.interrupts()
			c.dies()
			c.abandons()
		})
	}
}

// allowsAndRefuses checks that the agent does what the user allows and nothing that the user
// refuses. What the user types meanwhile is read and kept.
func (c *chatting) allowsAndRefuses() {
	t := c.w.t
	t.Helper()
	c.say("make a file")
	require.Contains(t, c.next().Text, "make a file")
	c.s.typed("half a li")
	c.askToRun("touch made-once")
	require.NotContains(t, c.s.bottomRow(), "half a li")
	require.NoFileExists(t, c.w.path("made-once"))
	c.say("1")
	c.next()
	require.FileExists(t, c.w.path("made-once"))
	c.s.wait("→ You: half a li")
	c.say("ne follows")
	if c.agent.turns {
		for text := ""; !strings.Contains(text, "half a line follows"); { // the last one counts
			text = c.next().Text
		}
		c.w.until(func() bool { return c.thinking.Load() == 1 }, func() string { return "the agent goes on with its first question to the model" })
	}
	if c.agent.absorbs {
		c.callShell("touch made-twice")
		r, anew := c.askedOrNext("touch made-twice")
		if !anew {
			c.say("1")
			r = c.next()
		}
		require.Contains(t, r.Text, "half a line follows")
	}
	c.askToRun("touch made-never")
	c.say("no use the other one")
	said := ""
	if c.agent.turns || c.agent.absorbs {
		said = "half a line follows"
	}
	for { // some agents end the turn after a refusal; the user's words follow in any case
		said += c.next().Text
		require.NoFileExists(t, c.w.path("made-never"))
		if strings.Contains(said, "half a line follows") && strings.Contains(said, "use the other one") {
			break
		}
		c.reply(fakemodel.Turn{Say: "GOING ON"})
	}
	c.reply(fakemodel.Turn{Say: "THE FIRST IS DONE"})
	c.s.wait("THE FIRST IS DONE")
}

// asksAndAnswers answers one of the model's questions with the arrow keys, and one with words.
func (c *chatting) asksAndAnswers() {
	c.w.t.Helper()
	if c.agent.asks == "" {
		return
	}
	questions := []args{
		{"id": "colour", "question": "Which colour?", "header": "Colour", "options": []args{{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}}},
		{"id": "sizes", "question": "Which sizes?", "header": "Sizes", "options": []args{{"label": "Small", "description": "s"}, {"label": "Large", "description": "l"}}},
	}
	if c.agent.asksIf == "" {
		questions[0]["multiSelect"], questions[1]["multiSelect"] = false, true
	}
	c.say("ask me")
	c.next()
	c.reply(fakemodel.Turn{Tool: c.agent.asks, Args: args{"questions": questions}})
	c.waitRequest("Which colour?")
	c.s.press("Down", "Down", "Enter")
	if c.agent.asksIf == "" {
		c.choosesSeveral()
	} else {
		c.answersInWords()
	}
	c.reply(fakemodel.Turn{Say: "THE ANSWERS ARE READ"})
	c.s.wait("THE ANSWERS ARE READ")
}

// answersInWords answers the second question, if the agent takes only one choice.
func (c *chatting) answersInWords() {
	c.w.t.Helper()
	c.waitRequest("Which sizes?")
	c.say("none at all")
	got := c.next().Result
	require.Contains(c.w.t, got, `"colour":{"answers":["Blue"]}`)
	require.Contains(c.w.t, got, `"sizes":{"answers":["user_note: none at all"]}`)
}

// choosesSeveral answers the second question with one of its choices, and with words.
func (c *chatting) choosesSeveral() {
	c.w.t.Helper()
	c.s.see("the second question", func(screen string) bool { return strings.Contains(screen, "→ Choose (1-2)") })
	c.say("1")
	c.s.wait("[x] Small")
	c.say("none at all")
	c.s.press("Enter")
	got := c.next().Result
	require.Contains(c.w.t, got, `"Which colour?"="Blue"`)
	require.Contains(c.w.t, got, `"Which sizes?"="Small, none at all"`)
}

// interrupts checks that Ctrl+C ends the turn and the conversation then continues until Ctrl+D.
func (c *chatting) interrupts() {
	t := c.w.t
	t.Helper()
	c.start("")
	c.s.wait("→ You:")
	c.say("think for ever")
	c.next()
	c.s.press("C-c")
	c.s.wait("· interrupted")
	c.say("and again")
	require.Contains(t, c.next().Text, "and again")
	c.s.press("C-c")
	c.s.see("the second interruption", func(screen string) bool { return strings.Count(screen, "· interrupted") == 2 })
	c.s.press("C-d")
	require.Equal(t, 130, c.s.status())
}

// resumes checks that the conversation continues where it stopped, and that a second writer is
// refused.
func (c *chatting) resumes(id string) {
	t := c.w.t
	t.Helper()
	c.start("--resume " + id + ` "and now"`)
	r := c.next()
	require.Contains(t, r.Text, "make a file")
	require.Contains(t, r.Text, "and now")
	second := c.w.gateway("chat", "--resume", id, "me too")
	require.Equal(t, 1, second.status)
	require.Contains(t, second.err, "the conversation "+id+" is open in gateway chat (process ")
	c.reply(fakemodel.Turn{Say: "IT GOES ON"})
	require.Zero(t, c.s.status())
	require.Contains(t, c.s.screen(), "IT GOES ON")
}

// dies kills the agent while an approval is open.
func (c *chatting) dies() {
	t := c.w.t
	t.Helper()
	c.start(`"make another"`)
	c.next()
	c.askToRun("touch made-after-death")
	killed := 0
	for _, p := range c.w.processes() {
		pid, line, _ := strings.Cut(p, " ")
		ours := slices.ContainsFunc(c.agent.programs, func(program string) bool { return strings.Contains(line, program) })
		if !strings.Contains(line, "gateway") && ours && !strings.HasPrefix(line, "tmux") && !strings.HasPrefix(line, "bash") {
			c.w.killOne(pid, syscall.SIGKILL)
			killed++
		}
	}
	require.Positive(t, killed)
	require.Equal(t, 1, c.s.status())
	require.Contains(t, c.s.screen(), c.agent.name+" was killed")
	require.NoFileExists(t, c.w.path("made-after-death"))
}

// abandons kills gateway chat while an approval is open. The agent ends, and does nothing before
// that.
func (c *chatting) abandons() {
	t := c.w.t
	t.Helper()
	c.start(`"make a last one"`)
	c.next()
	c.askToRun("touch made-alone")
	var left []string
	for _, p := range c.w.processes() {
		pid, line, _ := strings.Cut(p, " ")
		switch {
		case strings.HasPrefix(line, "gateway chat") || strings.Contains(line, "/gateway chat"):
			c.w.kill(pid, syscall.SIGKILL)
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
			case q := <-c.asked:
				q.answer <- fakemodel.Turn{Say: "NOBODY READS THIS"}
			case <-ended:
				return
			}
		}
	})
	defer model.Wait()
	defer close(ended)
	for _, pid := range left {
		c.w.waitGone(pid)
	}
	require.NoFileExists(t, c.w.path("made-alone"))
}

// bottomRow returns the last row that is not empty.
func (s *terminal) bottomRow() string {
	rows := strings.Split(strings.TrimRight(s.screen(), "\n "), "\n")
	return rows[len(rows)-1]
}

// Without a terminal, gateway chat reads only the prompt and allows nothing.
func TestChatWithoutATerminal(t *testing.T) {
	for _, agent := range chatAgents {
		t.Run(agent.name, func(t *testing.T) {
			clients(t)
			w := newWorld(t)
			c := w.newChat(agent)
			r := w.prepare("gateway", "chat", "--with", agent.name)
			r.cmd.Env = append(r.cmd.Env, envOf(c.env)...)
			r.cmd.Stdin = strings.NewReader("make a file\n")
			r.run()
			require.Contains(t, c.next().Text, "make a file")
			c.callShell("touch made-without")
			select {
			case q := <-c.asked:
				q.answer <- fakemodel.Turn{Say: "NOTHING IS DONE"}
				require.Equal(t, "NOTHING IS DONE\n", r.wait().out)
			case <-r.ended: // some agents end the turn after a refusal
			}
			got := r.wait()
			got.mustFail(t, 1, "no person can answer without a terminal")
			require.NoFileExists(t, w.path("made-without"))

			r = w.prepare("gateway", "chat", "--json", "--with", agent.name, "say something")
			r.cmd.Env = append(r.cmd.Env, envOf(c.env)...)
			r.run()
			c.next()
			require.NoError(t, r.cmd.Process.Signal(syscall.SIGINT))
			got = r.wait()
			require.Equal(t, 130, got.status, got.err)
			require.Contains(t, got.out, `"turn":{"outcome":"interrupted"`)
			for line := range strings.Lines(got.out) {
				require.True(t, strings.HasPrefix(line, `{"number":`) && strings.HasSuffix(line, "}\n"), line)
			}
		})
	}
}

// envOf returns the variables in the prefix of a command that chats made.
func envOf(prefix string) []string {
	return strings.Split(strings.TrimSuffix(strings.TrimPrefix(prefix, "env '"), "' "), "' '")
}
