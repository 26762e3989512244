package protocol

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
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

// tableRow returns the second cell of the document's first table row with the name in its first
// cell.
func tableRow(t *testing.T, page, name string) string {
	t.Helper()
	for line := range strings.SplitSeq(page, "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 2 && strings.Trim(cells[1], " `") == name {
			return cells[2]
		}
	}
	require.Fail(t, "the document has no row for "+name)
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

func TestDocumentHasEveryMessageAndField(t *testing.T) {
	page := document(t)
	for _, kind := range Kinds() {
		require.Equal(t, declared(reflect.TypeOf(newMessage(kind)).Elem()), documented(tableRow(t, page, kind)), kind)
	}
	for name, shape := range map[string]reflect.Type{
		"frame": reflect.TypeFor[Frame](), "screen": reflect.TypeFor[Screen](), "changed row": reflect.TypeFor[Row](),
		"highlight": reflect.TypeFor[Highlight](), "picture": reflect.TypeFor[Picture](),
		"cell": reflect.TypeFor[Cell](), "cursor": reflect.TypeFor[Cursor](), "modes": reflect.TypeFor[Modes](), "progress": reflect.TypeFor[Progress](), "keyboard": reflect.TypeFor[Keyboard](),
		"activity": reflect.TypeFor[Activity](), "session": reflect.TypeFor[SessionInfo](), "decision": reflect.TypeFor[Decision](), "incomplete": reflect.TypeFor[Incomplete](),
		"part": reflect.TypeFor[InputPart](), "result of a part": reflect.TypeFor[PartResult](),
		"blackout of a frame": reflect.TypeFor[Hidden](), "command": reflect.TypeFor[Command](), "past": reflect.TypeFor[Past](),
		"chat of a session": reflect.TypeFor[ChatState](), "record of a conversation": reflect.TypeFor[ChatRecord](), "item": reflect.TypeFor[ChatItem](),
		"piece": reflect.TypeFor[ChatPiece](), "request of a conversation": reflect.TypeFor[ChatRequest](), "choice": reflect.TypeFor[ChatChoice](),
		"question": reflect.TypeFor[ChatQuestion](), "option": reflect.TypeFor[ChatOption](), "answer of a person": reflect.TypeFor[ChatReply](),
		"closed request": reflect.TypeFor[ChatClosed](), "turn": reflect.TypeFor[ChatTurn](),
		"state of a view": reflect.TypeFor[ViewState](), "typed of a view": reflect.TypeFor[AgentTyped](), "seen screen": reflect.TypeFor[Seen](), "wrap": reflect.TypeFor[Wrap](),
	} {
		require.Equal(t, declared(shape), documented(tableRow(t, page, name)), name)
	}
	for name, shape := range map[string]reflect.Type{"until": reflect.TypeFor[Until](), "expect": reflect.TypeFor[Expect]()} {
		for field := range declared(shape) {
			require.Contains(t, documented(tableRow(t, page, name)), field, name)
		}
	}
}

// This finds rows of types that no longer exist.
func TestDocumentHasNoOtherMessages(t *testing.T) {
	for _, m := range regexp.MustCompile("(?m)^\\| `((?:terminal|sessions|page|chat)\\.[a-z.]+)`").FindAllStringSubmatch(document(t), -1) {
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

// constants returns the values of the string constants of a type in protocol.go.
func constants(t *testing.T, typ string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "protocol.go", nil, 0)
	require.NoError(t, err)
	var values []string
	ast.Inspect(file, func(n ast.Node) bool {
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
	})
	require.NotEmpty(t, values, typ)
	return values
}

func TestDocumentHasEveryWord(t *testing.T) {
	page := document(t)
	for _, code := range constants(t, "Code") {
		require.NotEmpty(t, tableRow(t, page, code))
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
