// Package session holds an agent's commands for a session: list, read, wait, ask, type and talk.
package session

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// NewLs makes the command gateway ls.
func NewLs(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List sessions", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runLs(cmd.Context(), env)
		},
	}
}

// runLs lists the sessions.
func runLs(ctx context.Context, env *cli.Env) error {
	return env.WithClient(cli.DefaultName, false, func(c *client.Client) error {
		list, err := c.SessionList(ctx)
		if err != nil {
			return err
		}
		return printSessions(env, list)
	})
}

// columns are the columns of the session list.
var columns = []struct {
	head string
	cell func(protocol.SessionInfo) string
}{
	{"ID", func(s protocol.SessionInfo) string { return s.SessionID }},
	{"PROGRAM", text.Command},
	{"RUNS", text.Foreground},
	{"DIRECTORY", text.Directory},
	{"SIZE", func(s protocol.SessionInfo) string { return fmt.Sprintf("%dx%d", s.Cols, s.Rows) }},
	{"STATE", text.State},
	{
		"IDLE",
		func(s protocol.SessionInfo) string {
			return text.Span(time.Duration(s.IdleMs) * time.Millisecond)
		},
	},
	{"USED", func(s protocol.SessionInfo) string { return text.LastUse(s, time.Now()) }},
	{
		"KEYBOARD",
		func(s protocol.SessionInfo) string { return text.Keyboard(s.Keyboard, "", time.Now()) },
	},
	{"TITLE", func(s protocol.SessionInfo) string {
		if s.State != protocol.StateRunning {
			return ""
		}
		return text.TitleWithProgress(s.Title, s.Progress)
	}},
}

func printSessions(env *cli.Env, list *protocol.SessionsListResult) error {
	sessions := list.Sessions
	if env.JSON {
		return env.PrintJSON(struct {
			Sessions   []protocol.SessionInfo `json:"sessions"`
			Incomplete *protocol.Incomplete   `json:"incomplete,omitempty"`
		}{append([]protocol.SessionInfo{}, sessions...), list.Incomplete})
	}
	if len(sessions) == 0 {
		return env.PrintLines("no sessions; " + cli.HintNothingRuns)
	}
	shown, ended := text.SelectListed(sessions)
	rows := make([]string, len(shown)+1)
	for _, c := range columns {
		cells := make([]string, len(shown))
		for i, s := range shown {
			cells[i] = c.cell(s)
		}
		if strings.Join(cells, "") == "" {
			continue // no details are known
		}
		rows[0] += c.head + "\t"
		for i, cell := range cells {
			rows[i+1] += cmp.Or(cell, "-") + "\t"
		}
	}
	for i := range rows {
		rows[i] = strings.TrimSuffix(rows[i], "\t")
	}
	if err := env.PrintTable(rows); err != nil || ended == 0 {
		return err
	}
	return env.PrintLines(text.MoreEnded(ended) + "; --json lists them")
}

// NewWait makes the command gateway wait.
func NewWait(env *cli.Env) *cobra.Command {
	opts := waitOptions{values: make(map[string]*string), flags: make(map[string]*bool)}
	cmd := &cobra.Command{
		Use: "wait [ID] --text T|--regex R|--title T|--gone T|--changed|--idle " +
			"D|--exit|--waiting|--control [--timeout D]",
		Short: "Wait for a condition, then print the screen", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.session, opts.given = cli.SessionArg(args), cmd.Flags().Changed
			return runWait(cmd.Context(), env, opts)
		},
	}
	for _, name := range text.Conditions {
		switch name {
		case "text", "regex", "title", "title-regex", "gone", "idle":
			opts.values[name] = cmd.Flags().String(name, "", "wait until "+conditionHelp[name])
		default:
			opts.flags[name] = cmd.Flags().Bool(name, false, "wait until "+conditionHelp[name])
		}
	}
	cmd.Flags().DurationVar(&opts.timeout, "timeout", 30*time.Second,
		"give up after this long, with exit status 124")
	cmd.Flags().StringVar(&opts.as, "as", cli.DefaultName, cli.AsHelp)
	opts.budget.addFlag(cmd)
	opts.more.addFlags(cmd)
	return cmd
}

// waitOptions are the options of gateway wait. values and flags hold the conditions.
type waitOptions struct {
	session, as string
	given       func(flag string) bool
	values      map[string]*string
	flags       map[string]*bool
	timeout     time.Duration
	budget      budget
	more        endPatterns
}

// readCondition returns the single given condition and its value.
func (in waitOptions) readCondition() (name, value string, err error) {
	var chosen []string
	for _, name := range text.Conditions {
		if in.given(name) && (in.flags[name] == nil || *in.flags[name]) {
			chosen = append(chosen, name)
		}
	}
	if len(chosen) != 1 {
		return "", "", cli.Usage("wait: use exactly one of --%s",
			strings.Join(text.Conditions, ", --"))
	}
	if v := in.values[chosen[0]]; v != nil {
		value = *v
	}
	return chosen[0], value, nil
}

// endPatterns holds the flags for patterns that end a wait besides its condition.
type endPatterns struct {
	any, stop    []string
	met, stopped []protocol.Until
}

func (f *endPatterns) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.any, "any", nil,
		"or until a row matches this `REGEX`; may be repeated, and the answer says which it was")
	cmd.Flags().StringArrayVar(&f.stop, "stop", nil,
		"give up when a row matches this `REGEX`, with exit status 1; may be repeated")
}

// read checks the patterns.
func (f *endPatterns) read() (err error) {
	if f.met, err = text.Patterns("--any", f.any); err != nil {
		return err
	}
	f.stopped, err = text.Patterns("--stop", f.stop)
	return err
}

// conditionHelp completes "wait until ..." for each condition.
var conditionHelp = map[string]string{
	"text":  "this `TEXT` is on the screen",
	"regex": "this `REGEX` (RE2 syntax) matches a row",
	"title": "this `TEXT` is in the title that the program gives its window",
	"gone":  "this `TEXT` is no longer on the screen",

	"title-regex": "this `REGEX` matches the title",

	"idle":    "the screen has been quiet for this `DURATION`",
	"changed": "the screen changes",
	"exit":    "the program ends",
	"waiting": "the program waits for input; the header says how this is known",
	"control": "the user answers the request or writes, or control ends, also another agent's",
}

// runWait waits for a condition, and prints the screen.
func runWait(ctx context.Context, env *cli.Env, opts waitOptions) error {
	name, value, err := opts.readCondition()
	if err != nil {
		return err
	}
	tokens, err := opts.budget.tokenLimit(env.JSON)
	if err != nil {
		return err
	}
	until, err := text.Until(name, value)
	if err != nil {
		return cli.Usage("wait --%s: %w", name, err)
	}
	if err := opts.more.read(); err != nil {
		return cli.Usage("wait %w", err)
	}
	if err := cli.CheckTimeout(opts.timeout); err != nil {
		return err
	}
	return env.WithClient(
		opts.as,
		false,
		cli.OnSession(ctx, opts.session, func(c *client.Client, s protocol.SessionInfo) error {
			got, err := waitAndPrint(ctx, env, c, s, tokens, &protocol.Wait{
				SessionID: s.SessionID,
				Until:     until,
				Any:       opts.more.met,
				Stop:      opts.more.stopped,
				TimeoutMs: opts.timeout.Milliseconds(),
			})
			if err != nil {
				return err
			}
			if came := text.MetCondition(got.Came); came != "" && got.Met {
				_, _ = fmt.Fprintln(env.Err, "gateway: wait: matched "+came)
			}
			if !got.Met {
				return notMet("wait for "+name+" ("+opts.timeout.String()+")", got)
			}
			return nil
		}),
	)
}

// waitAndPrint waits, from now on, and prints the screen.
func waitAndPrint(
	ctx context.Context, env *cli.Env, c *client.Client, s protocol.SessionInfo, tokens int,
	ask *protocol.Wait,
) (*protocol.WaitResult, error) {
	now, err := c.Read(ctx, &protocol.Read{SessionID: s.SessionID})
	if err != nil {
		return nil, err
	}
	if ask.Until.Changed {
		ask.AfterSeq = now.Frame.Seq
	}
	if !env.JSON { // a later read may find no gateway: that of the only session ends with it
		ask.SinceSeq, ask.Scrollback = now.Frame.Seq, protocol.MaxHistory
	}
	got, err := c.Wait(ctx, ask)
	if err != nil {
		return nil, err
	}
	return got, printWait(ctx, env, c, s, got, now.Frame, tokens)
}

// printWait prints the answer to a wait. before is the screen when the wait began.
func printWait(
	ctx context.Context, env *cli.Env, c *client.Client, s protocol.SessionInfo,
	got *protocol.WaitResult, before *protocol.Frame, tokens int,
) error {
	switch {
	case env.JSON:
		return env.PrintJSON(got)
	case got.Frame == nil:
		return env.PrintNotes(got.Notes)
	case got.ExitCode != nil && !text.IsLastFrame(before):
		return printEnd(env, s, got.Read(), before, tokens, text.Messages(got.Notes))
	}
	shown := *got.Frame
	lines, known := text.Screen(before, &shown)
	if !known {
		again, err := c.Read(ctx, &protocol.Read{SessionID: s.SessionID})
		if err != nil {
			return err
		}
		shown, lines = *again.Frame, again.Frame.Screen.Lines
	}
	shown.Screen.Lines, shown.Since = lines, 0
	return printPage(env, text.WithMessages(got.Notes, screenHeader(s, &shown)), &shown,
		dialect.Whole(&shown, 0), tokens)
}

// endPatience bounds the read of what an ended program printed. The gateway may have ended with it;
// another process takes over within a second.
const endPatience = time.Second

// readEnd reads what was printed between a screen and the program's end, or returns last alone.
func readEnd(
	ctx context.Context, c *client.Client, s protocol.SessionInfo, last, before *protocol.Frame,
) *protocol.ReadResult {
	ctx, cancel := context.WithTimeout(ctx, endPatience)
	defer cancel()
	got, err := c.Read(ctx, &protocol.Read{
		SessionID:  s.SessionID,
		SinceSeq:   before.Seq,
		Follow:     true,
		Scrollback: protocol.MaxHistory,
	})
	if err != nil {
		return &protocol.ReadResult{SessionID: s.SessionID, Frame: last}
	}
	return got
}

// printEnd prints the output between a screen and the program's end, and the last screen, after the
// earlier text.
func printEnd(
	env *cli.Env, s protocol.SessionInfo, got *protocol.ReadResult, before *protocol.Frame,
	tokens int, said string,
) error {
	if said != "" {
		said += "\n"
	}
	since := got.Frame.Since
	lines, known := text.Screen(before, got.Frame)
	if known {
		got.Frame.Screen.Lines, got.Frame.Changed, got.Frame.Moved = lines, nil, 0
	}
	head := said + screenHeader(s, got.Frame)
	if len(text.HistoryRows(got)) == 0 || since == 0 {
		return printPage(env, head, got.Frame, dialect.Whole(got.Frame, 0), tokens)
	}
	head += text.UnseenWarning("row of history", got.HiddenText)
	return printPage(env, head, got.Frame, dialect.Ended(got, before.Seq), tokens)
}

// notMet makes the failure of a wait that timed out, or whose program ended first.
func notMet(condition string, got *protocol.WaitResult) error {
	switch {
	case got.Stopped:
		return cli.Fail(cli.StatusRefused, "%s: stopped by %s", condition, text.MetCondition(got.Came))
	case got.Ended != "":
		return cli.Fail(cli.StatusRefused, "%s: %s", condition, text.EndReason(got.Ended))
	case got.ExitCode != nil:
		return cli.Fail(cli.StatusRefused, "%s: the program ended first, with %s", condition,
			text.ExitStatus(*got.ExitCode, got.Signal))
	}
	return cli.Fail(cli.StatusTimeout, "%s: timed out", condition)
}
