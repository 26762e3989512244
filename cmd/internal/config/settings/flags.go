package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/config/flagwords"
)

// Flags are the flags of a command that a table may set.
type Flags struct {
	Set *pflag.FlagSet
	// Never lists the flags that make no sense in a file.
	Never []string
	// Taken reports whether something other than the command line has set a flag, which wins over
	// the file, too. It may be nil.
	Taken func(name string) bool
}

// Names returns the flags that a table may set.
func (f Flags) Names() (all []string) {
	f.Set.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(f.Never, flag.Name) {
			all = append(all, flag.Name)
		}
	})
	return all
}

// Preset sets the flags that the table sets and the command line does not, as if the command line
// had. lines holds the line of each. A nil table sets no flags.
func (t *Table) Preset(f Flags) (lines map[string]int, err error) {
	if t == nil {
		return nil, nil
	}
	lines = make(map[string]int)
	for _, s := range t.Settings {
		set, err := t.presetFlag(f, s)
		if err != nil {
			return nil, err
		}
		if set {
			lines[s.Key] = s.Line
		}
	}
	return lines, nil
}

func (t *Table) presetFlag(f Flags, s Setting) (set bool, err error) {
	flag := f.Set.Lookup(s.Key)
	if flag == nil || slices.Contains(f.Never, s.Key) {
		if _, array := s.Value.([]map[string]any); array {
			return false, t.LineError(s.Line, "remove the line with the brackets",
				"the table [[%.40s]]: unknown", s.Key)
		}
		return false, t.UnknownNameError(s.Line, "setting", s.Key, f.Names())
	}
	texts, wanted := textsOf(flag, s.Value)
	if wanted != "" {
		return false, t.LineError(s.Line, "", "%s: must be %s", s.Key, wanted)
	}
	if flag.Changed || f.Taken != nil && f.Taken(s.Key) {
		return false, nil
	}
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		flag.Changed, err = true, list.Replace(texts)
	} else {
		err = f.Set.Set(s.Key, texts[0])
	}
	if message, _, ok := flagwords.Explain(err); ok {
		return false, t.LineError(s.Line, "", "%s", strings.TrimPrefix(message, "--"))
	}
	if err != nil {
		return false, t.LineError(s.Line, "", "%s: %v", s.Key, err)
	}
	return true, nil
}

// textsOf returns a value as the command line would write it. It returns several texts only if the
// flag may be repeated. wanted describes a valid value if this one is invalid, else "".
func textsOf(flag *pflag.Flag, value any) (texts []string, wanted string) {
	if _, list := flag.Value.(pflag.SliceValue); list {
		texts, ok := listOf(value)
		if !ok || slices.Contains(texts, "") {
			return nil, fmt.Sprintf("a list of texts: %s = [\"…\"]", flag.Name)
		}
		return texts, ""
	}
	switch text, isText := value.(string); {
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
	case isText:
		return []string{text}, ""
	}
	return nil, "a text in quotes"
}

// listOf converts a list of texts.
func listOf(value any) (texts []string, ok bool) {
	all, ok := value.([]any)
	texts = make([]string, len(all))
	for i := range all {
		text, isText := all[i].(string)
		texts[i], ok = text, ok && isText
	}
	return texts, ok
}
