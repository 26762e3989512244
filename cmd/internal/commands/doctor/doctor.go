// Package doctor reports on this installation: the settings in force, what the rules answer, and
// faults.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/userdirs"
)

// promise states the protection that a grant gives, in the same words everywhere.
const promise = "The grant protects against mistakes and against agents that act only through " +
	"the gateway. " +
	"A process running as your user is not contained; use another user or a container for that."

// The states of a finding.
const (
	stateOK    = "ok"
	stateWarn  = "warn"  // weaker than it could be
	stateWrong = "wrong" // needs fixing
)

// finding is the result of one check.
type finding struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Say   string `json:"say"`
	Do    string `json:"do,omitempty"` // the next step
}

// isFolded reports whether the finding passed and needs nothing done.
func (f finding) isFolded() bool { return f.State == stateOK && f.Do == "" }

// doctor collects findings. root is the parent of /proc, "" except in tests.
type doctor struct {
	env      *cli.Env
	root     string
	verbose  bool // also list passed checks
	findings []finding
}

func (d *doctor) addOK(name, format string, args ...any) {
	d.findings = append(d.findings, finding{
		Name:  name,
		State: stateOK,
		Say:   fmt.Sprintf(format, args...),
	})
}

func (d *doctor) addWarning(name, do, format string, args ...any) {
	d.findings = append(d.findings, finding{
		Name:  name,
		State: stateWarn,
		Say:   fmt.Sprintf(format, args...),
		Do:    do,
	})
}

func (d *doctor) addError(name, do, format string, args ...any) {
	d.findings = append(d.findings, finding{
		Name:  name,
		State: stateWrong,
		Say:   fmt.Sprintf(format, args...),
		Do:    do,
	})
}

// doctorOptions are the flags of gateway doctor.
type doctorOptions struct{ verbose bool }

// New makes the command gateway doctor.
func New(env *cli.Env) *cobra.Command {
	var opts doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the configuration, the running gateway and this machine's protections",
		Args:  cobra.NoArgs,
		Long: "doctor checks every table of your configuration, the running gateway, the files of " +
			"sockets and tokens, the processes of the\n" +
			"sessions, and the kernel. It changes nothing. Each finding is ok, warn (weaker than " +
			"it could be) or wrong (needs fixing).\n" +
			"Passed checks are counted; --verbose and --json list them. The exit status is 1 if " +
			"anything is wrong.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runAndReport(cmd.Context(), env, opts)
		},
	}
	cmd.Flags().BoolVarP(&opts.verbose, "verbose", "v", false, "also list passed checks")
	return cmd
}

// runAndReport checks the gateway and this machine, and prints what it found.
func runAndReport(ctx context.Context, env *cli.Env, opts doctorOptions) error {
	d := &doctor{env: env, verbose: opts.verbose}
	d.runChecks(ctx)
	return d.reportFindings()
}

// runChecks runs all checks; a failed one does not stop the others.
func (d *doctor) runChecks(ctx context.Context) {
	d.checkVersions(ctx)
	d.checkConfiguration()
	d.checkSocket(ctx)
	d.checkRemote(ctx)
	d.checkTokens()
	d.checkAgents()
	d.checkKernel()
	d.checkAskpass()
	if in, err := d.env.RequirePerson(); err == nil {
		d.checkTerm()
		d.checkKeyboard(in)
		d.checkBindings(ctx)
	}
}

// reportFindings prints the findings, and fails if something is wrong.
func (d *doctor) reportFindings() error {
	bad := 0
	for _, f := range d.findings {
		if f.State == stateWrong {
			bad++
		}
	}
	var err error
	if d.env.JSON {
		err = d.env.PrintJSON(map[string]any{"findings": d.findings, "promise": promise})
	} else {
		err = d.printFindings()
	}
	if err == nil && bad > 0 {
		err = cli.Fail(cli.StatusRefused, "doctor: %d of %d checks failed", bad, len(d.findings))
	}
	return err
}

// printFindings prints the passed checks, the promise of a grant, and the others last.
func (d *doctor) printFindings() error {
	var good, bad []string
	folded := 0
	for _, state := range []string{stateOK, stateWarn, stateWrong} {
		for _, f := range d.findings {
			switch {
			case f.State != state:
			case f.isFolded() && d.verbose:
				good = append(good, f.row())
			case f.isFolded():
				folded++
			default:
				bad = append(bad, f.row())
				if f.Do != "" {
					bad = append(bad, "\t\tdo: "+f.Do)
				}
			}
		}
	}
	if !d.verbose {
		good = []string{fmt.Sprintf("%d checks passed (--verbose lists them)", folded)}
	}
	err := d.env.PrintTable(good)
	if err == nil {
		err = d.env.PrintLines("", promise)
	}
	if err == nil && len(bad) > 0 {
		err = errors.Join(d.env.PrintLines(""), d.env.PrintTable(bad))
	}
	return err
}

// row formats the finding as a row of a table.
func (f finding) row() string { return f.State + "\t" + f.Name + "\t" + f.Say }

// checkPrivate checks a file or directory that only its owner may access.
func (d *doctor) checkPrivate(name, path string, most os.FileMode) (there bool) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false
	case err != nil:
		d.addError(name, "set "+variableOf(path)+" to a directory of yours",
			"%s cannot be read: %v", path, err)
	case userdirs.OwnerOf(info) != os.Getuid():
		d.addError(name, "remove it, or take ownership of it", "%s belongs to user %d", path,
			userdirs.OwnerOf(info))
	case info.Mode().Perm()&^most != 0:
		d.addError(name, fmt.Sprintf("chmod %o %s", most, path),
			"%s has mode %04o: other users can access it", path, info.Mode().Perm())
	default:
		d.addOK(name, "%s, mode %04o", path, info.Mode().Perm())
	}
	return true
}

// variableOf names the environment variable that moves a path's directory.
func variableOf(path string) string {
	if config, err := userdirs.ConfigPath(); err == nil &&
		strings.HasPrefix(path, filepath.Dir(config)) {
		return "XDG_CONFIG_HOME"
	}
	if dir, _, _ := userdirs.LocalSocket(); strings.HasPrefix(path, dir) {
		return userdirs.EnvDir
	}
	return "XDG_STATE_HOME"
}
