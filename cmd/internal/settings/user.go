package settings

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"terminalproxy/gateway"
)

// The tables of flags.
const (
	TableProxy   = "proxy"
	TableGateway = "gateway"
)

// NeverProxy are the flags of proxy that make no sense in a file: they are about one call's program, or a file of its own.
var NeverProxy = []string{"help", "version", "record", "status-fd", "chat", "agents-may-approve"}

// OfGateway are the flags, proxy's and gateway's, that say what a gateway may do. The file's count for the file's gateway alone:
// nobody's token goes to another one.
var OfGateway = []string{"token-file", "allow-remote-grant", "allow-remote-keys"}

// variables are the environment variables that say what flags do.
var variables = map[string]string{"gateway": "PROXY_GATEWAY", "token-file": "PROXY_TOKEN_FILE"}

// Variable is the environment variable that says what a flag does, "" for none, and its value.
func Variable(flag string) (name, value string) {
	if name = variables[flag]; name != "" {
		value = os.Getenv(name)
	}
	return name, value
}

// Path is the user's own configuration: $XDG_CONFIG_HOME/terminalproxy/config.toml, else ~/.config/terminalproxy/config.toml. No file
// of a project's directory is ever read.
func Path() (string, error) { return gateway.ConfigPath() }

// User is the user's own configuration, nil where there is none. The error is an *Error.
func User() (*File, error) {
	path, err := Path()
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // a user without a home has no configuration
	}
	_, err = os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrPermission) {
		return nil, nil //nolint:nilnil // nobody has to have one, and a service has none in a home that it cannot look into
	}
	f, err := Read(path)
	if err != nil {
		return nil, err
	}
	if err := f.known(); err != nil {
		return f, err
	}
	return f, nil
}

// known refuses what stands on no table that there is.
func (f *File) known() error {
	tables := []string{TableProxy, TableGateway, tableLook, tableRedact}
	for _, s := range f.root.Settings {
		if slices.Contains(repeated, s.Key) {
			continue
		}
		if _, array := s.Value.([]map[string]any); array && slices.Contains(tables, s.Key) {
			return f.root.Wrong(s.Line, "write ["+s.Key+"]", "[[%s]]: must stand in one bracket: there is only one", s.Key)
		} else if array {
			return f.root.Unknown(s.Line, "table", s.Key, slices.Concat(tables, repeated))
		}
		return f.root.Wrong(s.Line, "the tables are: ["+TableProxy+"], ["+TableGateway+"], ["+tableLook+"], ["+tableRedact+"], [["+TableOn+"]], [["+RulesAllow+"]], [["+RulesNever+"]]",
			"%.40s: stands in no table", s.Key)
	}
	for _, sub := range f.root.Tables {
		if slices.Contains(repeated, sub.Name) {
			return f.root.Wrong(sub.First(), "write [["+sub.Name+"]]", "[%s]: must stand in two brackets: there may be several", sub.Name)
		}
	}
	return f.root.Only(slices.Concat(tables, repeated)...)
}

// Preset sets flags of a command to what a table of the file says: the command line wins over the environment, which wins over the
// file. lines are as those of [Table.Preset]. It may be asked of a nil file.
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
