package serve

import (
	"errors"

	"github.com/spf13/pflag"

	settingsfile "terminalproxy/cmd/internal/config/settings"

	"terminalproxy/cmd/internal/cli"
)

// settings is a file of settings for a command: a TOML table whose keys are the command's flags,
// without dashes. A flag of the command line wins over the file.
type settings struct {
	path  string
	flags *pflag.FlagSet
	never []string // flags that make no sense in a file
}

// read sets the flags that the file sets and the command line does not.
func (s settings) read() error {
	file, err := settingsfile.Read(s.path)
	if err == nil {
		err = s.presetTable(file.Table(""))
	}
	wrong, ok := errors.AsType[*settingsfile.Error](err)
	switch {
	case !ok:
		return err
	case wrong.Line > 0:
		return cli.Fail(cli.StatusUsage, "serve: --config %s: line %d: %s", s.path, wrong.Line,
			wrong.Say).WithHint(wrong.Hint)
	}
	return cli.Fail(cli.StatusUsage, "serve: --config %s: %s", s.path, wrong.Say).WithHint(wrong.Hint)
}

func (s settings) presetTable(t *settingsfile.Table) error {
	for _, sub := range t.Tables {
		return t.LineError(sub.FirstLine(), "remove the line with the brackets",
			"the table [%.40s]: settings belong outside of tables", sub.Name)
	}
	_, err := t.Preset(settingsfile.Flags{Set: s.flags, Never: s.never})
	return err
}
