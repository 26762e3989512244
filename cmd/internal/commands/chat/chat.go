// Package chat lets a user talk to a coding agent, line by line.
package chat

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"terminalproxy/cmd/internal/agents/coding"
	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/outer"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/acp"
	"terminalproxy/proxy/chat/claude"
	"terminalproxy/proxy/chat/lock"
	"terminalproxy/proxy/chat/stdio"
)

// chatAgent is a coding agent that a person can talk to line by line.
type chatAgent struct {
	name    string // in --with, and as the author of its texts
	program string // what runs, "" for one of that name
	install string // how to get it
	drive   func(in chatOptions) chat.Driver
	// takesRefusalText: a refusal can carry text. Other agents get the text as a prompt.
	takesRefusalText bool
	// assignsID: it chooses the id of a new conversation itself.
	assignsID bool
}

var chatAgents = []chatAgent{
	{
		name:             "claude",
		install:          "npm install -g @anthropic-ai/claude-code",
		takesRefusalText: true,
		drive: func(in chatOptions) chat.Driver {
			if in.mode != "" {
				in.args = append([]string{"--permission-mode", in.mode}, in.args...)
			}
			return claude.New(claude.Config{ID: in.id, Resume: in.resume != "", Args: in.args})
		},
	},
	{
		name:      "claude-acp",
		program:   "claude-agent-acp",
		install:   "npm install -g @agentclientprotocol/claude-agent-acp",
		assignsID: true,
		drive: func(in chatOptions) chat.Driver {
			return in.acpDriver(acp.Config{
				SignIn: "run claude and type /login",
				Env:    useInstalledProgram("CLAUDE_CODE_EXECUTABLE", "claude"),
				Mode:   "default",
			})
		},
	},
	{
		name:      "codex",
		program:   "codex-acp",
		install:   "npm install -g @agentclientprotocol/codex-acp",
		assignsID: true,
		drive: func(in chatOptions) chat.Driver {
			c := acp.Config{
				SignIn: "run codex login",
				Env:    useInstalledProgram("CODEX_PATH", "codex"),
				Mode:   "read-only",
			}
			if os.Getenv("INITIAL_AGENT_MODE") != "" {
				c.Mode = "" // the user chose a mode; by default a model reviews its requests
			}
			return in.acpDriver(c)
		},
	},
	{
		name:      "gemini",
		install:   "npm install -g @google/gemini-cli",
		assignsID: true,
		drive: func(in chatOptions) chat.Driver {
			args := []string{"--acp"}
			if !hasAnyFlag(in.args, "--approval-mode", "--yolo", "-y") {
				args = append(args, "--approval-mode", "default")
			}
			return in.acpDriver(acp.Config{
				Args:   args,
				SignIn: "run gemini once and sign in",
			})
		},
	},
	{
		name:      "opencode",
		install:   "npm install -g opencode-ai",
		assignsID: true,
		drive: func(in chatOptions) chat.Driver {
			return in.acpDriver(acp.Config{
				Args:   []string{"acp"},
				SignIn: "run opencode auth login",
				Env:    askingVariables(),
			})
		},
	},
	{
		name:      "copilot",
		install:   "npm install -g @github/copilot",
		assignsID: true,
		drive: func(in chatOptions) chat.Driver {
			return in.acpDriver(acp.Config{
				Args:    []string{"--acp"},
				SignIn:  "run copilot login",
				Notices: true,
			})
		},
	},
}

// acpDriver makes the driver of an agent that speaks the Agent Client Protocol.
func (in chatOptions) acpDriver(c acp.Config) chat.Driver {
	c.Name, c.Program, c.Dir, c.Resume = in.with, in.program, in.dir, in.resume
	c.Args = append(c.Args, in.args...)
	c.Mode = cmp.Or(in.mode, c.Mode)
	return acp.New(c)
}

// useInstalledProgram makes an adapter run the user's program instead of its bundled one.
func useInstalledProgram(variable, program string) []string {
	path, err := exec.LookPath(program)
	if err != nil || os.Getenv(variable) != "" {
		return nil
	}
	return []string{variable + "=" + path}
}

// asksVariable says what opencode asks for.
const asksVariable = "OPENCODE_PERMISSION"

// askingVariables returns variables that make opencode ask before it does more than look; without
// them it asks for nothing. If the user's environment decides, it returns nil.
func askingVariables() []string {
	if os.Getenv(asksVariable) != "" {
		return nil
	}
	return []string{
		asksVariable + `={"*":"ask","read":"allow","grep":"allow","glob":"allow","list":"allow",` +
			`"todowrite":"allow","todoread":"allow","question":"deny"}`,
	}
}

// hasAnyFlag reports whether any of the flags is among the arguments.
func hasAnyFlag(args []string, flags ...string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		flag, _, _ := strings.Cut(arg, "=")
		return slices.Contains(flags, flag)
	})
}

// chatOptions are the options of gateway chat.
type chatOptions struct {
	words              []string // of the prompt, at most one
	files              []string // of images
	with, resume, file string
	program            string        // of the agent
	images             []chat.Image  // sent with the first prompt
	journal            string        // the file of --record-json, or ""
	mode               string        // the agent's first mode, "" for the one in which it asks
	silent             bool          // --no-terminal-input
	within             time.Duration // time limit for answering a request; 0 is no limit
	nested             bool          // ask the people of the enclosing conversation
	prompt             string
	args               []string // for the agent
	id                 string   // of the conversation, "" until the agent chooses one
	dir                string   // the agent's directory
}

// New makes the command gateway chat.
func New(env *cli.Env) *cobra.Command {
	var opts chatOptions
	cmd := &cobra.Command{
		Use:   "chat [PROMPT] [--with AGENT] [-- ARGS]",
		Short: "Talk to a coding agent line by line, and answer what it asks",
		Long: "chat runs a coding agent without its own user interface. Its answers stream as " +
			"text. You can type while it works: Enter sends the\n" +
			"line, and the agent reads it as soon as it can. Approvals and questions come in " +
			"between: answer with a number or a word, or\n" +
			"choose with the arrow keys. Without your answer nothing is allowed.\n\n" +
			"Ctrl+C interrupts the turn; a second Ctrl+C ends the agent. Without PROMPT the " +
			"conversation continues until Ctrl+D on an empty\n" +
			"line. Alt+Enter begins a new line, and pasted lines stay together.\n\n" +
			"Without a terminal, or with --json, only the prompt is read and approvals are " +
			"refused. ARGS are passed to the agent as they are.\n\n" +
			"The commands below are for a coding agent that runs in a session (proxy --chat). " +
			"To send one of their names as a prompt, use\n" +
			"standard input: echo log | gateway chat\n\n" +
			"Exit status: 0 done; 1 refused or failed; 130 interrupted.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.words, opts.args = chatArgs(cmd, args)
			return runChat(cmd.Context(), env, opts)
		},
	}
	opts.addFlags(cmd)
	for _, sub := range []*cobra.Command{
		newChatLog(env),
		newChatSend(env),
		newChatAnswer(env),
		newChatInterrupt(env),
	} {
		cmd.AddCommand(addChatHint(sub))
	}
	return cmd
}

func (in *chatOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.with, "with", chatAgents[0].name,
		"the `AGENT`: "+strings.Join(chatNames(), ", "))
	f.StringVar(&in.mode, "mode", "",
		"begin in the agent's `MODE`, which decides what it asks for (default: it asks)")
	f.StringVar(&in.resume, "resume", "", "resume the conversation `ID`")
	f.StringVar(&in.file, "prompt-file", "",
		"send the prompts in `FILE`, one per line, each when the turn before has ended; - for "+
			"standard input")
	addImageFlag(cmd, &in.files)
	f.StringVar(&in.journal, "record-json", "",
		"write the conversation to the new `FILE` as lines of JSON: your text before the agent "+
			"receives it, and what became of it")
	f.DurationVar(&in.within, coding.WithinFlag, 0, coding.WithinHelp)
	f.BoolVar(&in.silent, "no-terminal-input", false,
		"read no keys: only the prompt counts, and approvals are refused")
}

// chatArgs splits the arguments at "--".
func chatArgs(cmd *cobra.Command, args []string) (words, rest []string) {
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		return args[:n], args[n:]
	}
	return args, nil
}

func chatNames() (all []string) {
	for _, c := range chatAgents {
		all = append(all, c.name)
	}
	return all
}

// runChat talks to a coding agent until the conversation ends.
func runChat(ctx context.Context, env *cli.Env, in chatOptions) (err error) {
	if len(in.words) > 1 {
		return cli.Usage("chat: the prompt is %d words: put it in quotes", len(in.words))
	}
	in.prompt = strings.Join(in.words, "")
	if in.images, err = readImages(in.files); err != nil {
		return err
	}
	at := slices.IndexFunc(chatAgents, func(c chatAgent) bool { return c.name == in.with })
	switch {
	case at < 0:
		return cli.Usage("--with %.40q: must be one of %s", in.with, strings.Join(chatNames(), ", "))
	case in.resume != "" && !lock.IsUsableID(in.resume):
		return cli.Usage("--resume %.60q: not the id of a conversation", in.resume)
	case coding.CheckWithin(in.within) != nil:
		return cli.Usage("%w", coding.CheckWithin(in.within))
	case in.prompt != "" && in.file != "":
		return cli.Usage("--prompt-file cannot be used with a prompt on the command line")
	}
	in.nested = !in.silent && (env.JSON || !hasTerminal(env)) && outer.SessionID() != ""
	in.silent = in.silent || env.JSON || !hasTerminal(env)
	prompts, err := firstPrompts(env, in)
	if err != nil {
		return err
	}
	if in.dir, err = os.Getwd(); err != nil {
		return err
	}
	if in.id = in.resume; in.id == "" && !chatAgents[at].assignsID {
		in.id = chat.NewID()
	}
	in.program = cmp.Or(chatAgents[at].program, chatAgents[at].name)
	return talkTo(ctx, env, chatAgents[at], in, prompts)
}

// hasTerminal reports whether a person can see and type.
func hasTerminal(env *cli.Env) bool {
	in, isIn := env.In.(*os.File)
	out, isOut := env.Out.(*os.File)
	return isIn && isOut && term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
}

// maxPrompt bounds a prompt from a file, in bytes.
const maxPrompt = 1 << 20

// longPromptHint is the advice for a longer prompt.
const longPromptHint = "put the text into a file, and name the file in the prompt"

// firstPrompts returns the prompts to send first: at least one if there is no terminal.
func firstPrompts(env *cli.Env, in chatOptions) ([]string, error) {
	switch {
	case in.prompt != "":
		return []string{in.prompt}, nil
	case in.file == "-":
		return promptLines(env.In)
	case in.file != "":
		f, err := os.Open(in.file)
		if err != nil {
			return nil, cli.Fail(cli.StatusRefused, "--prompt-file: %w", err)
		}
		defer f.Close()
		return promptLines(f)
	case !in.silent:
		return nil, nil
	}
	if f, ok := env.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return nil, cli.Usage("chat: no prompt: give one, since nothing is read from the terminal")
	}
	b, err := io.ReadAll(io.LimitReader(env.In, maxPrompt+1))
	text := strings.TrimSpace(string(b))
	switch {
	case err != nil:
		return nil, err
	case len(b) > maxPrompt:
		return nil, cli.Usage("chat: the prompt on standard input is longer than %d bytes: %s",
			maxPrompt, longPromptHint)
	case text == "":
		return nil, cli.Usage("chat: no prompt: standard input is empty and not a terminal")
	}
	return []string{text}, nil
}

// promptLines returns the lines of a file that are not empty.
func promptLines(r io.Reader) (all []string, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxPrompt)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" {
			all = append(all, line)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, cli.Usage("--prompt-file: a line is longer than %d bytes: %s", maxPrompt,
			longPromptHint)
	case err != nil:
		return nil, cli.Fail(cli.StatusRefused, "--prompt-file: %w", err)
	case all == nil:
		return nil, cli.Usage("--prompt-file: the file holds no prompt")
	}
	return all, nil
}

// startError describes for the user why an agent did not start.
func startError(agent chatAgent, err error) error {
	if missing, ok := errors.AsType[*stdio.NotInstalledError](err); ok {
		return cli.Fail(cli.StatusRefused, "chat: %s is not installed: %w", missing.Program,
			missing.Cause).WithHint("install it with: " + agent.install)
	}
	return cli.Fail(cli.StatusRefused, "chat: %w", err)
}
