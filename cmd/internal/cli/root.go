package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/config/flagwords"
	"terminalproxy/cmd/internal/process/harden"
	"terminalproxy/cmd/internal/process/limits"
	"terminalproxy/cmd/internal/process/version"
)

// rejectUnknown rejects an unknown command, and lists those with a similar name.
func rejectUnknown(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	f := Fail(StatusUsage, "unknown command %.40q", args[0])
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		return f.WithHint("did you mean: gateway " + strings.Join(like, ", gateway "))
	}
	return f.WithHint("see gateway --help")
}

// MoreHint is the annotation with a further hint for usage errors of a command.
const MoreHint = "hint"

// explainUse makes a command answer a wrong number of arguments with its usage.
func explainUse(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		explainUse(sub)
	}
	fits := cmd.Args
	if fits == nil || !cmd.HasParent() {
		return // the root command reports an unknown command itself
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
		return Fail(StatusUsage, "%s: %s", commandName(cmd), why).
			WithHint(strings.TrimSuffix(
				"usage: gateway "+strings.TrimPrefix(cmd.UseLine(), "gateway ")+"; "+
					cmd.Annotations[MoreHint], "; "))
	}
}

// commandName returns the command as typed after gateway.
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), "gateway ")
}

// Table adds a program's commands to its root.
type Table func(env *Env, root *cobra.Command)

// Run runs the program within this process: it never exits and reads no global state except the
// environment.
func Run(
	ctx context.Context, commands Table, args []string, in io.ReadCloser, out, errw io.Writer,
) int {
	env := &Env{In: in, Out: out, Err: errw}
	root := NewRoot(env, commands)
	root.SetArgs(args)
	root.SetIn(in)
	help := &helpWriter{Writer: out}
	root.SetOut(help)
	root.SetErr(errw)
	err := root.ExecuteContext(ctx)
	if help.err != nil {
		err = Fail(StatusRefused, "write the answer: %w", help.err)
	}
	if err == nil {
		return env.Status
	}
	return env.reportError(err)
}

// helpWriter keeps write errors, which package cobra ignores for the help and the version.
type helpWriter struct {
	io.Writer
	err error
}

func (w *helpWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.err = cmp.Or(w.err, err)
	return n, err
}

// Main runs the program and exits.
func Main(commands Table) {
	harden.ProtectProcess()
	if short := limits.FindShortage(); short != nil {
		env := &Env{Err: os.Stderr}
		os.Exit(env.reportError(Fail(StatusRefused, "%w", short).WithHint(short.Hint)))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM,
		syscall.SIGHUP)
	out, errw := os.Stdout, os.Stderr
	if os.Args[0] == KeptName {
		out, errw = keptOutput()
	}
	status := Run(ctx, commands, os.Args[1:], os.Stdin, out, errw)
	stop()
	os.Exit(status)
}

// NewRoot makes the program's command line, with the defaults of its flags.
func NewRoot(env *Env, commands Table) *cobra.Command {
	env.NewRoot = func() *cobra.Command { return NewRoot(new(Env), commands) }
	root := &cobra.Command{
		Use:   "gateway",
		Short: "Watch terminals that run under proxy, and type into them with the user's permission",
		Long: "gateway shows the terminals that run under `proxy --agent`, asks their users for " +
			"the keyboard, and types while a grant lasts.\n\n" +
			"Exit status: 0 done; 1 refused, or a condition not met; 2 usage; 3 no such session; " +
			"4 not permitted; 5 no gateway; 124 timeout.",
		Args:                       rejectUnknown,
		Version:                    version.String(),
		SuggestionsMinimumDistance: 2,
		SilenceErrors:              true,
		SilenceUsage:               true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			env.Status = StatusUsage
			cmd.SetOut(env.Err)
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			env.Command, env.TokenNamed = commandName(cmd), cmd.Flags().Changed("token-file")
			return env.applyConfiguration(cmd)
		},
	}
	env.addFlags(root.PersistentFlags())
	commands(env, root)
	root.AddCommand(&cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return env.PrintAnswer(map[string]any{"version": version.String()},
				"gateway version "+version.String())
		},
	})
	root.SetFlagErrorFunc(explainFlag)
	explainUse(root)
	return root
}

// addFlags adds the flags of all commands.
func (env *Env) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&env.JSON, "json", false, "print the answer as JSON")
	f.StringVar(&env.Gateway, "gateway", os.Getenv("PROXY_GATEWAY"),
		"gateway `URL`: unix:/PATH, ws://127.0.0.1:PORT, wss://HOST, or several of the last two "+
			"as URL,URL: the first that answers; env PROXY_GATEWAY (default: the local gateway)")
	f.StringVar(&env.TokenFile, "token-file", os.Getenv("PROXY_TOKEN_FILE"),
		"`FILE` with the token for a remote gateway; env PROXY_TOKEN_FILE")
}

// explainFlag rewrites an error in a command's flags.
func explainFlag(cmd *cobra.Command, err error) error {
	help := "see " + cmd.CommandPath() + " --help"
	if words, hint, ok := flagwords.Explain(err); ok {
		return &Failure{Status: StatusUsage, Cause: errors.New(words), Hint: hint + "; " + help}
	}
	return &Failure{Status: StatusUsage, Cause: err, Hint: help}
}

// KeptName is the argv[0] of a process that hosts a program without a terminal.
const KeptName = "gateway-kept"

// keptOutput returns the pipes on which such a process reports its start. It has no other output.
func keptOutput() (out, errw *os.File) { return os.NewFile(3, "out"), os.NewFile(4, "err") }
