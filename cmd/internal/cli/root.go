package cli

import (
	"cmp"
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
	"github.com/spf13/pflag"
	"golang.org/x/term"

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
	f := Fail(StatusUsage, "%s", strings.TrimPrefix(
		fmt.Sprintf("%s: unknown command %.40q", commandName(cmd), args[0]), "gateway: "))
	path := cmd.CommandPath()
	cmd.SuggestionsMinimumDistance = 2 // letters
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		return f.WithHint("did you mean: " + path + " " + strings.Join(like, ", "+path+" "))
	}
	return f.WithHint("see " + path + " --help")
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
		if cmd.HasSubCommands() {
			return rejectUnknown(cmd, args)
		}
		return Fail(StatusUsage, "%s: %s", commandName(cmd), cmp.Or(findMissing(cmd, args, fits), "too many arguments")).
			WithHint(strings.TrimSuffix(
				"usage: gateway "+strings.TrimPrefix(cmd.UseLine(), "gateway ")+"; "+
					cmd.Annotations[MoreHint], "; "))
	}
}

// findMissing names the arguments that a command lacks, as its usage does, or returns "".
func findMissing(cmd *cobra.Command, args []string, fits cobra.PositionalArgs) string {
	var names []string
	for _, word := range strings.Fields(cmd.Use)[1:] {
		if strings.ToUpper(word) == word && !strings.HasPrefix(word, "[") && word != "--" {
			names = append(names, word)
		}
	}
	for n := len(args); n < len(names); n++ {
		if fits(cmd, append(slices.Clone(args), names[len(args):n+1]...)) == nil {
			return "missing " + strings.Join(names[len(args):n+1], " and ")
		}
	}
	return ""
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
	if signaled, ok := errors.AsType[*signalError](context.Cause(ctx)); ok &&
		signaled.signal == os.Interrupt && isTerminal(errw) {
		_, _ = fmt.Fprintln(errw) // the terminal shows ^C where the cursor is
	}
	if err == nil {
		return env.Status
	}
	return env.reportError(err)
}

// signalError is the cause by which a signal ends a command.
type signalError struct{ signal os.Signal }

// Error implements error.
func (e *signalError) Error() string {
	if e.signal == os.Interrupt {
		return "it was interrupted"
	}
	return "it was ended by a signal: " + e.signal.String()
}

// Is makes it a [context.Canceled].
func (e *signalError) Is(target error) bool { return target == context.Canceled }

// catchSignals returns a context that the first signal ends which asks for the end of the process.
func catchSignals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case s := <-signals:
			cancel(&signalError{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
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
	_ = harden.ProtectProcess()
	if short := limits.FindShortage(); short != nil {
		env := &Env{Err: os.Stderr}
		os.Exit(env.reportError(Fail(StatusRefused, "%w", short).WithHint(short.Hint)))
	}
	ctx, stop := catchSignals(context.Background())
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
		Args:          rejectUnknown,
		Version:       version.String(),
		SilenceErrors: true,
		SilenceUsage:  true,
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
	explainCobras(root)
	return root
}

// explainCobras makes the commands that package cobra adds refuse what they do not know.
func explainCobras(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil {
					return err
				}
				return rejectUnknown(found, rest)
			}
		case "completion":
			explainUse(cmd)
			cmd.RunE = func(*cobra.Command, []string) error {
				return Usage("completion: use bash, zsh, fish or powershell")
			}
		}
	}
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
	if similar := flagwords.FindSimilar(err, cmd.Flags()); similar != "" {
		help = "did you mean " + similar + "? Else " + help
	}
	return &Failure{Status: StatusUsage, Cause: err, Hint: help}
}

// KeptName is the argv[0] of a process that hosts a program without a terminal.
const KeptName = "gateway-kept"

// keptOutput returns the pipes on which such a process reports its start. It has no other output.
func keptOutput() (out, errw *os.File) { return os.NewFile(3, "out"), os.NewFile(4, "err") }
