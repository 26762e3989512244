package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	settingsfile "terminalproxy/cmd/internal/config/settings"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/policy"
	"terminalproxy/proxy/display/notice"
)

// NewPolicy makes the command gateway policy.
func NewPolicy(env *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Try the rules that give agents the keyboard without asking you, or never",
		Args:  cobra.NoArgs,
		Long: "policy tries the rules in your configuration. [[allow]] gives the keyboard to an " +
			"agent that shows its local token, after 3 seconds\n" +
			"in which Ctrl+\\ refuses; [[never]] keeps agents out, and wins. " +
			"docs/configuration.md describes the rules.",
		RunE: func(*cobra.Command, []string) error { return cli.Usage("policy: use check") },
	}
	cmd.AddCommand(newPolicyCheck(env))
	return cmd
}

// policyOptions are the options of gateway policy check: an imaginary request, to see which rule
// decides.
type policyOptions struct{ agent, program, directory, level, host string }

func newPolicyCheck(env *cli.Env) *cobra.Command {
	var opts policyOptions
	cmd := &cobra.Command{
		Use:   "check AGENT PROGRAM",
		Short: "Say what happens when AGENT asks for the keyboard of PROGRAM, and why",
		Args:  cobra.ExactArgs(2),
		Long: "check says what happens when the agent with the local token AGENT asks for the " +
			"keyboard while PROGRAM has the terminal: it gets\n" +
			"the keyboard, you are asked, or it is refused. check names the rule that decides, " +
			"and why the others do not apply. Nothing is granted.",
		RunE: func(_ *cobra.Command, args []string) error {
			opts.agent, opts.program = args[0], args[1]
			return runPolicyCheck(env, opts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.level, "level", string(protocol.LevelDrive),
		"what the agent asks for: drive or type")
	f.StringVar(&opts.directory, "directory", "", "where PROGRAM runs (default: here)")
	f.StringVar(&opts.host, "host", "", "`NAME` of the machine (default: this one)")
	return cmd
}

// verdict is the answer of check.
type verdict struct {
	Answer policy.Answer  `json:"answer"`
	Rule   string         `json:"rule,omitempty"`
	Level  protocol.Level `json:"level,omitempty"`
	For    string         `json:"for,omitempty"`
	Why    []string       `json:"why,omitempty"`
	Notes  []string       `json:"notes,omitempty"`
}

// runPolicyCheck prints which rule decides.
func runPolicyCheck(env *cli.Env, in policyOptions) error {
	if in.level != string(protocol.LevelDrive) && in.level != string(protocol.LevelType) {
		return cli.Usage("--level %.20q: must be drive or type", in.level)
	}
	file, err := settingsfile.User() // its syntax is valid: applyConfiguration has checked it
	if err != nil {
		return err
	}
	rules, err := file.Policy()
	if err == nil {
		err = findProxyFault(file) // a fault makes proxy ignore every [[allow]]
	}
	if fault, ok := errors.AsType[*settingsfile.Error](err); ok {
		return cli.Fail(cli.StatusUsage, "configuration: %w", fault).WithHint(fault.Hint)
	}
	host, err := os.Hostname()
	if in.host == "" && err != nil {
		return fmt.Errorf("the name of this machine: %w: give it with --host", err)
	}
	here, err := os.Getwd()
	if in.directory == "" && err != nil {
		return fmt.Errorf("the current directory: %w: give it with --directory", err)
	}
	program, script, err := findRunning(in.program, cmp.Or(in.directory, here))
	if err != nil {
		return programFailure(in.program, err)
	}
	token, note := localToken(in.agent)
	got := policy.NewSource(rules, cmp.Or(in.host, host), nil).Judge(policy.Request{
		Agent:   policy.Agent{Token: token, Names: []string{in.agent}},
		Program: program,
		Level:   protocol.Level(in.level),
	})
	notes := slices.DeleteFunc([]string{note, script}, func(n string) bool { return n == "" })
	return printVerdict(env, in, got, notes)
}

// programFailure explains why a program was not found.
func programFailure(program string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return cli.Fail(cli.StatusUsage, "policy check: PROGRAM: %.40s is not in PATH", program).
			WithHint("give its path, or the name of an installed program")
	}
	// exec's error repeats the path and names the system call.
	if cause, ok := errors.AsType[syscall.Errno](err); ok {
		err = fmt.Errorf("%.40s: %w", program, cause)
	}
	return cli.Fail(cli.StatusUsage, "policy check: PROGRAM: %w", err)
}

// localToken returns the name of the local token that an agent presents; without one, "" and a
// note.
func localToken(name string) (token, note string) {
	_, store, err := cli.OpenTokens("")
	var tokens []auth.Token
	if err == nil {
		tokens, err = store.List()
	}
	at := slices.IndexFunc(tokens, func(t auth.Token) bool { return t.Local && t.Name == name })
	switch {
	case err != nil:
		return "", "the tokens cannot be read: " + err.Error()
	case at < 0:
		return "", "there is no local token " + name + ": make one with gateway token create " +
			name + " --local"
	case !tokens[at].Expires.IsZero() && !time.Now().Before(tokens[at].Expires):
		return "", "the local token " + name + " has expired: revoke it, remove its file and " +
			"make another one"
	}
	return name, ""
}

func printVerdict(env *cli.Env, in policyOptions, got policy.Verdict, notes []string) error {
	v := verdict{Answer: got.Answer, Rule: got.Rule.At, Why: got.Reasons, Notes: notes}
	var answer string
	switch got.Answer {
	case policy.Allows:
		v.Level, v.For = protocol.Level(in.level), notice.Span(got.Rule.For)
		answer = fmt.Sprintf(
			"allows: %s gets %s for %s, 3 s after it was announced; %s refuses (%s)", in.agent,
			in.level, v.For, cli.UserKeys().Reclaim.Label(), v.Rule)
	case policy.Never:
		answer = fmt.Sprintf("never: %s is refused at once (%s)", in.agent, v.Rule)
	case policy.Asks:
		answer = "asks: you decide"
	}
	lines := []string{answer}
	for _, why := range got.Reasons {
		lines = append(lines, "  "+why)
	}
	for _, note := range notes {
		lines = append(lines, "note: "+note)
	}
	return env.PrintAnswer(v, lines...)
}
