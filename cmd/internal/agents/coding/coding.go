// Package coding prepares coding agents to run in their own interface while their conversation is
// followed from elsewhere. It does not depend on where the conversation is shown.
package coding

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"terminalproxy/cmd/internal/agents/beside"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/proxy"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/claude"
	"terminalproxy/proxy/chat/lock"
)

// Program is what a person wants to run with --chat.
type Program struct {
	Command string
	Args    []string
	Dir     string // where it starts
	// Headless: no person is at its terminal.
	Headless bool
	// AgentsMayApprove: see [proxy.Chat].
	AgentsMayApprove bool
	// Within limits how long a question of the program may stay open, 0 for no limit.
	Within time.Duration
}

// Conversation is the conversation with a program.
type Conversation struct {
	Chat *proxy.Chat
	Done func() // must be called when the program has ended, or was not started
}

type agent struct {
	name string // of the program
	// start gets an empty directory that only the user can read. Done removes it.
	start func(p Program, dir string) (*Conversation, error)
}

var agents = []agent{
	{"claude", startClaude},
}

// Names are the programs that --chat knows.
func Names() []string {
	var all []string
	for _, a := range agents {
		all = append(all, a.name)
	}
	return all
}

// UnknownError says that a program is no coding agent that --chat knows.
type UnknownError struct{ Command string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("--chat: %s is not a known coding agent: it works with %s",
		e.Command, strings.Join(Names(), ", "))
}

// Start prepares a conversation with a program. The caller then starts the program.
func Start(p Program) (*Conversation, error) {
	at := slices.IndexFunc(agents, func(a agent) bool { return a.name == filepath.Base(p.Command) })
	if at < 0 {
		return nil, &UnknownError{p.Command}
	}
	run, err := userdirs.Runtime()
	if err != nil {
		return nil, err
	}
	dir, release, err := makePlace(run)
	if err != nil {
		return nil, err
	}
	c, err := agents[at].start(p, dir)
	if err != nil {
		release()
		return nil, err
	}
	c.Chat.AgentsMayApprove = p.AgentsMayApprove
	c.Chat.Session.AnswerWithin(p.Within)
	done := c.Done
	c.Done = func() {
		if done != nil {
			done()
		}
		release()
	}
	return c, nil
}

// startClaude makes Claude Code call our hooks. If the program is headless, its configuration asks
// no questions at the start.
func startClaude(p Program, dir string) (c *Conversation, err error) {
	hook, err := beside.FindGateway()
	if err != nil {
		return nil, fmt.Errorf("--chat: claude's hooks need it: %w", err)
	}
	state, err := userdirs.State()
	if err != nil {
		return nil, err
	}
	owned := lock.New(filepath.Join(state, "chat"), "proxy --chat")
	conf := claude.TUIConfig{
		Args: p.Args, ID: chat.NewID(), Dir: dir, Claim: owned.LockConversation,
		Hook: claude.Quote(hook) + " " + claude.HookCommand,
	}
	if !p.Headless { // a person at the terminal may have chosen another mode
		conf.Settings = claude.Settings()
	}
	d := claude.NewTUI(conf)
	done := func() { _ = d.Close(); owned.Release() }
	defer func() {
		if err != nil {
			done()
		}
	}()
	args, err := d.Arguments()
	if err != nil {
		return nil, err
	}
	if p.Headless && d.LeavesChoice() {
		return nil, pickerError{}
	}
	if err := owned.LockConversation(d.Conversation()); err != nil {
		return nil, fmt.Errorf("--chat: %w", err)
	}
	env, err := d.ListenForHooks()
	if err != nil {
		return nil, err
	}
	if p.Headless {
		home, err := claudeHome(p, dir)
		if err != nil {
			return nil, fmt.Errorf("configuration of claude: %w", err)
		}
		env = append(env, home...)
	}
	return &Conversation{
		Chat: &proxy.Chat{Session: chat.New("claude", d), Beside: d, Args: args, Env: env},
		Done: done,
	}, nil
}

// pickerError: claude would let a person pick a conversation, but the program is headless.
type pickerError struct{}

func (pickerError) Error() string {
	return "--chat: claude --resume without the id of a conversation lets a person pick one, " +
		"and no person is at its terminal"
}

// Hint returns the next step.
func (pickerError) Hint() string {
	return "an id is a UUID, and is printed when a conversation ends; --continue resumes the latest"
}

// HintOfStart returns the next step if an agent ended before it showed its prompt.
func HintOfStart(args []string) string {
	for _, arg := range args {
		if name, _, _ := strings.Cut(arg, "="); name == "--resume" || name == "-r" {
			return "without --resume a new conversation begins; its id is printed when it ends"
		}
	}
	return "run it in your own terminal to see why: proxy --chat " + strings.Join(args, " ")
}

// claudeHome makes the configuration in dir, and returns the program's environment variables.
func claudeHome(p Program, dir string) ([]string, error) {
	folder, err := filepath.EvalSymlinks(p.Dir)
	if err != nil {
		return nil, err
	}
	home := filepath.Join(dir, "config")
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, err
	}
	return claude.Home(home, folder)
}
