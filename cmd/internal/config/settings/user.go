package settings

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"terminalproxy/gateway/userdirs"
)

// The tables of flags.
const (
	TableProxy   = "proxy"
	TableGateway = "gateway"
)

// NeverProxy are the flags of proxy that make no sense in a file: they are about one call's
// program, or a file of its own.
var NeverProxy = []string{"help", "version", "record", "status-fd", "chat", "agents-may-approve"}

// OfGateway are the flags, of proxy and gateway, that say what a gateway may do. The file's values
// count for the file's gateway alone: a token must not go to another one.
var OfGateway = []string{"token-file", "allow-remote-grant", "allow-remote-keys"}

// variables maps flags to the environment variables that set them.
var variables = map[string]string{"gateway": "PROXY_GATEWAY", "token-file": "PROXY_TOKEN_FILE"}

// Variable returns the environment variable that sets a flag, or "", and its value.
func Variable(flag string) (name, value string) {
	if name = variables[flag]; name != "" {
		value = os.Getenv(name)
	}
	return name, value
}

// Path returns the path of the user's own configuration:
// $XDG_CONFIG_HOME/terminalproxy/config.toml, else ~/.config/terminalproxy/config.toml. Files of a
// project's directory are never read.
func Path() (string, error) { return userdirs.ConfigPath() }

// User reads the user's own configuration; nil if there is no file. The error is an *Error.
func User() (*File, error) {
	path, err := Path()
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // a user without a home has no configuration
	}
	_, err = os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, fs.ErrPermission) {
		return nil, nil //nolint:nilnil // the file is optional, and a service may not read the home
	}
	f, err := Read(path)
	if err != nil {
		return nil, err
	}
	if err := f.checkTables(); err != nil {
		return f, err
	}
	return f, nil
}

// checkTables refuses unknown tables, and settings outside of tables.
func (f *File) checkTables() error {
	tables := []string{TableProxy, TableGateway, tableLook, tableRedact}
	for _, s := range f.root.Settings {
		if slices.Contains(repeatedTables, s.Key) {
			continue
		}
		if _, array := s.Value.([]map[string]any); array && slices.Contains(tables, s.Key) {
			return f.root.LineError(s.Line, "write ["+s.Key+"]",
				"[[%s]]: must be in single brackets: there is only one", s.Key)
		} else if array {
			return f.root.UnknownNameError(s.Line, "table", s.Key,
				slices.Concat(tables, repeatedTables))
		}
		return f.root.LineError(s.Line,
			"the tables are: ["+TableProxy+"], ["+TableGateway+"], ["+tableLook+"], ["+tableRedact+
				"], [["+TableOn+"]], [["+RulesAllow+"]], [["+RulesNever+"]]",
			"%.40s: must be in a table", s.Key)
	}
	for _, sub := range f.root.Tables {
		if slices.Contains(repeatedTables, sub.Name) {
			return f.root.LineError(sub.FirstLine(), "write [["+sub.Name+"]]",
				"[%s]: must be in double brackets: there may be several", sub.Name)
		}
	}
	return f.root.RefuseUnknownTables(slices.Concat(tables, repeatedTables)...)
}

// Preset sets flags of a command from a table of the file. The command line wins over the
// environment, which wins over the file. lines is as that of [Table.Preset]. f may be nil.
func (f *File) Preset(table string, flags Flags) (lines map[string]int, err error) {
	t := f.Table(table)
	if t == nil {
		return nil, nil
	}
	given := flags.Set.Changed("gateway") || os.Getenv(variables["gateway"]) != ""
	flags.Taken = func(name string) bool {
		_, env := Variable(name)
		return env != "" || given && slices.Contains(OfGateway, name)
	}
	return t.Preset(flags)
}
