package protocol

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fill sets every field of v to a value that may be sent.
func fill(v reflect.Value, name string) {
	if until, ok := v.Addr().Interface().(*Until); ok {
		*until = Until{Text: "done"} // exactly one condition may be set
		return
	}
	switch kind := v.Kind(); {
	case v.Type() == reflect.TypeFor[Past](): // its fields depend on each other
		v.Set(reflect.ValueOf(Past{Text: "a\nb", FirstLine: 3, NextLine: 5, HiddenText: []int{1}, Seen: []Seen{{Seq: 2, Line: 4}}}))
	case kind == reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			fill(v.Field(i), tag)
		}
	case kind == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name)
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"a":["<b>"]}`))
	case kind == reflect.Map:
		v.Set(reflect.ValueOf(map[string][]string{"q 1": {"a"}, "q2": {"b", "c"}}))
	case name == "keyB64" || name == "keysB64" && v.Type() == reflect.TypeFor[[]byte]():
		v.SetBytes(make([]byte, ed25519.PublicKeySize))
	case kind == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name)
	case kind == reflect.String:
		v.SetString(word(v.Type(), name))
	case kind == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(map[string]int64{"row": 1, "col": 2}[name] + 5)
		if name == "cols" || name == "rows" {
			v.SetInt(80)
		}
	case v.CanUint():
		v.SetUint(9)
	default:
		panic("a kind of field that the wire does not have: " + v.Kind().String())
	}
}

// word returns a valid string for a field.
func word(t reflect.Type, name string) string {
	switch t {
	case reflect.TypeFor[Level]():
		return string(LevelDrive)
	case reflect.TypeFor[Reason]():
		return string(ReasonReclaimed)
	case reflect.TypeFor[Status]():
		return string(StatusDropped)
	case reflect.TypeFor[InputKind]():
		return string(InputMouse)
	case reflect.TypeFor[SecretPrompt]():
		return string(SecretSoft)
	}
	switch name {
	case "from":
		return "agent"
	case "hide", "mute":
		return HideOn
	case "hostKey", "secret":
		return "a-secret-of-a-good-length"
	case "role":
		return "viewer"
	case "verdict":
		return ChatForSession
	}
	return "password" // an id, a text, and the reason of a blackout
}

// full returns a message of a type with every field set.
func full(kind string) Message {
	m := newMessage(kind)
	fill(reflect.ValueOf(m).Elem(), "")
	switch m := m.(type) {
	case *Keys: // its fields depend on each other
		m.InputKind, m.After = InputPaste, m.KeyNo-1
	case *SecretAsk:
		m.Kind = SecretHidden
	case *SecretAnswer:
		m.Verdict = SecretGiven
	case *SecretEnded:
		m.Verdict = SecretGiven
	case *SecretReply:
		m.Verdict = SecretGiven
	}
	return m
}

func TestEveryMessageRoundTrips(t *testing.T) {
	require.Len(t, knownTypes().byKind, len(messages), "two messages share a type")
	for _, kind := range Kinds() {
		t.Run(kind, func(t *testing.T) {
			m := full(kind)
			frame, err := Encode(m)
			require.NoError(t, err)
			got, err := Decode(frame, MaxMessage)
			require.NoError(t, err)
			require.Equal(t, m, got)
			require.Equal(t, kind, KindOf(got))

			var object map[string]any
			require.NoError(t, json.Unmarshal(frame, &object))
			require.Equal(t, kind, object["type"])
			require.Len(t, object, 1+len(declared(reflect.TypeOf(m).Elem())), "every field has a name of its own")
			requestID, _ := object["requestId"].(string)
			require.Equal(t, requestID, RequestID(m))
			sessionID, _ := object["sessionId"].(string)
			require.Equal(t, sessionID, SessionID(m))
		})
	}
}

// The five messages of the project's origin: these names and fields never change.
func TestOriginMessages(t *testing.T) {
	for _, c := range []struct {
		m    Message
		want string
	}{
		{
			&Snapshot{ID: "1", SessionID: "s", Content: "<hi>\n", Timestamp: 1700000000000},
			`{"type":"terminal.snapshot","id":"1","sessionId":"s","content":"<hi>\n","timestamp":1700000000000}`,
		},
		{
			&Input{RequestID: "r", Data: "ls\r"},
			`{"type":"terminal.input","requestId":"r","data":"ls\r"}`,
		},
		{
			&ControlGrant{ID: "1", SessionID: "s"},
			`{"type":"terminal.control.grant","id":"1","sessionId":"s"}`,
		},
		{
			&ControlRevoke{ID: "1", SessionID: "s"},
			`{"type":"terminal.control.revoke","id":"1","sessionId":"s"}`,
		},
		{
			&ProxyStart{RequestID: "r", Command: "vim"},
			`{"type":"terminal.proxy.start","requestId":"r","command":"vim"}`,
		},
	} {
		t.Run(KindOf(c.m), func(t *testing.T) {
			frame, err := Encode(c.m)
			require.NoError(t, err)
			require.Equal(t, c.want, string(frame))
			got, err := Decode([]byte(c.want), MaxAgentMessage)
			require.NoError(t, err)
			require.Equal(t, c.m, got)
		})
	}
}

var repeated = regexp.MustCompile(`@(\d+)\*([^@]*)@`)

// TestDecodeRefuses compares each refusal with testdata/refused.tsv, after its first line.
func TestDecodeRefuses(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "refused.tsv"))
	require.NoError(t, err)
	table := repeated.ReplaceAllStringFunc(string(data), func(m string) string {
		part := repeated.FindStringSubmatch(m)
		n, _ := strconv.Atoi(part[1])
		return strings.Repeat(part[2], n)
	})
	rows := strings.Split(strings.TrimSpace(table), "\n")[1:]
	for _, row := range append(rows, "not UTF-8\t{\"type\":\"done\",\"requestId\":\"\xff\"}\tthe frame is not UTF-8") {
		c := strings.Split(row, "\t")
		t.Run(c[0], func(t *testing.T) {
			m, err := Decode([]byte(c[1]), MaxMessage)
			require.Nil(t, m)
			var field *FieldError
			require.ErrorAs(t, err, &field)
			require.EqualError(t, err, c[2])
			reply, err := Encode(field.Reply())
			require.NoError(t, err, "every refusal can be answered")
			require.LessOrEqual(t, len(reply), 2048)
		})
	}
}

func TestDecodeAccepts(t *testing.T) {
	for _, c := range []struct {
		name, frame string
		want        Message
	}{
		{"unknown fields", `{"type":"done","requestId":"r","new":{"a":[1,2]},"also":null}`, &Done{RequestID: "r"}},
		{"the type last", `{"requestId":"r","type":"done"}`, &Done{RequestID: "r"}},
		{"white space", " {\n\"type\" : \"done\", \"requestId\":\"r\" }\n", &Done{RequestID: "r"}},
		{"brackets in text do not nest", `{"type":"terminal.input","requestId":"r","data":"[[[[[[[[[[[[[[[[[[[[\\\"{{{{"}`, &Input{RequestID: "r", Data: `[[[[[[[[[[[[[[[[[[[[\"{{{{`}},
		{"names that an unknown object repeats", `{"type":"done","requestId":"r","x":{"type":1,"requestId":2}}`, &Done{RequestID: "r"}},
		{"the deepest", `{"type":"done","requestId":"r","x":` + strings.Repeat("[", 15) + strings.Repeat("]", 15) + `}`, &Done{RequestID: "r"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Decode([]byte(c.frame), MaxAgentMessage)
			require.NoError(t, err)
			require.Equal(t, c.want, m)
		})
	}
}

func TestReplyNamesTheRequest(t *testing.T) {
	_, err := Decode([]byte(`{"type":"terminal.input","requestId":"r-7"}`), MaxAgentMessage)
	var field *FieldError
	require.ErrorAs(t, err, &field)
	require.Equal(t, &Error{RequestID: "r-7", Code: CodeBadMessage, Message: `field "data": is missing`, Field: "data"}, field.Reply())
	require.EqualError(t, field.Reply(), `field "data": is missing`)

	_, err = Decode([]byte(`{"type":"nonsense","requestId":"\u001b[2J"}`), MaxAgentMessage)
	require.ErrorAs(t, err, &field)
	require.Empty(t, field.Reply().RequestID, "what is no id is not echoed")

	_, err = Decode([]byte(`{"type":"terminal.input","requestId":"r","data":"`+strings.Repeat("x", MaxAgentMessage)+`"}`), MaxAgentMessage)
	require.ErrorAs(t, err, &field)
	require.Equal(t, CodeTooLarge, field.Code)
}

func TestEncodeRefuses(t *testing.T) {
	_, err := Encode(&Done{})
	require.EqualError(t, err, `field "requestId": is missing`)
	_, err = Encode(&Note{SessionID: "s", From: "user", Text: "\xff"})
	require.EqualError(t, err, `field "text": is not UTF-8`)
	_, err = Encode(&Output{ID: "i", SessionID: "s", DataB64: make([]byte, MaxMessage)})
	require.ErrorContains(t, err, "a terminal.output of 1398")
	require.ErrorContains(t, err, "is over the limit of 1048576")
}

// FuzzDecode checks that any input is a message that can be passed on unchanged, or an error that
// can be answered.
func FuzzDecode(f *testing.F) {
	for _, kind := range Kinds() {
		frame, err := Encode(full(kind))
		require.NoError(f, err)
		f.Add(frame)
	}
	f.Add([]byte(`{"type":"done","requestId":"a","REQUESTID":"b"}`))
	f.Add([]byte(`[[[[[[[[[[[[[[[[[[[[[[`))
	f.Fuzz(func(t *testing.T, frame []byte) {
		m, err := Decode(frame, MaxAgentMessage)
		if err != nil {
			var field *FieldError
			require.ErrorAs(t, err, &field)
			_, err := Encode(field.Reply())
			require.NoError(t, err)
			return
		}
		once, err := Encode(m)
		require.NoError(t, err)
		again, err := Decode(once, MaxMessage)
		require.NoError(t, err)
		twice, err := Encode(again)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
		require.Contains(t, Kinds(), KindOf(again))
	})
}

func ExampleDecode() {
	_, err := Decode([]byte(`{"type":"terminal.input","requestId":"r1"}`), MaxAgentMessage)
	fmt.Println(err)
	// Output: field "data": is missing
}
