package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/gateway/client"
	"terminalproxy/gateway/observe"
	"terminalproxy/protocol"
)

func (a *app) newLs() *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List sessions", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(defaultName, false, func(c *client.Client) error {
				sessions, err := c.Sessions(cmd.Context())
				if err != nil {
					return err
				}
				return a.printSessions(sessions)
			})
		},
	}
}

func (a *app) printSessions(sessions []protocol.SessionInfo) error {
	if a.json {
		if sessions == nil {
			sessions = []protocol.SessionInfo{} // a list of none, and not null
		}
		return a.printJSON(map[string]any{"sessions": sessions})
	}
	if len(sessions) == 0 {
		return a.print("no sessions; " + hintNothingRuns)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	rows := []string{"ID\tPROGRAM\tSIZE\tSTATE\tIDLE\tKEYBOARD"}
	for _, s := range sessions {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%dx%d\t%s\t%s\t%s", s.SessionID, observe.Command(s), s.Cols, s.Rows, observe.State(s),
			observe.Span(time.Duration(s.IdleMs)*time.Millisecond), observe.Keyboard(s.Keyboard, "", time.Now())))
	}
	_, err := fmt.Fprintln(w, strings.Join(rows, "\n"))
	return errors.Join(err, w.Flush())
}

func (a *app) newRead() *cobra.Command {
	var since uint64
	var history int
	var as string
	var in coloured
	cmd := &cobra.Command{
		Use: "read ID [--since REV | --history N | --ansi | --png FILE | --svg FILE]", Short: "Print the screen of a session", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneView(cmd); err != nil {
				return err
			}
			if history < 0 || history > protocol.MaxHistory {
				return usage("--history %d: it must be 1 to %d rows", history, protocol.MaxHistory)
			}
			return a.with(as, false, func(c *client.Client) error {
				s, err := lookup(cmd.Context(), c, args[0])
				if err != nil {
					return err
				}
				if in.wanted() {
					return a.showColoured(cmd.Context(), c, s, in)
				}
				got, err := c.Read(cmd.Context(), &protocol.Read{SessionID: s.SessionID, SinceSeq: since, Scrollback: history, Notes: true})
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(got)
				}
				return a.printRead(s, got, since)
			})
		},
	}
	cmd.Flags().Uint64Var(&since, "since", 0, "only the rows that changed after revision `REV`")
	cmd.Flags().IntVar(&history, "history", 0, "the last `N` rows of history first")
	cmd.Flags().StringVar(&as, "as", defaultName, asHelp)
	in.add(cmd)
	return cmd
}

// header is what stands over a screen.
func header(s protocol.SessionInfo, f *protocol.Frame) string {
	return observe.Header(s, f, "", time.Now()) + observe.Notes(f)
}

// printRead prints the header, then history, then the screen or what changed of it.
func (a *app) printRead(s protocol.SessionInfo, got *protocol.ReadResult, since uint64) error {
	f := got.Frame
	if err := a.printNotes(got.Notes); err != nil {
		return err
	}
	lines := []string{header(s, f) + observe.Unseen("row of history", got.HiddenText)}
	if got.Text != "" {
		lines = append(lines, strings.TrimSuffix(observe.Clean(got.Text), "\n"))
	}
	switch {
	case since != 0 && f.Seq == since:
		lines = append(lines, fmt.Sprintf("nothing changed since rev %d", since))
	case f.Screen.Lines == nil && len(f.Changed) > 0:
		lines = append(lines, observe.Numbered(f.Changed))
	default:
		lines = append(lines, observe.Rows(f.Screen.Lines))
	}
	return a.print(lines...)
}

func (a *app) newWait() *cobra.Command {
	values := make(map[string]*string)
	flags := make(map[string]*bool)
	var timeout time.Duration
	var as string
	cmd := &cobra.Command{
		Use:   "wait ID --text T|--regex R|--gone T|--changed|--idle D|--exit|--waiting|--control [--timeout D]",
		Short: "Wait for a fact, then print the screen", Args: cobra.ExactArgs(1),
	}
	for _, name := range observe.Conditions {
		switch name {
		case "text", "regex", "gone", "idle":
			values[name] = cmd.Flags().String(name, "", "wait until "+conditionHelp[name])
		default:
			flags[name] = cmd.Flags().Bool(name, false, "wait until "+conditionHelp[name])
		}
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "give up after this long, with exit status 124")
	cmd.Flags().StringVar(&as, "as", defaultName, asHelp)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var chosen []string
		for _, name := range observe.Conditions {
			if cmd.Flags().Changed(name) && (flags[name] == nil || *flags[name]) {
				chosen = append(chosen, name)
			}
		}
		if len(chosen) != 1 {
			return usage("wait: exactly one of --%s is wanted", strings.Join(observe.Conditions, ", --"))
		}
		value := ""
		if v := values[chosen[0]]; v != nil {
			value = *v
		}
		return a.wait(cmd, args[0], chosen[0], value, as, timeout)
	}
	return cmd
}

// conditionHelp completes "wait until ...".
var conditionHelp = map[string]string{
	"text":    "this `TEXT` is on the screen",
	"regex":   "this `REGEX` (RE2) matches a row",
	"gone":    "this `TEXT` is no longer on the screen",
	"idle":    "the screen has been quiet for this `DURATION`",
	"changed": "the screen changed",
	"exit":    "the program ended",
	"waiting": "the program waits for input; the header says how that is known",
	"control": "the request for control was decided, or the user wrote",
}

func (a *app) wait(cmd *cobra.Command, id, name, value, as string, timeout time.Duration) error {
	until, err := observe.Until(name, value)
	if err != nil {
		return usage("wait --%s: %w", name, err)
	}
	if err := checkTimeout(timeout); err != nil {
		return err
	}
	return a.with(as, false, func(c *client.Client) error {
		s, err := lookup(cmd.Context(), c, id)
		if err != nil {
			return err
		}
		ask := &protocol.Wait{SessionID: s.SessionID, Until: until, TimeoutMs: timeout.Milliseconds()}
		if until.Changed {
			now, err := c.Read(cmd.Context(), &protocol.Read{SessionID: s.SessionID})
			if err != nil {
				return err
			}
			ask.AfterSeq = now.Frame.Seq
		}
		got, err := c.Wait(cmd.Context(), ask)
		if err != nil {
			return err
		}
		if err := a.printWait(s, got); err != nil {
			return err
		}
		if !got.Met {
			return notMet("wait for "+name+" ("+timeout.String()+")", got)
		}
		return nil
	})
}

func (a *app) printWait(s protocol.SessionInfo, got *protocol.WaitResult) error {
	if a.json {
		return a.printJSON(got)
	}
	if err := a.printNotes(got.Notes); err != nil || got.Frame == nil {
		return err
	}
	return a.print(header(s, got.Frame), observe.Rows(got.Frame.Screen.Lines))
}

// printNotes prints what the user wrote to this agent.
func (a *app) printNotes(notes []string) error {
	if len(notes) == 0 {
		return nil
	}
	return a.print(observe.Messages(notes))
}

// notMet is the failure of a wait whose time was over, or whose program ended before.
func notMet(what string, got *protocol.WaitResult) error {
	if got.ExitCode != nil {
		return &failure{status: statusRefused, cause: fmt.Errorf("%s: the program ended with exit status %d before", what, *got.ExitCode)}
	}
	return &failure{status: statusTimeout, cause: fmt.Errorf("%s: not so in time", what)}
}

func checkTimeout(d time.Duration) error {
	if d < time.Millisecond || d > protocol.MaxWaitMs*time.Millisecond {
		return usage("--timeout %s: it must be 1ms to %dm", d, protocol.MaxWaitMs/60_000)
	}
	return nil
}
