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
	// shell is its tool that runs a command.
	shell string
	// call is what that tool takes, nil for the usual.
	call func(command string) args
	// asks is its tool with which the model asks the user, "" for none.
	asks string
	// asksIf is the setting of its own that lets it ask, "" for an agent that asks as it comes. It asks one choice at a time.
	asksIf string
	with   string // more of the command line
	// forgets: it does not always find the conversation that it has just saved, and says so.
	forgets bool
	// programs are what it is made of, with its adapter; nil for one of its name.
	programs []string
	// turns: what the user says while the model thinks makes it think again.
	turns bool
	// absorbs: the model reads what the user says while it thinks with the next result, or, where the agent heard the user
	// before the model's answer, in the place of that answer.
	absorbs bool
	// mode is the one in which it begins, "" where it has no modes.
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

// chatting is a gateway chat in a terminal, with an agent whose model the test thinks for.
type chatting struct {
	*mind
	s     *terminal
	agent chatAgent
	env   string // before the command
}

// chats prepares a terminal for talking to an agent.
func (w *world) chats(c chatAgent) *chatting {
	w.t.Helper()
	if c.programs == nil {
		c.programs = []string{c.name}
	}
	m, url := w.mind()
	m.agent = w.prepare("true") // no command of the test's: the terminal runs it
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

// starts runs gateway chat.
func (c *chatting) starts(args string) {
	c.w.t.Helper()
	c.s.anew(c.env + "gateway chat --with " + c.agent.name + " " + args + c.agent.with)
}

// says types a line.
func (c *chatting) says(line string) {
	c.w.t.Helper()
	c.s.typed(line)
	c.s.press("Enter")
}

// runs has the model run a command.
func (c *chatting) runs(command string) {
	c.w.t.Helper()
	with := args{"command": command, "description": "a test"}
	if c.agent.call != nil {
		with = c.agent.call(command)
	}
	c.answers(fakemodel.Turn{Tool: c.agent.shell, Args: with})
}

// wants has the model want to run a command, and waits for the approval, in which the line is the user's answer. An agent that asks the
// model again has thrown the call away, and gets it again.
func (c *chatting) wants(command string) {
	c.w.t.Helper()
	for again := true; again; {
		c.runs(command)
		_, again = c.askedOrNext(command)
	}
}

// asked waits for an approval or a question with these words, in which the line is the user's answer.
func (c *chatting) asked(words string) {
	c.w.t.Helper()
	c.s.approving(words)
}

// approving waits until gateway chat takes an answer for a command.
func (s *terminal) approving(command string) {
	s.w.t.Helper()
	s.see("an approval of "+command, func(screen string) bool { return approves(screen, command) })
}

func approves(screen, command string) bool {
	at := strings.LastIndex(screen, command)
	return at >= 0 && strings.Contains(screen[at:], "→ Your answer")
}

// askedOrNext waits for an approval of a command, or for another question to the model: with that, the agent threw the command away.
func (c *chatting) askedOrNext(command string) (r fakemodel.Request, next bool) {
	c.w.t.Helper()
	c.s.see("an approval of "+command+" or a question to the model", func(screen string) bool {
		if approves(screen, command) {
			return true
		}
		select {
		case q := <-c.mind.asked:
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

// TestChatMatrix: of real agents, in a conversation line by line.
func TestChatMatrix(t *testing.T) {
	for _, agent := range chatAgents {
		t.Run(agent.name, func(t *testing.T) {
			clients(t)
			w := newWorld(t)
			c := w.chats(agent)
			c.starts("")
			c.s.wait("→ You:")
			if agent.absorbs { // after a refusal its next turns overlap
				c.asksAndAnswers()
				c.s.press("C-d")
				require.Zero(t, c.s.status())
				c.starts("")
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

// allowsAndRefuses: what the user allows is done, what they refuse is not, and what they type meanwhile is read and stays.
func (c *chatting) allowsAndRefuses() {
	t := c.w.t
	t.Helper()
	c.says("make a file")
	require.Contains(t, c.next().Text, "make a file")
	c.s.typed("half a li")
	c.wants("touch made-once")
	require.NotContains(t, c.s.bottomRow(), "half a li")
	require.NoFileExists(t, c.w.path("made-once"))
	c.says("1")
	c.next()
	require.FileExists(t, c.w.path("made-once"))
	c.s.wait("→ You: half a li")
	c.says("ne follows")
	if c.agent.turns {
		for text := ""; !strings.Contains(text, "half a line follows"); { // the last is the one that stands
			text = c.next().Text
		}
		c.w.until(func() bool { return c.thinking.Load() == 1 }, func() string { return "the agent goes on with its first question to the model" })
	}
	if c.agent.absorbs {
		c.runs("touch made-twice")
		r, anew := c.askedOrNext("touch made-twice")
		if !anew {
			c.says("1")
			r = c.next()
		}
		require.Contains(t, r.Text, "half a line follows")
	}
	c.wants("touch made-never")
	c.says("no use the other one")
	said := ""
	if c.agent.turns || c.agent.absorbs {
		said = "half a line follows"
	}
	for { // with a refusal, some agents end the turn; what the user said follows in any case
		said += c.next().Text
		require.NoFileExists(t, c.w.path("made-never"))
		if strings.Contains(said, "half a line follows") && strings.Contains(said, "use the other one") {
			break
		}
		c.answers(fakemodel.Turn{Say: "GOING ON"})
	}
	c.answers(fakemodel.Turn{Say: "THE FIRST IS DONE"})
	c.s.wait("THE FIRST IS DONE")
}

// asksAndAnswers: a question of the model's is answered with the arrow keys, and one with words.
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
	c.says("ask me")
	c.next()
	c.answers(fakemodel.Turn{Tool: c.agent.asks, Args: args{"questions": questions}})
	c.asked("Which colour?")
	c.s.press("Down", "Down", "Enter")
	if c.agent.asksIf == "" {
		c.choosesSeveral()
	} else {
		c.answersInWords()
	}
	c.answers(fakemodel.Turn{Say: "THE ANSWERS ARE READ"})
	c.s.wait("THE ANSWERS ARE READ")
}

// answersInWords answers the second question, where one choice is all that can be made.
func (c *chatting) answersInWords() {
	c.w.t.Helper()
	c.asked("Which sizes?")
	c.says("none at all")
	got := c.next().Result
	require.Contains(c.w.t, got, `"colour":{"answers":["Blue"]}`)
	require.Contains(c.w.t, got, `"sizes":{"answers":["user_note: none at all"]}`)
}

// choosesSeveral answers the second question with one of its choices, and with words.
func (c *chatting) choosesSeveral() {
	c.w.t.Helper()
	c.s.see("the second question", func(screen string) bool { return strings.Contains(screen, "→ Choose (1-2)") })
	c.says("1")
	c.s.wait("[x] Small")
	c.says("none at all")
	c.s.press("Enter")
	got := c.next().Result
	require.Contains(c.w.t, got, `"Which colour?"="Blue"`)
	require.Contains(c.w.t, got, `"Which sizes?"="Small, none at all"`)
}

// interrupts: Ctrl+C ends the turn, and then the conversation goes on until Ctrl+D.
func (c *chatting) interrupts() {
	t := c.w.t
	t.Helper()
	c.starts("")
	c.s.wait("→ You:")
	c.says("think for ever")
	c.next()
	c.s.press("C-c")
	c.s.wait("· interrupted")
	c.says("and again")
	require.Contains(t, c.next().Text, "and again")
	c.s.press("C-c")
	c.s.see("the second interruption", func(screen string) bool { return strings.Count(screen, "· interrupted") == 2 })
	c.s.press("C-d")
	require.Equal(t, 130, c.s.status())
}

// resumes: the conversation goes on where it was, and nobody else gets into it.
func (c *chatting) resumes(id string) {
	t := c.w.t
	t.Helper()
	c.starts("--resume " + id + ` "and now"`)
	r := c.next()
	require.Contains(t, r.Text, "make a file")
	require.Contains(t, r.Text, "and now")
	second := c.w.gateway("chat", "--resume", id, "me too")
	require.Equal(t, 1, second.status)
	require.Contains(t, second.err, "the conversation "+id+" is open in gateway chat (process ")
	c.answers(fakemodel.Turn{Say: "IT GOES ON"})
	require.Zero(t, c.s.status())
	require.Contains(t, c.s.screen(), "IT GOES ON")
}

// dies: the agent is killed while an approval is open.
func (c *chatting) dies() {
	t := c.w.t
	t.Helper()
	c.starts(`"make another"`)
	c.next()
	c.wants("touch made-after-death")
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

// abandons: gateway chat is killed while an approval is open. The agent ends, and does nothing before that.
func (c *chatting) abandons() {
	t := c.w.t
	t.Helper()
	c.starts(`"make a last one"`)
	c.next()
	c.wants("touch made-alone")
	var left []string
	for _, p := range c.w.processes() {
		pid, line, _ := strings.Cut(p, " ")
		switch {
		case strings.HasPrefix(line, "gateway chat") || strings.Contains(line, "/gateway chat"):
			c.w.kill(pid, syscall.SIGKILL)
		case !strings.HasPrefix(line, "tmux") && !strings.HasPrefix(line, "bash") && !strings.HasPrefix(line, "cat "): // which films the window
			left = append(left, pid)
		}
	}
	require.NotEmpty(t, left)
	ended := make(chan struct{})
	var model sync.WaitGroup
	model.Go(func() { // some go on with the turn, refused
		for {
			select {
			case q := <-c.mind.asked:
				q.answer <- fakemodel.Turn{Say: "NOBODY READS THIS"}
			case <-ended:
				return
			}
		}
	})
	defer model.Wait()
	defer close(ended)
	for _, pid := range left {
		c.w.gone(pid)
	}
	require.NoFileExists(t, c.w.path("made-alone"))
}

// bottomRow is the last row with something in it.
func (s *terminal) bottomRow() string {
	rows := strings.Split(strings.TrimRight(s.screen(), "\n "), "\n")
	return rows[len(rows)-1]
}

// TestChatWithoutATerminal: only the prompt is read, and nothing is allowed.
func TestChatWithoutATerminal(t *testing.T) {
	for _, agent := range chatAgents {
		t.Run(agent.name, func(t *testing.T) {
			clients(t)
			w := newWorld(t)
			c := w.chats(agent)
			r := w.prepare("gateway", "chat", "--with", agent.name)
			r.cmd.Env = append(r.cmd.Env, envOf(c.env)...)
			r.cmd.Stdin = strings.NewReader("make a file\n")
			r.run()
			require.Contains(t, c.next().Text, "make a file")
			c.runs("touch made-without")
			select {
			case q := <-c.mind.asked:
				q.answer <- fakemodel.Turn{Say: "NOTHING IS DONE"}
				require.Equal(t, "NOTHING IS DONE\n", r.wait().out)
			case <-r.ended: // some agents end the turn with a refusal
			}
			got := r.wait()
			got.fails(t, 1, "nobody can answer without a terminal")
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

// envOf are the variables of a prefix that chats made.
func envOf(prefix string) []string {
	return strings.Split(strings.TrimSuffix(strings.TrimPrefix(prefix, "env '"), "' "), "' '")
}
