package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/place"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// Exit statuses of gateway status.
const (
	statusDriven = 10 // an agent has a keyboard
	statusAsked  = 11 // an agent waits for the user
)

// statusMost is how many agents a status names; it counts the others.
const statusMost = 3

// statusOptions are the options of gateway status.
type statusOptions struct {
	session, format string
	formats         bool // --format is given
	timeout         time.Duration
}

// NewStatus is for status lines and prompts, which run it again and again.
func NewStatus(env *cli.Env) *cobra.Command {
	var opts statusOptions
	cmd := &cobra.Command{
		Use:   "status [ID] [--format TEXT]",
		Short: "Say in a few words which agent drives or asks, for a status line or prompt",
		Args:  cobra.MaximumNArgs(1),
		Long: "status prints one line such as \"claude drives bash-x7kq\" or \"codex asks " +
			"vim-p2vd\". It prints nothing when no agent\n" +
			"drives or waits for you, no gateway runs, or the gateway does not answer in time. " +
			"Names cannot bring along control\n" +
			"characters, tmux's #[style] or #(command), or the escapes of a prompt. The line " +
			"names three agents at most; --json lists all.\n\n" +
			"Exit status: 0 nothing; 10 an agent drives; 11 an agent waits for you; else as for " +
			"the other commands.",
		Example: "  set -g status-right '#(gateway status)'  # tmux\n" +
			"  gateway status >/dev/null; [ $? = 11 ] && echo 'an agent waits'",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.session, opts.formats = cli.SessionArg(args), cmd.Flags().Changed("format")
			return runStatus(cmd.Context(), env, opts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.format, "format", "{agent} {does} {session}",
		"`TEXT` for each agent, in which {agent}, {does} (drives, pauses, waits, asks) and "+
			"{session} are replaced")
	f.DurationVar(&opts.timeout, "timeout", 200*time.Millisecond,
		"give up after this long, with exit status 124")
	return cmd
}

// runStatus prints what agents do.
func runStatus(ctx context.Context, env *cli.Env, opts statusOptions) error {
	switch {
	case opts.timeout <= 0:
		return cli.Usage("--timeout %s: must be more than 0", opts.timeout)
	case env.JSON && opts.formats:
		return cli.Usage("--format cannot be used with --json")
	}
	if rest := statusParts("", "", "").Replace(opts.format); strings.Contains(rest, "{") {
		return cli.Usage("--format %.40q: only {agent}, {does} and {session} are replaced", opts.format)
	}
	return printStatus(ctx, env, opts)
}

// activity is something that an agent does in a session and the user may want to know.
type activity struct {
	Agent   string `json:"agent"`
	Does    string `json:"does"`
	Session string `json:"session"`
}

func printStatus(ctx context.Context, env *cli.Env, opts statusOptions) error {
	sessions, err := quickList(ctx, env, opts.timeout)
	if err != nil {
		return err
	}
	if opts.session != "" {
		sessions = text.Find(sessions, opts.session)
	}
	var asking, driving []activity
	for _, s := range sessions {
		for _, d := range listActivities(s) {
			if d.Does == "asks" || d.Does == "waits" {
				asking = append(asking, d)
			} else {
				driving = append(driving, d)
			}
		}
	}
	all := slices.Concat(asking, driving)
	switch {
	case len(asking) > 0:
		env.Status = statusAsked
	case len(driving) > 0:
		env.Status = statusDriven
	}
	switch {
	case env.JSON:
		return env.PrintJSON(map[string]any{"agents": append([]activity{}, all...)})
	case len(all) == 0:
		return nil
	}
	var words []string
	for _, d := range all[:min(len(all), statusMost)] {
		words = append(words, statusParts(d.Agent, d.Does, d.Session).Replace(opts.format))
	}
	if more := len(all) - statusMost; more > 0 {
		words = append(words, fmt.Sprintf("+%d", more))
	}
	return env.PrintLines(strings.Join(words, ", "))
}

// quickList lists the sessions with a single try within the timeout. The list is empty if no
// gateway runs.
func quickList(
	ctx context.Context, env *cli.Env, timeout time.Duration,
) (sessions []protocol.SessionInfo, err error) {
	ep, err := env.Endpoint()
	if err != nil {
		return nil, err
	}
	ep.Displaced = nil
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var absent atomic.Bool
	conf := env.ClientConfig(ep, protocol.PathView, "")
	if ep.Remote() {
		conf = env.ClientConfig(ep, protocol.PathAgent, protocol.PathView)
	}
	conf.Name, conf.Skipped = cli.DefaultName, nil
	dialOnce(&conf, func(err error) { absent.Store(place.IsVacant(err)) }, cancel)
	conf.Incomplete = nil // a shell prompt has no room for the warning
	c := client.New(conf)
	sessions, err = c.Sessions(ctx)
	_ = c.Close()
	_, refused := errors.AsType[*protocol.Error](err)
	switch {
	case err == nil, refused:
		return sessions, err
	case absent.Load():
		return nil, nil
	}
	return nil, cli.Fail(cli.StatusTimeout, "status: the gateway did not answer within %s", timeout)
}

// dialOnce makes each dial report its failure, and the last failing one call cancel: the client
// would try again.
func dialOnce(conf *client.Config, report func(error), cancel func()) {
	type dialer = func(context.Context) (net.Conn, error)
	var failed atomic.Int64
	once := func(dial dialer) dialer {
		return func(ctx context.Context) (net.Conn, error) {
			conn, err := dial(ctx)
			if err != nil {
				report(err)
				if failed.Add(1) > int64(len(conf.Others)) {
					cancel()
				}
			}
			return conn, err
		}
	}
	conf.Dial = once(conf.Dial)
	for i := range conf.Others {
		conf.Others[i].Dial = once(conf.Others[i].Dial)
	}
}

// listActivities lists what agents do in a session, the asking agent first.
func listActivities(s protocol.SessionInfo) (all []activity) {
	if s.State != protocol.StateRunning {
		return nil
	}
	k, session := s.Keyboard, shellSafe(s.SessionID)
	if k.Asking != "" {
		all = append(all, activity{shellSafe(k.Asking), "asks", session})
	}
	if s.Chat != nil && s.Chat.Open > 0 {
		all = append(all, activity{shellSafe(s.Chat.Agent), "asks", session})
	}
	if k.Holder != protocol.HolderAgent {
		return all
	}
	does := "drives"
	switch {
	case k.Held, s.Blackout != nil && s.Blackout.Unattended:
		does = "waits"
	case k.Paused, k.Away:
		does = "pauses"
	}
	return append(all, activity{shellSafe(k.AgentName), does, session})
}

// statusParts returns the replacer for the fields of a format.
func statusParts(agent, does, session string) *strings.Replacer {
	return strings.NewReplacer("{agent}", agent, "{does}", does, "{session}", session)
}

// shellSafe removes from a name all characters that have a meaning to tmux or to shell prompts.
// Names from a gateway are not trusted.
func shellSafe(name string) string {
	const longest = 32
	runes := []rune(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune(" ._-@:", r):
			return r
		}
		return -1
	}, text.OneLine(name)))
	return cmp.Or(strings.TrimSpace(string(runes[:min(len(runes), longest)])), "an agent")
}
