package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/flagwords"
)

// Flags are the flags of a command that a table may set.
type Flags struct {
	Set *pflag.FlagSet
	// Never are those that make no sense in a file.
	Never []string
	// Taken reports whether something else than the command line has said what a flag is, which wins over the file, too; nil for
	// never.
	Taken func(name string) bool
}

// Names are those that a table may set.
func (f Flags) Names() (all []string) {
	f.Set.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(f.Never, flag.Name) {
			all = append(all, flag.Name)
		}
	})
	return all
}

// Preset sets the flags that the table sets and the command line does not, as if the command line had. lines says on which line each of
// them stands. A nil table sets none.
func (t *Table) Preset(f Flags) (lines map[string]int, err error) {
	if t == nil {
		return nil, nil
	}
	lines = make(map[string]int)
	for _, s := range t.Settings {
		set, err := t.preset(f, s)
		if err != nil {
			return nil, err
		}
		if set {
			lines[s.Key] = s.Line
		}
	}
	return lines, nil
}

func (t *Table) preset(f Flags, s Setting) (set bool, err error) {
	flag := f.Set.Lookup(s.Key)
	if flag == nil || slices.Contains(f.Never, s.Key) {
		if _, array := s.Value.([]map[string]any); array {
			return false, t.Wrong(s.Line, "remove the line with the brackets", "the table [[%.40s]]: unknown", s.Key)
		}
		return false, t.Unknown(s.Line, "setting", s.Key, f.Names())
	}
	texts, wanted := textsOf(flag, s.Value)
	if wanted != "" {
		return false, t.Wrong(s.Line, "", "%s: must be %s", s.Key, wanted)
	}
	if flag.Changed || f.Taken != nil && f.Taken(s.Key) {
		return false, nil
	}
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		flag.Changed, err = true, list.Replace(texts)
	} else {
		err = f.Set.Set(s.Key, texts[0])
	}
	if say, _, ok := flagwords.Explain(err); ok {
		return false, t.Wrong(s.Line, "", "%s", strings.TrimPrefix(say, "--"))
	}
	if err != nil {
		return false, t.Wrong(s.Line, "", "%s: %v", s.Key, err)
	}
	return true, nil
}

// textsOf is a value as the command line would say it, in other than one text only where the flag may be repeated; wanted says what the
// value has to be, "" for what it is.
func textsOf(flag *pflag.Flag, value any) (texts []string, wanted string) {
	if _, list := flag.Value.(pflag.SliceValue); list {
		texts, ok := listOf(value)
		if !ok || slices.Contains(texts, "") {
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

// listOf is a list of texts.
func listOf(value any) (texts []string, ok bool) {
	all, ok := value.([]any)
	texts = make([]string, len(all))
	for i := range all {
		text, is := all[i].(string)
		texts[i], ok = text, ok && is
	}
	return texts, ok
}
