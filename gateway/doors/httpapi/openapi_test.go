package httpapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

var update = flag.Bool("update", false, "write the schemas of openapi.json anew from the Go types")

// described are the document's schemas and the types that they describe.
var described = map[string]any{
	"Sessions": protocol.SessionsListResult{}, "Session": protocol.SessionInfo{}, "Chat": protocol.ChatState{}, "ReadResult": protocol.ReadResult{},
	"InputResult": protocol.InputResult{}, "WaitResult": protocol.WaitResult{}, "ControlGrant": protocol.ControlGrant{},
	"ControlRevoke": protocol.ControlRevoke{}, "Done": protocol.Done{}, "Pending": pendingRequest{}, "Frame": protocol.Frame{},
	"Screen": protocol.Screen{}, "Row": protocol.Row{}, "Command": protocol.Command{}, "Found": protocol.Found{}, "FoundRow": protocol.FoundRow{}, "Highlight": protocol.Highlight{}, "Picture": protocol.Picture{}, "Cell": protocol.Cell{}, "Color": protocol.Color{}, "Cursor": protocol.Cursor{}, "Modes": protocol.Modes{}, "Progress": protocol.Progress{},
	"Keyboard": protocol.Keyboard{}, "Activity": protocol.Activity{}, "Withheld": protocol.Hidden{}, "Until": protocol.Until{}, "Expect": protocol.Expect{},
	"Input": protocol.Input{}, "Wait": protocol.Wait{}, "ControlRequest": protocol.ControlRequest{}, "ControlRelease": protocol.ControlRelease{}, "ControlDecide": protocol.ControlDecide{},
	"ChatRecords": protocol.ChatRecords{}, "ChatRecord": protocol.ChatRecord{}, "ChatItem": protocol.ChatItem{}, "ChatPiece": protocol.ChatPiece{}, "ChatRequest": protocol.ChatRequest{},
	"ChatChoice": protocol.ChatChoice{}, "ChatQuestion": protocol.ChatQuestion{}, "ChatOption": protocol.ChatOption{}, "ChatReply": protocol.ChatReply{},
	"ChatClosed": protocol.ChatClosed{}, "ChatTurn": protocol.ChatTurn{}, "ChatSend": protocol.ChatSend{}, "ChatAnswer": protocol.ChatAnswer{}, "ChatInterrupt": protocol.ChatInterrupt{},
	"Decision": protocol.Decision{}, "Incomplete": protocol.Incomplete{}, "Message": protocol.Note{}, "InputPart": protocol.InputPart{}, "PartResult": protocol.PartResult{}, "UntilResult": protocol.UntilResult{}, "Wrap": protocol.Wrap{}, "Link": protocol.Link{},
}

// words are the values of the types that are words.
var words = map[reflect.Type][]any{
	reflect.TypeFor[protocol.Level]():        {protocol.LevelType, protocol.LevelDrive},
	reflect.TypeFor[protocol.InputKind]():    {protocol.InputKeys, protocol.InputText, protocol.InputPaste, protocol.InputMouse, protocol.InputLines},
	reflect.TypeFor[protocol.SecretPrompt](): {protocol.SecretHard, protocol.SecretSoft},
	reflect.TypeFor[protocol.Status]():       {protocol.StatusWritten, protocol.StatusRefused, protocol.StatusDropped},
	reflect.TypeFor[protocol.Waiting](): {
		protocol.WaitsForPerson, protocol.WaitsForAnswer, protocol.WaitsForSecret, protocol.WaitsForTurn, protocol.WaitsForTitle,
		protocol.WaitsForProgram,
	},
	reflect.TypeFor[protocol.Reason](): {
		protocol.ReasonReclaimed, protocol.ReasonRefused, protocol.ReasonReleased, protocol.ReasonExpired, protocol.ReasonExited,
		protocol.ReasonLink, protocol.ReasonReplaced,
	},
}

// requestTypes are bodies: they leave out what the path or the gateway sets.
var requestTypes = []string{"Input", "Wait", "ControlRequest", "ControlRelease", "ControlDecide", "Message", "ChatSend", "ChatAnswer", "ChatInterrupt"}

func schemaOf(t reflect.Type) map[string]any {
	if allowed, ok := words[t]; ok {
		return map[string]any{"type": "string", "enum": allowed}
	}
	if t == reflect.TypeFor[json.RawMessage]() {
		return map[string]any{}
	}
	switch t.Kind() {
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return map[string]any{"type": "string", "contentEncoding": "base64"}
		}
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	default:
	}
	for name, v := range described {
		if reflect.TypeOf(v) == t {
			return map[string]any{"$ref": "#/components/schemas/" + name}
		}
	}
	panic("no schema for " + t.String())
}

func objectOf(name string, t reflect.Type) map[string]any {
	request := slices.Contains(requestTypes, name)
	properties, required := map[string]any{}, []string{}
	for i := range t.NumField() {
		field, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fromElsewhere := field == "sessionId" || field == "requestId" || field == "agentName" || field == "by"
		if request && (field == "agentId" || field == "tokenId" || field == "gone" || field == "sessionId" || field == "grant" || field == "id" || field == "from") {
			continue
		}
		properties[field] = schemaOf(t.Field(i).Type)
		instead := name == "Input" && field == "data" // parts may replace it
		if options != "omitempty" && !instead && (!request || !fromElsewhere) {
			required = append(required, field)
		}
	}
	out := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		slices.Sort(required)
		out["required"] = required
	}
	return out
}

// schemas returns all of the document's schemas, made from the Go types.
func schemas() map[string]any {
	out := map[string]any{
		"Health": map[string]any{
			"type": "object", "additionalProperties": false, "required": []string{"status", "version"},
			"properties": map[string]any{
				"status": map[string]any{"const": "ok"}, "version": map[string]any{"type": "string"},
				"gathering": map[string]any{"const": true, "description": "It has just taken over from another gateway: sessions may still be on their way to it."},
			},
		},
		"Problem": map[string]any{
			"type": "object", "additionalProperties": false, "required": []string{"error"},
			"properties": map[string]any{
				"error": map[string]any{
					"type": "object", "additionalProperties": false, "required": []string{"code", "message"},
					"properties": map[string]any{
						"code": map[string]any{"type": "string"}, "message": map[string]any{"type": "string"}, "field": map[string]any{"type": "string"},
						"retryAfterMs": map[string]any{"type": "integer"},
					},
				},
				"result": map[string]any{"oneOf": []any{
					map[string]any{"$ref": "#/components/schemas/InputResult"}, map[string]any{"$ref": "#/components/schemas/ControlRevoke"},
				}},
			},
		},
	}
	for name, v := range described {
		out[name] = objectOf(name, reflect.TypeOf(v))
	}
	return out
}

func document(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	var doc map[string]any
	require.NoError(t, json.Unmarshal(text, &doc))
	return doc
}

func TestSchemasAreThoseOfTheTypes(t *testing.T) {
	doc := document(t)
	components, ok := doc["components"].(map[string]any)
	require.True(t, ok)
	want, err := json.Marshal(schemas())
	require.NoError(t, err)
	if *update {
		components["schemas"] = json.RawMessage(want)
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		require.NoError(t, enc.Encode(doc))
		require.NoError(t, os.WriteFile("openapi.json", b.Bytes(), 0o644))
		require.NoError(t, os.WriteFile("openapi.json.gz", compress(t, b.Bytes()), 0o644))
		return
	}
	text, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	packed, err := gzip.NewReader(bytes.NewReader(openAPI))
	require.NoError(t, err)
	embedded, err := io.ReadAll(packed)
	require.NoError(t, err)
	require.Equal(t, string(text), string(embedded), "go test ./gateway/doors/httpapi -run TestSchemas -update")
	have, err := json.Marshal(components["schemas"])
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(have), "go test ./gateway/doors/httpapi -run TestSchemas -update")
}

// spec is the document, as the tests query it.
type spec struct {
	t    *testing.T
	doc  map[string]any
	defs map[string]any
	// resolved caches the schemas that were used, by their JSON.
	resolved map[string]*jsonschema.Resolved
}

func newSpec(t *testing.T) *spec {
	doc := document(t)
	s := &spec{t: t, doc: doc, resolved: map[string]*jsonschema.Resolved{}}
	s.defs = s.at(doc, "components", "schemas").(map[string]any)
	return s
}

// at follows keys and references.
func (s *spec) at(v any, keys ...string) any {
	s.t.Helper()
	for _, key := range keys {
		object, ok := s.deref(v).(map[string]any)
		require.True(s.t, ok, "%s: not an object", key)
		v, ok = object[key]
		require.True(s.t, ok, "the document has no %s of %v", key, keys)
	}
	return s.deref(v)
}

func (s *spec) deref(v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	name, ok := object["$ref"].(string)
	if !ok {
		return v
	}
	return s.at(s.doc, strings.Split(strings.TrimPrefix(name, "#/"), "/")...)
}

// operations returns "METHOD path" of every operation in the document, with its statuses.
func (s *spec) operations() map[string][]string {
	out := map[string][]string{}
	for path, methods := range s.at(s.doc, "paths").(map[string]any) {
		for method, op := range methods.(map[string]any) {
			for status := range s.at(op, "responses").(map[string]any) {
				name := strings.ToUpper(method) + " " + path
				out[name] = append(out[name], status)
			}
		}
	}
	return out
}

// checkBody checks the body of a response against the document.
func (s *spec) checkBody(operation, status, contentType string, body []byte) {
	s.t.Helper()
	method, path, _ := strings.Cut(operation, " ")
	response := s.at(s.doc, "paths", path, strings.ToLower(method), "responses", status).(map[string]any)
	if response["content"] == nil {
		require.Empty(s.t, body, operation)
		return
	}
	kind, _, _ := strings.Cut(contentType, ";")
	content := s.at(response, "content", kind).(map[string]any)
	if kind == "application/json" {
		s.validate(content["schema"], body)
	}
}

// checkRequest checks the body of a request against the document.
func (s *spec) checkRequest(operation string, body []byte) {
	s.t.Helper()
	method, path, _ := strings.Cut(operation, " ")
	s.validate(s.at(s.doc, "paths", path, strings.ToLower(method), "requestBody", "content", "application/json", "schema"), body)
}

// validate checks JSON against a schema of the document.
func (s *spec) validate(schema any, body []byte) {
	s.t.Helper()
	key, err := json.Marshal(schema)
	require.NoError(s.t, err)
	resolved := s.resolved[string(key)]
	if resolved == nil {
		whole, err := json.Marshal(map[string]any{"allOf": []any{schema}, "$defs": s.defs})
		require.NoError(s.t, err)
		whole = bytes.ReplaceAll(whole, []byte("#/components/schemas/"), []byte("#/$defs/"))
		var parsed jsonschema.Schema
		require.NoError(s.t, json.Unmarshal(whole, &parsed))
		resolved, err = parsed.Resolve(nil)
		require.NoError(s.t, err)
		s.resolved[string(key)] = resolved
	}
	var v any
	require.NoError(s.t, json.Unmarshal(body, &v), "%s", body)
	require.NoError(s.t, resolved.Validate(v), "%s", body)
}

func compress(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}
