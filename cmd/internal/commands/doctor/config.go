package doctor

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	settingsfile "terminalproxy/cmd/internal/config/settings"

	"terminalproxy/cmd/internal/cli"
)

// InForce is one setting in force: its value and the value's origin.
type InForce struct {
	Table string `json:"table"`
	Key   string `json:"key"`
	Value any    `json:"value"`
	From  string `json:"from"`           // default, file, environment
	Line  int    `json:"line,omitempty"` // of the file
	Name  string `json:"name,omitempty"` // of the environment variable
	// Trouble explains why the setting has no effect, or is "".
	Trouble string `json:"trouble,omitempty"`
}

// The values of InForce.From.
const (
	fromDefault     = "default"
	fromFile        = "file"
	fromEnvironment = "environment"
)

// Configuration is the answer of config.
type Configuration struct {
	Path     string    `json:"path"`
	Exists   bool      `json:"exists"`
	Error    string    `json:"error,omitempty"`
	Settings []InForce `json:"settings"`
	Rules    []rule    `json:"rules,omitempty"`
}

// rule is a rule of the configuration.
type rule struct {
	Kind string         `json:"kind"` // allow, never
	Line int            `json:"line"`
	Says map[string]any `json:"says"`
}

// configOptions are the flags of gateway config.
type configOptions struct{ onlySet bool }

// NewConfig makes the command gateway config.
func NewConfig(env *cli.Env) *cobra.Command {
	var opts configOptions
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration in force, and where each value comes from",
		Args:  cobra.NoArgs,
		Long: "config shows the settings that proxy and gateway use unless the command line " +
			"says otherwise. It names the source of each:\n" +
			"the built-in default, your configuration or an environment variable. Your " +
			"configuration is\n" +
			"~/.config/terminalproxy/config.toml; docs/configuration.md lists its\n" +
			"settings. The exit status is 2 if it has an error.",
		RunE: func(*cobra.Command, []string) error { return runConfig(env, opts) },
	}
	cmd.Flags().BoolVar(&opts.onlySet, "set", false,
		"print only what your configuration or the environment sets")
	cmd.AddCommand(&cobra.Command{
		Use: "path", Short: "Print where your configuration is, or would be", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return runConfigPath(env) },
	})
	return cmd
}

// runConfigPath prints the path of the configuration.
func runConfigPath(env *cli.Env) error {
	path, err := settingsfile.Path()
	if err != nil {
		return err
	}
	return env.PrintAnswer(map[string]any{"path": path}, path)
}

// runConfig prints all settings. A file with a fault has no effect,
// as in a session, except for the text that agents must not see.
func runConfig(env *cli.Env, opts configOptions) error {
	path, err := settingsfile.Path()
	if err != nil {
		return err
	}
	file, err := settingsfile.User()
	c := Configuration{Path: path, Exists: file != nil || err != nil}
	if faults := findFaults(file, err, env.NewRoot()); len(faults) > 0 {
		err = faults[0]
	}
	all, bad := SettingsOf(file, env.NewRoot())
	if err == nil {
		err = bad
	}
	if err != nil {
		c.Error = err.Error()
		if all, bad = SettingsOf(nil, env.NewRoot()); bad != nil {
			return bad
		}
	}
	c.Settings = all
	if opts.onlySet {
		c.Settings = slices.DeleteFunc(all, func(s InForce) bool { return s.From == fromDefault })
	}
	if err == nil {
		c.Rules = policyOf(file)
	}
	if env.JSON {
		bad = env.PrintAnswer(c, "")
	} else {
		bad = c.printSettings(env.Out)
	}
	if wrong, found := errors.AsType[*settingsfile.Error](err); found {
		return cli.Fail(cli.StatusUsage, "configuration: %w", wrong).WithHint(wrong.Hint)
	}
	return errors.Join(err, bad)
}

// SettingsOf lists all settings with their effective values. root has the defaults of the flags.
func SettingsOf(file *settingsfile.File, root *cobra.Command) (all []InForce, err error) {
	if all, err = proxyTable(all, file); err != nil {
		return nil, err
	}
	for _, o := range settingsfile.Options {
		s := InForce{Table: o.Table, Key: o.Key, Value: o.Default, From: fromDefault}
		if v, line, ok := file.Table(o.Table).Value(o.Key); ok {
			s.Value, s.From, s.Line = v, fromFile, line
		}
		all = append(all, s)
	}
	return commandsOf(append(all, rulesOf(file)...), file, root)
}

// proxyTable adds the flags of proxy.
func proxyTable(all []InForce, file *settingsfile.File) ([]InForce, error) {
	if err := file.Table(settingsfile.TableProxy).RefuseUnknownTables(); err != nil {
		return nil, err
	}
	return flagsOf(all, file, settingsfile.TableProxy, cli.ProxyFlags())
}

// rulesOf lists the programs that the configuration runs on events.
func rulesOf(file *settingsfile.File) (all []InForce) {
	rules, lines, err := file.Rules()
	if err != nil {
		return nil // reported already
	}
	for i, r := range rules {
		for _, s := range []InForce{{Key: eventKey, Value: r.Events}, {Key: runKey, Value: r.Run}} {
			s.Table, s.From, s.Line = settingsfile.TableOn, fromFile, lines[i]
			if s.Key == runKey {
				s.Trouble = describeMissing(r.Run[0])
			}
			all = append(all, s)
		}
	}
	return all
}

// The settings of a rule, in order.
const (
	eventKey = "event"
	runKey   = "run"
)

// describeMissing explains why a program cannot be run by a session started here, or returns "".
func describeMissing(program string) string {
	if _, err := exec.LookPath(program); err != nil {
		return strings.TrimPrefix(err.Error(), "exec: ")
	}
	return ""
}

// commandsOf adds the flags of a command and of its subcommands.
func commandsOf(
	all []InForce, file *settingsfile.File, cmd *cobra.Command,
) (_ []InForce, err error) {
	table, flags := cli.TableOf(cmd)
	if err := file.Table(table).RefuseUnknownTables(cli.Subcommands(cmd)...); err != nil {
		return nil, err
	}
	if all, err = flagsOf(all, file, table, flags); err != nil {
		return nil, err
	}
	for _, sub := range cmd.Commands() {
		if cli.HasTable(sub) {
			if all, err = commandsOf(all, file, sub); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// flagsOf adds the flags that a table may set.
func flagsOf(
	all []InForce, file *settingsfile.File, table string, flags settingsfile.Flags,
) ([]InForce, error) {
	lines, err := file.Preset(table, flags)
	if err != nil {
		return nil, err
	}
	for _, name := range flags.Names() {
		s := InForce{
			Table: table,
			Key:   name,
			Value: valueOf(flags.Set.Lookup(name)),
			From:  fromDefault,
		}
		if line, set := lines[name]; set {
			s.From, s.Line = fromFile, line
		} else if variable, value := settingsfile.Variable(name); value != "" {
			s.Value, s.From, s.Name = value, fromEnvironment, variable
		}
		all = append(all, s)
	}
	return all, nil
}

// valueOf returns a flag's value in the form of a configuration file.
func valueOf(flag *pflag.Flag) any {
	text := flag.Value.String()
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		return append([]string{}, list.GetSlice()...)
	}
	switch kind := flag.Value.Type(); {
	case kind == "bool":
		return text == "true"
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	}
	return text
}

// policyOf lists a valid file's rules about agents.
func policyOf(file *settingsfile.File) (all []rule) {
	for _, kind := range []string{settingsfile.RulesAllow, settingsfile.RulesNever} {
		for _, r := range file.RuleTables(kind) {
			all = append(all, rule{kind, r.Line, r.Says})
		}
	}
	return all
}

// printSettings writes the settings in the format of the file.
func (c Configuration) printSettings(out io.Writer) error {
	var b strings.Builder
	state := ""
	switch {
	case c.Error != "":
		state = " (not used: it has an error)"
	case !c.Exists:
		state = " (no such file)"
	}
	fmt.Fprintf(&b, "# %s%s\n", c.Path, state)
	table := ""
	for _, s := range c.Settings {
		switch rule := s.Table == settingsfile.TableOn; {
		case rule && s.Key == eventKey:
			fmt.Fprintf(&b, "\n[[%s]]\n", s.Table)
		case !rule && s.Table != table:
			fmt.Fprintf(&b, "\n[%s]\n", s.Table)
		}
		table = s.Table
		from := s.From
		switch s.From {
		case fromFile:
			from = fmt.Sprintf("%s:%d", filepath.Base(c.Path), s.Line)
		case fromEnvironment:
			from += " " + s.Name
		}
		line := s.Key + " = " + settingsfile.Literal(s.Value)
		if s.From != fromFile {
			line = "# " + line // makes the output a valid file
		}
		if s.Trouble != "" {
			from += ": " + s.Trouble
		}
		fmt.Fprintf(&b, "%-42s # %s\n", line, from)
	}
	for _, r := range c.Rules {
		fmt.Fprintf(&b, "\n%-42s # %s:%d\n", "[["+r.Kind+"]]", filepath.Base(c.Path), r.Line)
		for _, key := range slices.Sorted(maps.Keys(r.Says)) {
			fmt.Fprintf(&b, "%s = %s\n", key, settingsfile.Literal(r.Says[key]))
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
