package protocol

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func document(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("PROTOCOL.md")
	require.NoError(t, err)
	return string(page)
}

// section returns the text below a heading, up to the next one of any level.
func section(page, heading string) (text string, ok bool) {
	_, rest, ok := strings.Cut(page, "\n"+heading+"\n")
	text, _, _ = strings.Cut(rest, "\n#")
	return text, ok
}

// tableRow returns the second cell of the first table row with the first cell, as it is written.
func tableRow(t *testing.T, page, first string) string {
	t.Helper()
	for line := range strings.SplitSeq(page, "\n") {
		if rest, ok := strings.CutPrefix(line, "| "+first+" | "); ok {
			cell, _, _ := strings.Cut(rest, "|")
			return cell
		}
	}
	require.Fail(t, "the document has no row for "+first)
	return ""
}

// documented returns the fields that a cell names, true for an optional one.
func documented(cell string) map[string]bool {
	fields := map[string]bool{}
	for _, m := range regexp.MustCompile("`(\\w+)`(\\??)").FindAllStringSubmatch(cell, -1) {
		fields[m[1]] = m[2] == "?"
	}
	return fields
}

// documentedShape returns the fields of a message or a shape, true for an optional one, and their
// types. It has a section with a table of them, or else one row, which gives no types. In that row
// only the name of a message stands as code.
func documentedShape(t *testing.T, page, name, first string) (fields map[string]bool, types map[string]string) {
	t.Helper()
	text, ok := section(page, "### "+name)
	if !ok {
		return documented(tableRow(t, page, first)), nil
	}
	_, table, ok := strings.Cut(text, "| field | type | meaning |\n|---|---|---|\n")
	require.True(t, ok, "%s has no table of its fields", name)
	fields, types = map[string]bool{}, map[string]string{}
	for line := range strings.SplitSeq(table, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			break
		}
		for field, optional := range documented(cells[1]) {
			require.NotContains(t, fields, field, name)
			fields[field], types[field] = optional, strings.TrimSpace(cells[2])
		}
	}
	return fields, types
}

// declared returns the fields of a Go type, true for one that is left out when empty.
func declared(shape reflect.Type) map[string]bool {
	fields := map[string]bool{}
	for i := range shape.NumField() {
		if !shape.Field(i).IsExported() {
			continue
		}
		name, options, _ := strings.Cut(shape.Field(i).Tag.Get("json"), ",")
		fields[name] = options == "omitempty"
	}
	return fields
}

// shapes are the Go types that fields have, by their names in the document.
var shapes = map[string]reflect.Type{
	"frame": reflect.TypeFor[Frame](), "screen": reflect.TypeFor[Screen](), "changed row": reflect.TypeFor[Row](), "text change": reflect.TypeFor[TextDelta](),
	"highlight": reflect.TypeFor[Highlight](), "picture": reflect.TypeFor[Picture](), "color": reflect.TypeFor[Color](),
	"cell": reflect.TypeFor[Cell](), "cursor": reflect.TypeFor[Cursor](), "modes": reflect.TypeFor[Modes](), "progress": reflect.TypeFor[Progress](), "keyboard": reflect.TypeFor[Keyboard](),
	"activity": reflect.TypeFor[Activity](), "session": reflect.TypeFor[SessionInfo](), "decision": reflect.TypeFor[Decision](), "incomplete": reflect.TypeFor[Incomplete](),
	"part": reflect.TypeFor[InputPart](), "result of a part": reflect.TypeFor[PartResult](), "end of a condition": reflect.TypeFor[UntilResult](), "until": reflect.TypeFor[Until](), "expect": reflect.TypeFor[Expect](),
	"blackout of a frame": reflect.TypeFor[Hidden](), "command": reflect.TypeFor[Command](), "past": reflect.TypeFor[Past](), "page": reflect.TypeFor[Page](),
	"found": reflect.TypeFor[Found](), "found row": reflect.TypeFor[FoundRow](),
	"chat of a session": reflect.TypeFor[ChatState](), "record of a conversation": reflect.TypeFor[ChatRecord](), "item": reflect.TypeFor[ChatItem](),
	"piece": reflect.TypeFor[ChatPiece](), "request of a conversation": reflect.TypeFor[ChatRequest](), "choice": reflect.TypeFor[ChatChoice](),
	"question": reflect.TypeFor[ChatQuestion](), "option": reflect.TypeFor[ChatOption](), "answer of a person": reflect.TypeFor[ChatReply](),
	"closed request": reflect.TypeFor[ChatClosed](), "turn": reflect.TypeFor[ChatTurn](),
	"state of a view": reflect.TypeFor[ViewState](), "typed of a view": reflect.TypeFor[AgentTyped](), "seen screen": reflect.TypeFor[Seen](), "wrap": reflect.TypeFor[Wrap](), "link": reflect.TypeFor[Link](),
	"asker": reflect.TypeFor[SecretAsker](), "recording": reflect.TypeFor[RecordInfo](), "frame of a recording": reflect.TypeFor[RecordFrame](), "mark": reflect.TypeFor[Mark](),
}

// wireTypes returns the words with which the document may name a Go type.
func wireTypes(t *testing.T, goType reflect.Type) []string {
	t.Helper()
	switch kind := goType.Kind(); {
	case kind == reflect.Pointer:
		return wireTypes(t, goType.Elem())
	case kind == reflect.Bool:
		return []string{"bool"}
	case kind == reflect.String:
		return []string{"string", "id", "regex"}
	case kind == reflect.Int, kind == reflect.Int64, kind == reflect.Uint64:
		return []string{"int", "ms", "time"}
	case goType == reflect.TypeFor[json.RawMessage]():
		return []string{"any"}
	case goType == reflect.TypeFor[[]byte]():
		return []string{"base64"}
	case kind == reflect.Slice:
		words := wireTypes(t, goType.Elem())
		for i := range words {
			words[i] += "[]"
		}
		return words
	}
	for name, shape := range shapes {
		if shape == goType {
			return []string{name}
		}
	}
	require.Fail(t, "the document has no word for a type", goType)
	return nil
}

func TestDocumentHasEveryMessageAndField(t *testing.T) {
	page := document(t)
	check := func(name, first string, shape reflect.Type) {
		fields, types := documentedShape(t, page, name, first)
		require.Equal(t, declared(shape), fields, name)
		for _, field := range reflect.VisibleFields(shape) {
			jsonName, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			cell, ok := types[jsonName]
			if !ok {
				continue
			}
			words := wireTypes(t, field.Type)
			require.True(t, slices.ContainsFunc(words, func(word string) bool {
				return cell == word || strings.HasPrefix(cell, word+" ")
			}), "%s of %s is documented as %q, not as one of %q", jsonName, name, cell, words)
		}
	}
	for _, kind := range Kinds() {
		check(kind, "`"+kind+"`", reflect.TypeOf(newMessage(kind)).Elem())
	}
	for name, shape := range shapes {
		check(name, name, shape)
	}
}

// This finds sections and rows of types that no longer exist.
func TestDocumentHasNoOtherMessages(t *testing.T) {
	for _, m := range regexp.MustCompile("(?m)^(?:\\| `|### )((?:terminal|sessions|page|chat|records)\\.[a-z.]+)").FindAllStringSubmatch(document(t), -1) {
		require.NotNil(t, newMessage(m[1]), m[1])
	}
}

func TestDocumentExamplesDecode(t *testing.T) {
	shown := map[string]bool{}
	for _, m := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(document(t), -1) {
		got, err := Decode([]byte(m[1]), MaxAgentMessage)
		require.NoError(t, err, m[1])
		frame, err := Encode(got)
		require.NoError(t, err)
		var want, have map[string]any
		require.NoError(t, json.Unmarshal([]byte(m[1]), &want))
		require.NoError(t, json.Unmarshal(frame, &have))
		for field := range want {
			require.Contains(t, have, field, "a field that the message has not: %s", m[1])
		}
		shown[KindOf(got)] = true
	}
	for _, kind := range Kinds() {
		require.True(t, shown[kind], "no example of %s", kind)
	}
}

// constants returns the values of the string constants of a type.
func constants(t *testing.T, typ string) []string {
	t.Helper()
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var values []string
	inspect := func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == typ {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			values = append(values, value)
		}
		return true
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, inspect)
	}
	require.NotEmpty(t, values, typ)
	return values
}

func TestDocumentHasEveryWord(t *testing.T) {
	page := document(t)
	errors, _ := section(page, "## Errors")
	for _, code := range constants(t, "Code") {
		require.NotEmpty(t, tableRow(t, errors, "`"+code+"`"))
	}
	for _, typ := range []string{"Level", "Reason", "InputKind", "Status"} {
		for _, word := range constants(t, typ) {
			if word != "" {
				require.Contains(t, page, "`"+word+"`", typ)
			}
		}
	}
	for _, word := range []string{
		"`" + Version + "`", "`" + PathProxy + "`", "`" + PathAgent + "`", "`" + PathView + "`", "`" + PathLinks + "`",
		"1008", "1009", "`Terminal-Agent-Key`", "`Authorization: Bearer TOKEN`",
	} {
		require.Contains(t, page, word)
	}
}

// SAFETY R27: the limit is stated where an integrator reads.
func TestTheLimitIsDocumentedR27(t *testing.T) {
	page := strings.Join(strings.Fields(document(t)), " ")
	require.Contains(t, page, "Prompts of programs that read raw keys, and of programs on another machine, are found at best effort")
}
