// Package run starts programs without a window, attaches terminals to them and ends them.
package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/agents/coding"
	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/programs"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/detached/headless"
)

// runOptions are the options of gateway run.
type runOptions struct {
	program       []string
	name, cwd, as string
	cols, rows    int
	idle          time.Duration
	chat, approve bool
	within        time.Duration // see [coding.Program]
	keep          bool
}

// New makes the command gateway run.
func New(env *cli.Env) *cobra.Command {
	var opts runOptions
	cmd := &cobra.Command{
		Use:   "run [flags] -- PROGRAM [ARG ...]",
		Short: "Run a program in a terminal of its own, for an agent",
		Args:  cobra.MinimumNArgs(1),
		Long: "run starts PROGRAM in a terminal without a user, prints the session's id and " +
			"hosts the session until the program ends.\n" +
			"The agent that --as names has the keyboard; a person joins with gateway attach. " +
			"gateway close ends it, and so does the\n" +
			"end of this command. Without --idle-limit it may idle for ever. The exit status is " +
			"the program's. With --keep the command\n" +
			"ends once PROGRAM runs, and PROGRAM outlives the window and this shell.",
		Example: "  gateway run -- psql mydb &\n  gateway send ID --text '\\d' --enter",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.program = args
			return runRun(cmd.Context(), env, opts)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // arguments after PROGRAM are the program's
	f.StringVar(&opts.name, "name", "", "`NAME` of the session (default: the program's)")
	f.StringVar(&opts.cwd, "cwd", "", "start in `DIRECTORY`")
	f.IntVar(&opts.cols, "cols", 0, "columns (default 80)")
	f.IntVar(&opts.rows, "rows", 0, "rows (default 24)")
	f.DurationVar(&opts.idle, "idle-limit", 0,
		"end the program after this long without activity (default: never)")
	f.BoolVar(&opts.keep, "keep", false,
		"host PROGRAM in the background: it keeps running when this window is closed")
	f.StringVar(&opts.as, "as", cli.DefaultName, cli.AsHelp)
	f.BoolVar(&opts.chat, "chat", false,
		"PROGRAM is a coding agent: show its conversation beside its own interface, with "+
			"approvals and questions to answer")
	f.DurationVar(&opts.within, coding.WithinFlag, 0, "with --chat, "+coding.WithinHelp)
	f.BoolVar(&opts.approve, "agents-may-approve", false,
		"with --chat, let the keys of agents through while PROGRAM asks something")
	return cmd
}

// runRun checks the options, and runs the program here or in a process that outlives this one.
func runRun(ctx context.Context, env *cli.Env, opts runOptions) error {
	switch {
	case opts.program[0] == "":
		return cli.Usage("run: no program given: its name is empty")
	case opts.cols < 0 || opts.cols > protocol.MaxSize:
		return cli.Usage("--cols %d: must be 1 to %d", opts.cols, protocol.MaxSize)
	case opts.rows < 0 || opts.rows > protocol.MaxSize:
		return cli.Usage("--rows %d: must be 1 to %d", opts.rows, protocol.MaxSize)
	case opts.idle < 0:
		return cli.Usage("--idle-limit %s: must not be negative", opts.idle)
	case opts.approve && !opts.chat:
		return cli.Usage("--agents-may-approve needs --chat")
	case opts.within > 0 && !opts.chat && env.Preset[coding.WithinFlag] == "":
		return cli.Usage("--%s needs --chat", coding.WithinFlag)
	case coding.CheckWithin(opts.within) != nil:
		return cli.Usage("%w", coding.CheckWithin(opts.within))
	case len(opts.name) > protocol.MaxName:
		return cli.Usage("--name is %d bytes long; the limit is %d", len(opts.name),
			protocol.MaxName)
	}
	if opts.keep && os.Args[0] != cli.KeptName {
		return keepRunning(env, os.Args[1:])
	}
	return hostProgram(ctx, env, opts)
}

// startConversation starts the conversation with the coding agent that --chat asks for.
func (in *runOptions) startConversation(dir string) (*coding.Conversation, error) {
	if !in.chat {
		return &coding.Conversation{Done: func() {}}, nil
	}
	talk, err := coding.Start(coding.Program{
		Command:          in.program[0],
		Args:             in.program[1:],
		Dir:              dir,
		Headless:         true,
		AgentsMayApprove: in.approve,
		Within:           in.within,
	})
	if unknown, ok := errors.AsType[*coding.UnknownError](err); ok {
		return nil, cli.Usage("%s", unknown)
	}
	if err != nil {
		return nil, cli.Fail(cli.StatusRefused, "run: %w", err).WithHint(client.Hint(err))
	}
	return talk, nil
}

// hostProgram hosts one program to its end.
func hostProgram(ctx context.Context, env *cli.Env, in runOptions) (err error) {
	ep, err := env.Endpoint()
	if err != nil {
		return err
	}
	if !ep.Local() {
		return refuseRemote()
	}
	dir, err := filepath.Abs(in.cwd)
	if err != nil {
		return cli.Usage("--cwd: %w", err)
	}
	talk, err := in.startConversation(dir)
	if err != nil {
		return err
	}
	defer talk.Done()
	key, err := cli.Identity(in.as, true)
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	local := &cli.LocalShare{Log: log}
	defer func() { err = errors.Join(err, local.Close()) }()
	c := client.New(client.Config{
		Dial:   local.DialLocal,
		URL:    ep.URL(protocol.PathAgent),
		Header: ep.Header(),
		Name:   in.as,
		Key:    key,
	})
	defer func() { err = errors.Join(err, c.Close()) }()
	own := programs.New(c, ep, local, env.Taste, log)
	defer own.Close()
	ended := make(chan headless.Result, 1)
	own.Conf.Idle, own.Chat = in.idle, talk.Chat
	own.Conf.Ended = func(r headless.Result) { ended <- r }
	id, err := own.Start(ctx, &protocol.ProxyStart{
		Command: in.program[0], Args: in.program[1:], Cwd: dir,
		Cols: in.cols, Rows: in.rows,
		Name: in.name, AgentName: in.as,
	})
	if err != nil {
		return cli.Fail(cli.StatusRefused, "cannot start the program: %w", err)
	}
	if err := reportStarted(env, id); err != nil {
		return err
	}
	if in.keep {
		releaseStarter(env)
	}
	select {
	case r := <-ended:
		reportProgramEnd(env, id, r, in, talk.Chat)
	case <-ctx.Done():
		own.Close()
		env.Status = (<-ended).Code
	}
	return nil
}

func refuseRemote() error {
	// An agent types without asking in a terminal that it started, and only that gateway vouches
	// for the agent's name (SAFETY R53). A user's session asks, or --grant names what agents may
	// do.
	return cli.Fail(cli.StatusUsage,
		"run: programs start on the local gateway only: leave out --gateway").
		WithHint(
			"to share a program of this machine there: proxy --agent --gateway URL " +
				"--token-file FILE PROGRAM, with a token of role proxy")
}

func reportProgramEnd(env *cli.Env, id string, r headless.Result, in runOptions, talk *proxy.Chat) {
	env.Status = r.Code
	if r.Agent != "" {
		_, _ = fmt.Fprintf(env.Err, "gateway: run: %s\n", text.OneLine(r.Agent))
		if talk.Session.State() == chat.Failed {
			_, _ = fmt.Fprintf(env.Err, "hint: %s\n", coding.HintOfStart(in.program))
		}
	}
	if r.Idle {
		_, _ = fmt.Fprintf(env.Err,
			"gateway: run: %s was idle for %s and was ended (--idle-limit)\n", id, in.idle)
	}
}

func reportStarted(env *cli.Env, id string) error {
	if !env.JSON {
		_, _ = fmt.Fprintf(env.Err, "to join it: gateway attach %s; to end it: gateway close %s\n",
			id, id)
	}
	return env.PrintAnswer(map[string]any{"sessionId": id}, id)
}

// closeOptions are the options of gateway close.
type closeOptions struct {
	session, as string
	force       bool
}

// NewClose makes the command gateway close.
func NewClose(env *cli.Env) *cobra.Command {
	var opts closeOptions
	cmd := &cobra.Command{
		Use:   "close ID [--force]",
		Short: "End a session started by an agent, and every process in it",
		Args:  cobra.ExactArgs(1),
		Long: "close ends a session started by an agent, and every process in it. What it " +
			"printed can be read for half an hour; closed\n" +
			"again, it is gone at once. Processes that made a session of their own (setsid, " +
			"daemons) asked to outlive it: they are\n" +
			"left alone, and close says how many there are.",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.session = args[0]
			return runClose(cmd.Context(), env, opts)
		},
	}
	cmd.Flags().BoolVar(&opts.force, "force", false, "kill it at once, without time to clean up")
	cmd.Flags().StringVar(&opts.as, "as", cli.DefaultName,
		"on a remote gateway: the agent `NAME` that started it")
	return cmd
}

// runClose ends a session.
func runClose(ctx context.Context, env *cli.Env, opts closeOptions) error {
	end := func(c *client.Client, s protocol.SessionInfo) error {
		return closeSession(ctx, env, c, s, opts.force)
	}
	return env.WithPerson(opts.as, cli.OnSession(ctx, opts.session, end))
}

// closeWithin is how long a session may take to end: its host's limit plus a margin.
const closeWithin = 12 * time.Second

func closeSession(
	ctx context.Context, env *cli.Env, c *client.Client, s protocol.SessionInfo, force bool,
) error {
	ctx, cancel := context.WithTimeout(ctx, closeWithin)
	defer cancel()
	if s.State == protocol.StateExited {
		return dropEnded(ctx, env, c, s)
	}
	stream, err := c.Subscribe(ctx, s.SessionID, 0)
	if err != nil {
		return err
	}
	ask := &protocol.Close{SessionID: s.SessionID}
	if force {
		ask.Signal = "KILL"
	}
	if err := c.EndSession(ctx, ask); err != nil {
		return explainNotOwned(s, err)
	}
	for m := range stream {
		if end, ok := m.(*protocol.SessionClose); ok {
			return printClosed(env, end)
		}
	}
	if ctx.Err() != nil {
		return cli.Fail(cli.StatusTimeout, "%s did not end within %s", s.SessionID,
			closeWithin).WithHint("kill it: gateway close --force")
	}
	return env.PrintLines("closed")
}

func printClosed(env *cli.Env, end *protocol.SessionClose) error {
	return env.PrintAnswer(
		map[string]any{
			"sessionId": end.SessionID,
			"exitCode":  end.ExitCode,
			"signal":    end.Signal,
			"outlived":  end.Outlived,
		}, "closed ("+text.ExitStatus(end.ExitCode, end.Signal)+")"+describeSurvivors(end.Outlived),
	)
}

// describeSurvivors reports processes of the program that did not end.
func describeSurvivors(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "; 1 process keeps running in a session of its own, as a daemon does"
	}
	return fmt.Sprintf("; %d processes keep running in sessions of their own, as daemons do", n)
}

// dropEnded closes an ended session, whose output is then no longer kept.
func dropEnded(ctx context.Context, env *cli.Env, c *client.Client, s protocol.SessionInfo) error {
	err := c.EndSession(ctx, &protocol.Close{SessionID: s.SessionID})
	if refused, ok := errors.AsType[*protocol.Error](err); ok &&
		refused.Code == protocol.CodeExited {
		err = nil // the gateway keeps all sessions for a while
	}
	if err != nil {
		return explainNotOwned(s, err)
	}
	return env.PrintAnswer(
		map[string]any{"sessionId": s.SessionID, "exitCode": s.ExitCode, "signal": s.Signal},
		"closed ("+text.ExitStatus(s.ExitCode, s.Signal)+")")
}

// explainNotOwned adds the next step to err if the session may not be closed by this caller.
func explainNotOwned(s protocol.SessionInfo, err error) error {
	refused, ok := errors.AsType[*protocol.Error](err)
	switch {
	case !ok || refused.Code != protocol.CodeForbidden:
		return err
	case s.Headless:
		return &cli.Failure{
			Status: cli.StatusForbidden,
			Cause:  err,
			Hint:   "name the agent that started it with --as NAME",
		}
	}
	return &cli.Failure{
		Status: cli.StatusForbidden,
		Cause:  err,
		Hint: "only its user can end the program; to take the keyboard from an agent: " +
			"gateway reclaim " + s.SessionID,
	}
}
