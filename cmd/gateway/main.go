// Command gateway is for agents and operators: it lists and reads the terminals that run under
// proxy, asks for the keyboard and types, serves all that to AI agents as an MCP server, and runs
// as a server for other machines.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/flagwords"
	"terminalproxy/cmd/internal/harden"
	"terminalproxy/cmd/internal/limits"
	"terminalproxy/cmd/internal/version"
	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
	"terminalproxy/proxy"
)

func main() {
	harden.ProtectProcess()
	if short := limits.FindShortage(); short != nil {
		os.Exit((&app{
			err: os.Stderr,
		}).reportError(fail(statusRefused, "%w", short).withHint(short.Hint)))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM,
		syscall.SIGHUP)
	out, errw := os.Stdout, os.Stderr
	if os.Args[0] == keptName {
		out, errw = keptOutput()
	}
	status := run(ctx, os.Args[1:], os.Stdin, out, errw)
	stop()
	os.Exit(status)
}

// Exit statuses.
const (
	statusOK        = 0
	statusRefused   = 1 // refused, or another failure
	statusUsage     = 2
	statusNoSession = 3
	statusForbidden = 4
	statusNoGateway = 5
	statusTimeout   = 124
	statusUndefined = -1
	hintNothingRuns = "start a session in a terminal with: proxy --agent PROGRAM"
	hintUserTypes   = "wait with: gateway wait ID --changed; if the user's own line is in the " +
		"way, ask them with gateway say to submit or clear it"
	hintRequestFirst = "ask first with: gateway request ID --reason REASON"
	hintWaitForUser  = "wait for the user: gateway wait ID --changed"
	hintWaitForInput = "wait until the user has answered: gateway wait ID --waiting"
)

// app is one invocation.
type app struct {
	in       io.ReadCloser
	out, err io.Writer

	gateway    string // --gateway
	tokenFile  string // --token-file
	json       bool   // --json
	agentToken string // --agent-token of request
	// tokenNamed: the token file is named on the command line, and not by the environment.
	tokenNamed bool
	// taste is what the configuration says of sessions that are hosted here and of recordings, and
	// preset what it set of the command's flags: where, by name.
	taste  proxy.Taste
	preset map[string]string
	// command is what runs, "" until the command line was found good.
	command string
	// status is the exit status of a command that worked, for commands with other statuses than 0.
	status int
}

// failure is an error that knows its exit status and what to do about it.
type failure struct {
	status int // statusUndefined: see statusOf
	cause  error
	hint   string
}

func (f *failure) Error() string { return f.cause.Error() }
func (f *failure) Unwrap() error { return f.cause }

func fail(status int, format string, args ...any) *failure {
	return &failure{status: status, cause: fmt.Errorf(format, args...)}
}

func usage(format string, args ...any) error { return fail(statusUsage, format, args...) }

// withHint adds a hint with the next step.
func (f *failure) withHint(hint string) *failure {
	f.hint = hint
	return f
}

// noCommand refuses an unknown command, and lists those with a similar name.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	f := fail(statusUsage, "unknown command %.40q", args[0])
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		return f.withHint("did you mean: gateway " + strings.Join(like, ", gateway "))
	}
	return f.withHint("see gateway --help")
}

// moreHint is the annotation of a command that has more to say about a wrong command line.
const moreHint = "hint"

// sayUse has a command line with too few or too many arguments answered with how it is written.
func sayUse(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		sayUse(sub)
	}
	fits := cmd.Args
	if fits == nil || !cmd.HasParent() {
		return // the root's say that there is no such command
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if fits(cmd, args) == nil {
			return nil
		}
		why := "too many arguments"
		for more, most := slices.Clone(args), len(args)+3; len(more) < most; {
			if more = append(more, "one more"); fits(cmd, more) == nil {
				why = "missing argument"
			}
		}
		return fail(statusUsage, "%s: %s", commandName(cmd), why).
			withHint(strings.TrimSuffix(
				"usage: gateway "+strings.TrimPrefix(cmd.UseLine(), "gateway ")+"; "+
					cmd.Annotations[moreHint], "; "))
	}
}

// commandName returns the command as the user types it after gateway.
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), "gateway ")
}

// run runs the program without its process: it never exits and reads no global but the environment.
func run(ctx context.Context, args []string, in io.ReadCloser, out, errw io.Writer) int {
	a := &app{in: in, out: out, err: errw}
	root := a.newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return a.status
	}
	return a.reportError(err)
}

// reportError says what went wrong, in a sentence, and gives the exit status.
func (a *app) reportError(err error) int {
	f, ok := errors.AsType[*failure](err)
	if !ok {
		f = &failure{status: statusUndefined, cause: err}
	}
	if f.status == statusUndefined {
		f.status = a.statusOf(err)
	}
	text := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "\n  ")
	if prefix, _, _ := strings.Cut(text, ":"); a.command != "" && strings.Contains(prefix, " ") &&
		prefix != a.command && !strings.HasPrefix(prefix, a.command+" ") {
		text = a.command + ": " + text // it is only a why
	}
	_, _ = fmt.Fprintf(a.err, "gateway: %s\n", a.withPosition(text))
	if hint := a.hintFor(f); hint != "" {
		_, _ = fmt.Fprintf(a.err, "hint: %s\n", hint)
	}
	return f.status
}

func (a *app) statusOf(err error) int {
	if a.command == "" {
		return statusUsage
	}
	if _, ok := errors.AsType[*client.Unreachable](err); ok {
		return statusNoGateway
	}
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		return statusOfCode(refused.Code)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return statusTimeout
	}
	return statusRefused
}

func statusOfCode(c protocol.Code) int {
	switch c {
	case protocol.CodeNoSession:
		return statusNoSession
	case protocol.CodeUnauthorized, protocol.CodeForbidden, protocol.CodeNoGrant:
		return statusForbidden
	case protocol.CodeTimeout:
		return statusTimeout
	case protocol.CodeBadMessage, protocol.CodeTooLarge:
		return statusUsage
	case protocol.CodeStaleEpoch, protocol.CodeScreenChanged, protocol.CodeBlackout, protocol.CodeSecretPrompt,
		protocol.CodeBusy, protocol.CodeUserTyping, protocol.CodeExited, protocol.CodeUnavailable, protocol.CodeReservedKey,
		protocol.CodeNotReading, protocol.CodeUserRefused, protocol.CodeOtherProgram, protocol.CodeNoChat, protocol.CodeNotFound, protocol.CodeAnswered,
		protocol.CodeWithdrawn:
	}
	return statusRefused
}

func (a *app) hintFor(f *failure) string {
	if f.hint != "" {
		return f.hint
	}
	refused, ok := errors.AsType[*protocol.Error](f.cause)
	switch {
	case ok && refused.Code == protocol.CodeNoGrant:
		return hintRequestFirst
	case ok && refused.RetryAfterMs > 0:
		return "wait until then, and ask again only if the user may want it"
	case f.status == statusUsage:
		return strings.Join(strings.Fields("see gateway "+a.command+" --help"), " ")
	case f.status == statusForbidden:
		return "use --token-file with a token of the right role, or create one: gateway token " +
			"create NAME --role ROLE"
	}
	return ""
}

func (a *app) newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "gateway",
		Short: "Watch terminals that run under proxy, and type into them with the user's permission",
		Long: "gateway shows the terminals that run under `proxy --agent`, asks their users for " +
			"the keyboard, and types while a grant lasts.\n\n" +
			"Exit status: 0 done; 1 refused, or a condition not met; 2 usage; 3 no such session; " +
			"4 not permitted; 5 no gateway; 124 timeout.",
		Args:                       noCommand,
		Version:                    version.String(),
		SuggestionsMinimumDistance: 2,
		SilenceErrors:              true,
		SilenceUsage:               true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_ = cmd.Help()
			return usage("no command given")
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.command, a.tokenNamed = commandName(cmd), cmd.Flags().Changed("token-file")
			return a.applyConfiguration(cmd)
		},
	}
	f := root.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "print the answer as JSON")
	f.StringVar(&a.gateway, "gateway", os.Getenv("PROXY_GATEWAY"),
		"gateway `URL`: unix:/PATH, ws://127.0.0.1:PORT, wss://HOST, or several of the last two "+
			"as URL,URL: the first that answers; env PROXY_GATEWAY (default: the local gateway)")
	f.StringVar(&a.tokenFile, "token-file", os.Getenv("PROXY_TOKEN_FILE"),
		"`FILE` with the token for a remote gateway; env PROXY_TOKEN_FILE")
	a.addCommands(root)
	root.AddCommand(&cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.printAnswer(map[string]any{"version": version.String()},
				"gateway version "+version.String())
		},
	})
	root.AddCommand(a.newReap(), a.newHook(), newManual(root))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		help := "see " + cmd.CommandPath() + " --help"
		if words, hint, ok := flagwords.Explain(err); ok {
			return &failure{status: statusUsage, cause: errors.New(words), hint: hint + "; " + help}
		}
		return &failure{status: statusUsage, cause: err, hint: help}
	})
	sayUse(root)
	return root
}
