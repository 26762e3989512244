package settings

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/BurntSushi/toml"

	"terminalproxy/cmd/internal/config/spelling"
)

// File is a file that was read: a table of settings and of further tables.
type File struct {
	Path  string
	root  *Table
	heads map[string][]int // the lines on which repeated tables begin, by name
	lines []string
}

// Table is a table of a file, as it stands there.
type Table struct {
	file     *File
	Name     string // as written in brackets; "" for the part before the first one
	begins   int    // the line, or 0
	Settings []Setting
	Tables   []*Table
}

// Setting is one of a file.
type Setting struct {
	Key   string
	Line  int
	Value any // as [toml.Decode] makes it
}

// Read reads a file. Its error is an *Error; for a missing file it is an [fs.ErrNotExist], too.
func Read(path string) (*File, error) {
	text, err := readOwned(path)
	if err != nil {
		return nil, err
	}
	return parse(path, text)
}

func parse(path string, text []byte) (*File, error) {
	f := &File{
		Path:  path,
		heads: repeatedHeads(string(text)),
		lines: strings.Split(string(text), "\n"),
	}
	if err := f.checkLines(); err != nil {
		return nil, err
	}
	var all map[string]toml.Primitive
	meta, err := toml.NewDecoder(bytes.NewReader(text)).Decode(&all)
	if err != nil {
		return nil, f.parseError(err)
	}
	if len(meta.Keys()) > maxKeys {
		return nil, &Error{
			Path: path,
			Say: fmt.Sprintf("too long: it has %d keys, the limit is %d", len(meta.Keys()),
				maxKeys),
		}
	}
	if f.root, err = f.newTable(&meta, "", all); err != nil {
		return nil, err
	}
	return f, nil
}

// checkLines refuses lines that would cost the decoder too much.
func (f *File) checkLines() error {
	for n, line := range f.lines {
		switch {
		case len(line) > maxLine:
			return &Error{
				Path: f.Path,
				Line: n + 1,
				Say:  fmt.Sprintf("too long: a line may have %d bytes", maxLine),
			}
		case nestingDepth(line) > maxDepth:
			return &Error{
				Path: f.Path,
				Line: n + 1,
				Say: fmt.Sprintf("too deep: a line may have %d dots and braces outside of texts",
					maxDepth),
			}
		}
	}
	return nil
}

// nestingDepth counts the dots and braces of a line outside of its texts. On a line where a text of
// many lines begins or ends, all of them count.
func nestingDepth(line string) (n int) {
	if strings.Contains(line, `"""`) || strings.Contains(line, "'''") {
		return strings.Count(line, ".") + strings.Count(line, "{")
	}
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == quote:
			quote = 0
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
		case c == '"' || c == '\'':
			quote = c
		case c == '#':
			return n
		case c == '.' || c == '{':
			n++
		}
	}
	return n
}

// parseError converts the parser's error.
func (f *File) parseError(err error) error {
	if at, ok := errors.AsType[toml.ParseError](err); ok {
		return &Error{Path: f.Path, Line: at.Position.Line, Say: at.Message, Err: err}
	}
	return &Error{Path: f.Path, Say: err.Error(), Err: err}
}

// probe makes the parser report the place of a value.
type probe struct {
	value  any
	called bool
}

var errProbe = errors.New("here")

// UnmarshalTOML implements toml.Unmarshaler.
func (p *probe) UnmarshalTOML(value any) error {
	p.value, p.called = value, true
	return errProbe
}

// newTable makes a table with all its settings and subtables, in the file's order.
func (f *File) newTable(
	meta *toml.MetaData, name string, values map[string]toml.Primitive,
) (*Table, error) {
	t := &Table{file: f, Name: name}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		var p probe
		err := meta.PrimitiveDecode(values[key], &p)
		if !p.called {
			return nil, f.parseError(err)
		}
		line := 0
		if at, ok := errors.AsType[toml.ParseError](err); ok {
			line = at.Position.Line
		}
		if _, isTable := p.value.(map[string]any); !isTable {
			t.Settings = append(t.Settings, Setting{Key: key, Line: line, Value: p.value})
			continue
		}
		var inner map[string]toml.Primitive
		if err := meta.PrimitiveDecode(values[key], &inner); err != nil {
			return nil, f.parseError(err)
		}
		sub, err := f.newTable(meta, strings.TrimPrefix(name+"."+key, "."), inner)
		if err != nil {
			return nil, err
		}
		sub.begins = line
		t.Tables = append(t.Tables, sub)
	}
	sort.SliceStable(t.Settings, func(i, k int) bool { return t.Settings[i].Line < t.Settings[k].Line })
	sort.SliceStable(t.Tables, func(i, k int) bool { return t.Tables[i].FirstLine() < t.Tables[k].FirstLine() })
	return t, nil
}

// FirstLine returns the line on which a table begins, or its first setting: [a.b] makes a table a
// without a line.
func (t *Table) FirstLine() int {
	if t.begins > 0 {
		return t.begins
	}
	first := 0
	for _, s := range t.Settings {
		if first == 0 || s.Line < first {
			first = s.Line
		}
	}
	for _, sub := range t.Tables {
		if line := sub.FirstLine(); first == 0 || line < first {
			first = line
		}
	}
	return first
}

// Table returns the table with a name as in brackets, or nil. The whole file is "". f may be nil.
func (f *File) Table(name string) *Table {
	if f == nil {
		return nil
	}
	t := f.root
	for name != "" && t != nil {
		var key string
		key, name, _ = strings.Cut(name, ".")
		t = t.subtable(key)
	}
	return t
}

func (t *Table) subtable(key string) *Table {
	want := strings.TrimPrefix(t.Name+"."+key, ".")
	for _, sub := range t.Tables {
		if sub.Name == want {
			return sub
		}
	}
	return nil
}

// LineError returns an error about a line of the table's file.
func (t *Table) LineError(line int, hint, format string, args ...any) *Error {
	return &Error{Path: t.file.Path, Line: line, Say: fmt.Sprintf(format, args...), Hint: hint}
}

// UnknownNameError refuses a name at a line and suggests the nearest known one. kind says what the
// name should be.
func (t *Table) UnknownNameError(line int, kind, name string, known []string) *Error {
	hint := "the " + kind + "s are: " + strings.Join(known, ", ")
	if like := spelling.NearestName(name, known); like != "" {
		hint = "did you mean: " + like
	}
	return t.LineError(line, hint, "unknown %s %.40q", kind, name)
}

// RefuseUnknownTables refuses unknown tables within this one. t may be nil.
func (t *Table) RefuseUnknownTables(known ...string) error {
	if t == nil {
		return nil
	}
	for _, sub := range t.Tables {
		if key := sub.lastName(); !slices.Contains(known, key) {
			return t.UnknownNameError(sub.FirstLine(), "table", key, known)
		}
	}
	return nil
}

// Value returns the value and the line of a key. t may be nil.
func (t *Table) Value(key string) (value any, line int, ok bool) {
	if t == nil {
		return nil, 0, false
	}
	for _, s := range t.Settings {
		if s.Key == key {
			return s.Value, s.Line, true
		}
	}
	return nil, 0, false
}

// Line returns the line of a key, or 0.
func (t *Table) Line(key string) int {
	_, line, _ := t.Value(key)
	return line
}
