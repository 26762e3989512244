package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

func (a *app) newLs() *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List sessions", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withClient(defaultName, false, func(c *client.Client) error {
				list, err := c.SessionList(cmd.Context())
				if err != nil {
					return err
				}
				return a.printSessions(list)
			})
		},
	}
}

// columns are those of the list of sessions.
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

func (a *app) printSessions(list *protocol.SessionsListResult) error {
	sessions := list.Sessions
	if a.json {
		return a.printJSON(struct {
			Sessions   []protocol.SessionInfo `json:"sessions"`
			Incomplete *protocol.Incomplete   `json:"incomplete,omitempty"`
		}{sessions, list.Incomplete})
	}
	if len(sessions) == 0 {
		return a.printLines("no sessions; " + hintNothingRuns)
	}
	shown, ended := text.SelectListed(sessions)
	rows := make([]string, len(shown)+1)
	for _, c := range columns {
		cells := make([]string, len(shown))
		for i, s := range shown {
			cells[i] = c.cell(s)
		}
		if strings.Join(cells, "") == "" {
			continue // nothing is known of it
		}
		rows[0] += c.head + "\t"
		for i, cell := range cells {
			rows[i+1] += cmp.Or(cell, "-") + "\t"
		}
	}
	for i := range rows {
		rows[i] = strings.TrimSuffix(rows[i], "\t")
	}
	if err := a.printTable(rows); err != nil || ended == 0 {
		return err
	}
	return a.printLines(text.MoreEnded(ended) + "; --json lists them")
}

func (a *app) newWait() *cobra.Command {
	values := make(map[string]*string)
	flags := make(map[string]*bool)
	var timeout time.Duration
	var as string
	var budget budget
	var more further
	cmd := &cobra.Command{
		Use: "wait [ID] --text T|--regex R|--title T|--gone T|--changed|--idle " +
			"D|--exit|--waiting|--control [--timeout D]",
		Short: "Wait for a condition, then print the screen", Args: cobra.MaximumNArgs(1),
	}
	for _, name := range text.Conditions {
		switch name {
		case "text", "regex", "title", "title-regex", "gone", "idle":
			values[name] = cmd.Flags().String(name, "", "wait until "+conditionHelp[name])
		default:
			flags[name] = cmd.Flags().Bool(name, false, "wait until "+conditionHelp[name])
		}
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 30*time.Second,
		"give up after this long, with exit status 124")
	cmd.Flags().StringVar(&as, "as", defaultName, asHelp)
	budget.addFlag(cmd)
	more.addFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var chosen []string
		for _, name := range text.Conditions {
			if cmd.Flags().Changed(name) && (flags[name] == nil || *flags[name]) {
				chosen = append(chosen, name)
			}
		}
		if len(chosen) != 1 {
			return usage("wait: use exactly one of --%s", strings.Join(text.Conditions, ", --"))
		}
		value := ""
		if v := values[chosen[0]]; v != nil {
			value = *v
		}
		return a.waitFor(cmd, named(args), chosen[0], value, as, timeout, &budget, more)
	}
	return cmd
}

// further is the flags for patterns that end a wait besides its condition.
type further struct {
	any, stop    []string
	met, stopped []protocol.Until
}

func (f *further) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.any, "any", nil,
		"or until a row matches this `REGEX`; may be repeated, and the answer says which it was")
	cmd.Flags().StringArrayVar(&f.stop, "stop", nil,
		"give up when a row matches this `REGEX`, with exit status 1; may be repeated")
}

// read checks the patterns.
func (f *further) read() (err error) {
	if f.met, err = text.Patterns("--any", f.any); err != nil {
		return err
	}
	f.stopped, err = text.Patterns("--stop", f.stop)
	return err
}

// conditionHelp completes "wait until ...".
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
	"control": "the user answers the request, control ends, or the user writes",
}

func (a *app) waitFor(
	cmd *cobra.Command,
	id, name, value, as string,
	timeout time.Duration,
	budget *budget,
	more further,
) error {
	tokens, err := budget.tokenLimit(cmd, a.json)
	if err != nil {
		return err
	}
	until, err := text.Until(name, value)
	if err != nil {
		return usage("wait --%s: %w", name, err)
	}
	if err := more.read(); err != nil {
		return usage("wait %w", err)
	}
	if err := checkTimeout(timeout); err != nil {
		return err
	}
	return a.withClient(
		as,
		false,
		about(cmd.Context(), id, func(c *client.Client, s protocol.SessionInfo) error {
			ask := &protocol.Wait{
				SessionID: s.SessionID,
				Until:     until,
				Any:       more.met,
				Stop:      more.stopped,
				TimeoutMs: timeout.Milliseconds(),
			}
			now, err := c.Read(cmd.Context(), &protocol.Read{SessionID: s.SessionID})
			if err != nil {
				return err
			}
			if until.Changed {
				ask.AfterSeq = now.Frame.Seq
			}
			got, err := c.Wait(cmd.Context(), ask)
			if err != nil {
				return err
			}
			if err := a.printWait(cmd.Context(), c, s, got, now.Frame, tokens); err != nil {
				return err
			}
			if came := text.MetCondition(got.Came); came != "" && got.Met {
				_, _ = fmt.Fprintln(a.err, "gateway: wait: matched "+came)
			}
			if !got.Met {
				return notMet("wait for "+name+" ("+timeout.String()+")", got)
			}
			return nil
		}),
	)
}

// printWait prints the answer to a wait that began when the screen was before.
func (a *app) printWait(
	ctx context.Context,
	c *client.Client,
	s protocol.SessionInfo,
	got *protocol.WaitResult,
	before *protocol.Frame,
	tokens int,
) error {
	switch {
	case a.json:
		return a.printJSON(got)
	case got.Frame == nil:
		return a.printNotes(got.Notes)
	case got.ExitCode != nil && !text.IsLastFrame(before):
		return a.printEnd(ctx, c, s, got.Frame, before, tokens, text.Messages(got.Notes))
	}
	return a.printPage(text.WithMessages(got.Notes, header(s, got.Frame)), got.Frame,
		dialect.Whole(got.Frame, 0), tokens)
}

// printEnd prints, behind what was said before, what a program printed between a screen and its
// end, and its last screen.
func (a *app) printEnd(
	ctx context.Context,
	c *client.Client,
	s protocol.SessionInfo,
	last, before *protocol.Frame,
	tokens int,
	said string,
) error {
	if said != "" {
		said += "\n"
	}
	got, err := c.Read(ctx, &protocol.Read{
		SessionID:  s.SessionID,
		SinceSeq:   before.Seq,
		Follow:     true,
		Scrollback: protocol.MaxHistory,
	})
	if err != nil || len(text.HistoryRows(got)) == 0 || got.Frame.Since == 0 {
		return a.printPage(said+header(s, last), last, dialect.Whole(last, 0), tokens)
	}
	lines, known := text.Screen(before, got.Frame)
	if known {
		got.Frame.Screen.Lines, got.Frame.Changed, got.Frame.Moved = lines, nil, 0
	}
	head := said + header(s, got.Frame) + text.UnseenWarning("row of history", got.HiddenText)
	return a.printPage(head, got.Frame, dialect.Ended(got, before.Seq), tokens)
}

// printNotes prints what the user wrote to this agent.
func (a *app) printNotes(notes []string) error {
	if len(notes) == 0 {
		return nil
	}
	return a.printLines(text.Messages(notes))
}

// notMet makes the failure of a wait that timed out, or whose program ended first.
func notMet(condition string, got *protocol.WaitResult) error {
	switch {
	case got.Stopped:
		return fail(statusRefused, "%s: stopped by %s", condition, text.MetCondition(got.Came))
	case got.Ended != "":
		return fail(statusRefused, "%s: %s", condition, text.EndReason(got.Ended))
	case got.ExitCode != nil:
		return fail(statusRefused, "%s: the program ended first, with %s", condition,
			text.ExitStatus(*got.ExitCode, got.Signal))
	}
	return fail(statusTimeout, "%s: timed out", condition)
}

func checkTimeout(d time.Duration) error {
	if d < time.Millisecond || d > protocol.MaxWaitMs*time.Millisecond {
		return usage("--timeout %s: must be 1ms to %dm", d, protocol.MaxWaitMs/60_000)
	}
	return nil
}
