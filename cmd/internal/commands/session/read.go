package session

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// dialect is the wording for a user of the command line.
var dialect = text.Dialect{
	Limit: "--max-tokens",
	Lines: func(first uint64, n int) string {
		return fmt.Sprintf("--history %d --from %d", n, first)
	},
	Output: func(nth int, first uint64, _ int) string {
		return fmt.Sprintf("--command=%d --from %d", nth, first)
	},
	Older: "--history with more rows, or --from",
}

// budget is the flag that bounds the output.
type budget struct {
	given int
	flag  *pflag.Flag
}

func (b *budget) addFlag(cmd *cobra.Command) {
	cmd.Flags().IntVar(
		&b.given,
		"max-tokens",
		0,
		fmt.Sprintf(
			"limit output to about `N` tokens (%d to %d) and say what was left out "+
				"(default: no limit)", text.MinTokens, text.MaxTokens))
	b.flag = cmd.Flags().Lookup("max-tokens")
}

// tokenLimit returns how many tokens may be printed; without the flag, any number.
func (b *budget) tokenLimit(json bool) (int, error) {
	if !b.flag.Changed {
		return math.MaxInt, nil
	}
	if json {
		return 0, cli.Usage("--max-tokens cannot be used with --json")
	}
	if _, err := text.CheckTokens(&b.given, dialect.Limit); err != nil {
		return 0, cli.Usage("%w", err)
	}
	return b.given, nil
}

// readOptions are the options of gateway read.
type readOptions struct {
	session          string
	given            func(flag string) bool
	since, from      uint64
	history, context int
	command          int
	match, as        string
	coloured         coloured
	budget           budget
}

// NewRead makes the command gateway read.
func NewRead(env *cli.Env) *cobra.Command {
	var opts readOptions
	cmd := &cobra.Command{
		Use: "read [ID] [--since REV | --history N [--from LINE] | --match REGEX [--context N] " +
			"| --command[=N] | --ansi | --png FILE | --svg FILE]",
		Short: "Print the screen of a session", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.session, opts.given = cli.SessionArg(args), cmd.Flags().Changed
			return runRead(cmd.Context(), env, opts)
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&opts.since, "since", 0,
		"print only the changes since revision `REV`: rows that changed, moved or scrolled off")
	f.IntVar(&opts.history, "history", 0, "print the last `N` rows of history first")
	f.IntVar(&opts.command, "command", 0,
		"``print the last command of a shell with its status and output, or with =N the Nth "+
			"from the end; needs shell marks: gateway marks")
	f.Lookup("command").NoOptDefVal = "1"
	f.Uint64Var(&opts.from, "from", 0,
		"with --history, --match or --command: start at line number `LINE`, as printed by read")
	f.StringVar(&opts.match, "match", "",
		"print only rows of history and of the screen, or of the command, that match this "+
			"`REGEX`, with their line numbers")
	f.IntVar(&opts.context, "context", 0,
		"with --match: print `N` rows before and after each row that matches, too")
	f.StringVar(&opts.as, "as", cli.DefaultName, cli.AsHelp)
	opts.budget.addFlag(cmd)
	opts.coloured.addFlags(cmd)
	return cmd
}

func (in readOptions) checkFlags() error {
	if err := oneView(in.given); err != nil {
		return err
	}
	from, budgeted := in.given("from"), in.given("max-tokens")
	switch {
	case in.history < 0 || in.history > protocol.MaxHistory:
		return cli.Usage("--history %d: must be 1 to %d", in.history, protocol.MaxHistory)
	case in.given("command") && (in.command < 1 || in.command > protocol.MaxCommands):
		return cli.Usage("--command=%d: must be 1 to %d", in.command, protocol.MaxCommands)
	case from && in.history == 0 && in.match == "" && in.command == 0:
		return cli.Usage("--from needs --history N: how many rows from there")
	case in.context < 0 || in.context > protocol.MaxContext:
		return cli.Usage("--context %d: must be 0 to %d", in.context, protocol.MaxContext)
	case in.context > 0 && in.match == "":
		return cli.Usage("--context needs --match: what to look for")
	case in.match != "" && (in.since > 0 || in.coloured.isWanted()):
		return cli.Usage("--match cannot be used with --since, --ansi, --png or --svg")
	case budgeted && in.coloured.isWanted():
		return cli.Usage("--max-tokens cannot be used with --ansi, --png or --svg")
	}
	return nil
}

// runRead prints the screen of a session.
func runRead(ctx context.Context, env *cli.Env, in readOptions) error {
	if err := in.checkFlags(); err != nil {
		return err
	}
	tokens, err := in.budget.tokenLimit(env.JSON)
	if err != nil {
		return err
	}
	if in.match != "" {
		if err := text.CheckPattern(in.match); err != nil {
			return cli.Usage("--match: %w", err)
		}
	}
	ask := in.readRequest(env.JSON)
	return env.WithClient(
		in.as,
		false,
		cli.OnSession(ctx, in.session, func(c *client.Client, s protocol.SessionInfo) error {
			if in.coloured.isWanted() {
				return showColoured(ctx, env, c, s, in.coloured)
			}
			ask.SessionID = s.SessionID
			got, err := c.Read(ctx, ask)
			if err != nil {
				return err
			}
			switch {
			case env.JSON:
				return env.PrintJSON(got)
			case in.command > 0:
				return printCommand(env, s, got, ask, tokens)
			case in.match != "":
				return printFound(env, s, got, tokens)
			}
			return printRead(env, s, got, ask, tokens)
		}),
	)
}

// readRequest returns what to ask the session for.
func (in readOptions) readRequest(json bool) *protocol.Read {
	ask := &protocol.Read{
		SinceSeq:   in.since,
		Scrollback: in.history,
		Match:      in.match,
		Context:    in.context,
		Command:    in.command,
		Notes:      true,
	}
	if in.match != "" || in.command > 0 {
		ask.Scrollback = cmp.Or(in.history, protocol.MaxHistory)
	}
	if in.given("from") {
		ask.FromLine = &in.from
	}
	// readers of JSON may predate the messages with moved rows
	if in.since > 0 && !json {
		ask.Follow, ask.Scrollback = true, protocol.MaxHistory
	}
	return ask
}

// screenHeader returns the line above a screen.
func screenHeader(s protocol.SessionInfo, f *protocol.Frame) string {
	return text.Header(s, f, "", time.Now(), nil) + text.Notes(f)
}

// printRead prints the header, then what was asked for.
func printRead(env *cli.Env,
	s protocol.SessionInfo,
	got *protocol.ReadResult,
	ask *protocol.Read,
	tokens int,
) error {
	f, head := got.Frame, text.WithMessages(got.Notes,
		screenHeader(s, got.Frame)+text.UnseenWarning("row of history", got.HiddenText))
	p := dialect.Whole(f, 0)
	switch {
	case ask.Follow:
		p = dialect.Changes(got, ask.SinceSeq)
	case ask.Scrollback > 0:
		p = dialect.History(got, ask.FromLine != nil)
	}
	return printPage(env, head, f, p, tokens)
}

// printFound prints the rows that a search found.
func printFound(env *cli.Env, s protocol.SessionInfo, got *protocol.ReadResult, tokens int) error {
	head := text.WithMessages(got.Notes, screenHeader(s, got.Frame))
	if got.Frame.Blackout.ByUser() {
		return env.PrintLines(head)
	}
	p := dialect.Found(got)
	p.Head = head + text.ConcealedWarning(got.Found)
	return env.PrintLines(p.Fit(tokens, dialect.Limit))
}

// printCommand prints the facts of a command, and its output.
func printCommand(env *cli.Env,
	s protocol.SessionInfo,
	got *protocol.ReadResult,
	ask *protocol.Read,
	tokens int,
) error {
	head := text.WithMessages(got.Notes, text.Header(s, got.Frame, "", time.Now(), nil))
	if got.Frame.Blackout.ByUser() {
		return env.PrintLines(head)
	}
	p := dialect.Command(got, ask.Command, ask.FromLine != nil, time.Now())
	p.Head = head + text.ConcealedOutput(got) + "\n" + strings.Join(text.CommandFacts(got.Command), "\n")
	return env.PrintLines(p.Fit(tokens, dialect.Limit))
}

// printPage prints a header, what stands out on the screen, and a page.
func printPage(env *cli.Env, head string, f *protocol.Frame, p text.Page, tokens int) error {
	if f.Blackout.ByUser() {
		return env.PrintLines(head)
	}
	head = text.Join(head, new(text.Known).Title(f))
	p.Head = head
	if highlights := text.Highlights(f); highlights != "" {
		plain := p
		plain.Head += "\nhighlighted: left out for " + dialect.Limit
		p.Head += "\nhighlighted: " + highlights
		p.Plain, p.Brief = &plain, head
	}
	return env.PrintLines(p.Fit(tokens, dialect.Limit))
}
