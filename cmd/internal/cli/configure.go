package cli

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/cli/terminals"
	"terminalproxy/cmd/internal/config/proxyflags"
	settingsfile "terminalproxy/cmd/internal/config/settings"
	"terminalproxy/proxy/terminal/keys"
)

// neverInFile are the flags that are invalid in a file, because they concern one call.
var neverInFile = []string{
	"help",
	"version",
	"check",
	"config",
	"chat",
	"agents-may-approve",
	"record-json",
	ImageFlag,
	agentTokenFlag,
	OutFlag,
}

// toleratesBadConfig lists the commands that work despite a faulty configuration: they take the
// keyboard back, or help to find the fault. They then use the built-in defaults, and report it.
var toleratesBadConfig = []string{
	"reclaim",
	"hide",
	"mute",
	"doctor",
	"config",
	"config path",
	"init",
	"marks",
	"version",
}

// applyConfiguration sets the flags of a command from the user's configuration, unless the command
// line or the environment sets them.
func (env *Env) applyConfiguration(cmd *cobra.Command) error {
	file, err := settingsfile.User()
	if err == nil {
		err = env.presetFlags(file, cmd)
	}
	wrong, found := errors.AsType[*settingsfile.Error](err)
	switch {
	case !found:
		return err
	case slices.Contains(toleratesBadConfig, commandName(cmd)):
		if cmd.Name() != "config" && cmd.Name() != "doctor" { // these report it themselves
			_, _ = fmt.Fprintf(env.Err, "gateway: configuration: %v; using the built-in defaults\n",
				wrong)
		}
		return nil
	}
	f := Fail(StatusUsage, "configuration: %w", wrong)
	if wrong.Hint != "" {
		return f.WithHint(wrong.Hint)
	}
	return f.WithHint("gateway config shows the settings in force")
}

// presetFlags applies the tables that concern the command: its own, and those of its parent
// commands.
func (env *Env) presetFlags(file *settingsfile.File, cmd *cobra.Command) error {
	if file == nil {
		return nil
	}
	env.Preset = make(map[string]string)
	for c := cmd; c != nil; c = c.Parent() {
		table, flags := TableOf(c)
		if err := file.Table(table).RefuseUnknownTables(Subcommands(c)...); err != nil {
			return err
		}
		if flags.Set.Changed("config") {
			continue // serve has a flag for another file
		}
		lines, err := file.Preset(table, flags)
		if err != nil {
			return err
		}
		for name, line := range lines {
			env.Preset[name] = fmt.Sprintf("%s:%d", file.Path, line)
		}
	}
	taste, err := file.Taste()
	env.Taste = taste
	if err == nil && commandName(cmd) == "policy check" {
		err = findProxyFault(file)
	}
	return err
}

// findProxyFault returns the error that proxy finds in the file, with which no [[allow]] counts.
func findProxyFault(file *settingsfile.File) error {
	if _, _, err := file.Rules(); err != nil {
		return err
	}
	if _, err := file.Policy(); err != nil {
		return err
	}
	if err := file.Table(settingsfile.TableProxy).RefuseUnknownTables(); err != nil {
		return err
	}
	_, err := file.Preset(settingsfile.TableProxy, ProxyFlags())
	return err
}

// ProxyFlags returns the flags of proxy that the file can set.
func ProxyFlags() settingsfile.Flags {
	return settingsfile.Flags{Set: new(proxyflags.Flags).Set(), Never: settingsfile.NeverProxy}
}

// TableOf returns a command's table and the flags allowed in it: its own, and those that its
// subcommands inherit.
func TableOf(cmd *cobra.Command) (name string, flags settingsfile.Flags) {
	name = strings.ReplaceAll(cmd.CommandPath(), " ", ".")
	set := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	set.AddFlagSet(cmd.LocalNonPersistentFlags())
	set.AddFlagSet(cmd.PersistentFlags())
	return name, settingsfile.Flags{Set: set, Never: neverInFile}
}

// Subcommands returns the names of the tables in a command's table.
func Subcommands(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		if HasTable(sub) {
			names = append(names, sub.Name())
		}
	}
	return names
}

// HasTable reports whether a command has a table. Commands for shells and for this program itself
// do not.
func HasTable(cmd *cobra.Command) bool {
	return !cmd.Hidden && cmd.Name() != "help" && cmd.Name() != "completion"
}

var flagName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`--([a-z][a-z-]*)`)
})

// withPosition adds the position in the configuration to an error's text if the configuration sets
// the flag that the error names.
func (env *Env) withPosition(text string) string {
	for _, m := range flagName().FindAllStringSubmatch(text, -1) {
		if at := env.Preset[m[1]]; at != "" {
			return text + " (set in " + at + ")"
		}
	}
	return text
}

// UserKeys returns the keys of a session that starts here with the user's configuration.
func UserKeys() (b keys.Bindings) {
	named := func(setting string, parse func(string) (keys.CtrlKey, error)) (key keys.CtrlKey) {
		file, err := settingsfile.User()
		if err != nil {
			return key // every other command reports that
		}
		v, _, _ := file.Table(settingsfile.TableProxy).Value(setting)
		name, _ := v.(string)
		key, _ = parse(name)
		return key
	}
	b.Reclaim = named("reclaim-key", keys.ParseReclaimKey)
	b = keys.Bindings{
		Reclaim: b.WithDefaults().Reclaim,
		Grant:   named("grant-key", keys.ParseGrantKey),
	}
	if b.Grant == (keys.CtrlKey{}) {
		b.Grant = terminals.Find(os.Getenv).GrantKey(b.Reclaim)
	}
	return b
}
