package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/flagwords"
	"terminalproxy/gateway/auth"
)

// maxSettings bounds a file of settings, in bytes.
const maxSettings = 64 << 10

// settings is a file of settings for a command: a TOML table whose keys are the command's flags, without dashes. A flag of the command
// line wins over the file.
type settings struct {
	path  string
	flags *pflag.FlagSet
	never []string // flags that make no sense in a file
}

// read sets the flags that the file sets and the command line does not.
func (s settings) read() error {
	content, err := s.content()
	if err != nil {
		return err
	}
	var values map[string]toml.Primitive
	all, err := toml.NewDecoder(bytes.NewReader(content)).Decode(&values)
	if err != nil {
		return s.wrong(err, nil)
	}
	for _, key := range all.Keys() {
		if len(key) > 1 {
			continue // of a table, which is refused
		}
		one := setting{settings: s, key: key[0]}
		if err := all.PrimitiveDecode(values[key[0]], &one); err != nil {
			return s.wrong(err, one.refused)
		}
	}
	return nil
}

// wrong says in which line of the file the parser found an error; why is our own, nil for one of the parser's.
func (s settings) wrong(err error, why *failure) error {
	at, ok := errors.AsType[toml.ParseError](err)
	if !ok {
		return fail(statusUsage, "serve: --config %s: %w", s.path, err)
	}
	if why == nil {
		why = fail(statusUsage, "%s", at.Message)
	}
	return fail(statusUsage, "serve: --config %s: line %d: %w", s.path, at.Position.Line, why.cause).hinted(why.hint)
}

// content reads the file. Whoever can write it says who may come in: nobody but this user and root.
func (s settings) content() ([]byte, error) {
	path, err := filepath.EvalSymlinks(s.path)
	if err != nil {
		return nil, s.unread(err)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not hold us up
	if err != nil {
		return nil, s.unread(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, s.unread(err)
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return nil, s.unread(err)
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, fail(statusUsage, "serve: --config %s: not a regular file", s.path)
	case info.Size() > maxSettings:
		return nil, fail(statusUsage, "serve: --config %s: too long: it has %d bytes, at most %d are read", s.path, info.Size(), maxSettings)
	}
	if err := errors.Join(s.guarded(path, info), s.guarded(filepath.Dir(path), dir)); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, maxSettings))
}

func (s settings) unread(err error) error {
	return fail(statusUsage, "serve: --config %s: %w", s.path, err)
}

// guarded refuses what others can write to. In a sticky directory nobody replaces the files of others.
func (s settings) guarded(path string, info fs.FileInfo) error {
	uid, mode := auth.OwnerOf(info), info.Mode()
	switch {
	case uid != os.Getuid() && uid != 0:
		return fail(statusUsage, "serve: --config %s: %s belongs to user %d, who could change it", s.path, path, uid).
			hinted("let it belong to root, or to the user whom the gateway runs as")
	case mode.Perm()&0o022 != 0 && (!mode.IsDir() || mode&fs.ModeSticky == 0):
		return fail(statusUsage, "serve: --config %s: %s has mode %04o, so other users can change it", s.path, path, mode.Perm()).
			hinted("chmod go-w " + path)
	}
	return nil
}

// setting is one key of a file, for [toml.MetaData.PrimitiveDecode], which says in which line it is.
type setting struct {
	settings
	key     string
	refused *failure // why it cannot be set; nil for nothing
}

// UnmarshalTOML implements toml.Unmarshaler.
func (s *setting) UnmarshalTOML(value any) error {
	if s.refused = s.set(value); s.refused != nil {
		return s.refused
	}
	return nil
}

func (s *setting) set(value any) *failure {
	flag := s.flags.Lookup(s.key)
	if flag == nil || slices.Contains(s.never, s.key) {
		return s.unknown(value)
	}
	texts, wanted := textsOf(flag, value)
	if wanted != "" {
		return fail(statusUsage, "%s: must be %s", s.key, wanted)
	}
	if flag.Changed {
		return nil // the command line wins
	}
	var err error
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		flag.Changed, err = true, list.Replace(texts)
	} else {
		err = s.flags.Set(s.key, texts[0])
	}
	if say, _, ok := flagwords.Explain(err); ok {
		return fail(statusUsage, "%s", strings.TrimPrefix(say, "--"))
	}
	if err != nil {
		return fail(statusUsage, "%s: %w", s.key, err)
	}
	return nil
}

// textsOf is a value as the command line would say it, in other than one text only where the flag may be repeated; wanted says what the
// value has to be, "" for what it is.
func textsOf(flag *pflag.Flag, value any) (texts []string, wanted string) {
	if _, list := flag.Value.(pflag.SliceValue); list {
		all, ok := value.([]any)
		texts := make([]string, len(all))
		for i := range all {
			texts[i], _ = all[i].(string)
			ok = ok && texts[i] != ""
		}
		if !ok {
			return nil, fmt.Sprintf("a list of texts: %s = [\"…\"]", flag.Name)
		}
		return texts, ""
	}
	switch text, is := value.(string); {
	case flag.Value.Type() == "bool":
		if on, ok := value.(bool); ok {
			return []string{strconv.FormatBool(on)}, ""
		}
		return nil, "true or false, without quotes"
	case strings.HasPrefix(flag.Value.Type(), "int"), strings.HasPrefix(flag.Value.Type(), "uint"):
		if n, ok := value.(int64); ok {
			return []string{strconv.FormatInt(n, 10)}, ""
		}
		return nil, "a whole number, without quotes"
	case is:
		return []string{text}, ""
	}
	return nil, "a text in quotes"
}

// unknown refuses a key, with what is like it.
func (s *setting) unknown(value any) *failure {
	switch value.(type) {
	case map[string]any, []map[string]any:
		return fail(statusUsage, "the table [%.40s]: settings stand in no table", s.key).hinted("remove the line with the brackets")
	}
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	var all []string
	s.flags.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(s.never, f.Name) {
			all = append(all, f.Name)
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	hint := "the settings are: " + strings.Join(all, ", ")
	if like := names.SuggestionsFor(strings.ReplaceAll(s.key, "_", "-")); len(like) > 0 {
		hint = "did you mean: " + strings.Join(like, ", ")
	}
	return fail(statusUsage, "unknown setting %.40q", s.key).hinted(hint)
}
