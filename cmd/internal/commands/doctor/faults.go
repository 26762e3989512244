package doctor

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/config/proxyflags"
	settingsfile "terminalproxy/cmd/internal/config/settings"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/proxy"
)

// findFaults checks every table of the configuration and returns the first fault of each. read is
// the error of reading the file. Both may be nil.
func findFaults(
	file *settingsfile.File, read error, root *cobra.Command,
) (faults []*settingsfile.Error) {
	note := func(err error) {
		if fault, ok := errors.AsType[*settingsfile.Error](err); ok {
			faults = append(faults, fault)
		}
	}
	note(read)
	if file == nil {
		return faults
	}
	_, err := file.Taste()
	note(err)
	_, _, err = file.Rules()
	note(err)
	_, err = file.Policy()
	note(err)
	note(findProxyFault(file))
	findCommandFaults(file, root, note)
	return faults
}

// findProxyFault returns the first fault of the table of proxy: the first setting that proxy
// refuses.
func findProxyFault(file *settingsfile.File) error {
	table := file.Table(settingsfile.TableProxy)
	if table == nil {
		return nil
	}
	var flags proxyflags.Flags
	set := flags.Set()
	known := settingsfile.Flags{Set: set, Never: settingsfile.NeverProxy}
	if err := table.RefuseUnknownTables(); err != nil {
		return err
	}
	if _, err := table.Preset(known); err != nil {
		return err
	}
	for _, check := range []func() error{
		func() error { return flags.CheckRanges(set) },
		func() error { _, err := flags.KeyBindings(); return err },
		func() error { _, err := flags.ParseNotify(); return err },
		func() error { _, err := flags.ParseLogLevel(); return err },
	} {
		if err := positionFault(table, check()); err != nil {
			return err
		}
	}
	return checkGatewayValues(table, set)
}

// findCommandFaults notes the faults in the tables of a command and of its subcommands.
func findCommandFaults(file *settingsfile.File, cmd *cobra.Command, note func(error)) {
	name, flags := cli.TableOf(cmd)
	table := file.Table(name)
	err := table.RefuseUnknownTables(cli.Subcommands(cmd)...)
	note(err)
	if _, err = table.Preset(flags); err == nil {
		err = checkGatewayValues(table, flags.Set)
	}
	note(err)
	for _, sub := range cmd.Commands() {
		if cli.HasTable(sub) {
			findCommandFaults(file, sub, note)
		}
	}
}

// checkGatewayValues checks a table's address and token of a gateway.
func checkGatewayValues(table *settingsfile.Table, set *pflag.FlagSet) error {
	for _, name := range []string{"gateway", "token-file"} {
		flag := set.Lookup(name)
		if _, _, ok := table.Value(name); !ok || flag == nil || flag.Value.String() == "" {
			continue
		}
		var err error
		if name == "gateway" {
			_, err = endpoint.Parse(flag.Value.String())
		} else {
			_, err = auth.ReadTokenFile(flag.Value.String())
		}
		if err != nil {
			return table.LineError(table.Line(name), "", "%s: %v", name, err)
		}
	}
	return nil
}

// positionFault adds the line to an error that names a flag which the table sets. It drops errors
// about other flags.
func positionFault(table *settingsfile.Table, err error) error {
	user, ok := errors.AsType[*proxy.UserError](err)
	if !ok {
		return nil
	}
	text := strings.TrimPrefix(user.Say, "--")
	name := text[:len(text)-len(strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyz-"))]
	if _, line, set := table.Value(name); set {
		return table.LineError(line, user.Hint, "%s", text)
	}
	return nil
}
