package protocol

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"reflect"
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

func TestDecodeRefuses(t *testing.T) {
	long := strings.Repeat("x", MaxMessage)
	for _, c := range []struct{ name, frame, want string }{
		{"nothing", ``, `the frame is not a JSON object: unexpected end of JSON input`},
		{"no JSON", `hello`, `the frame is not a JSON object: invalid character 'h' looking for beginning of value`},
		{"two values", `{"type":"done","requestId":"r"}{}`, `the frame is not a JSON object: invalid character '{' after top-level value`},
		{"an array", `[]`, `the frame must be a JSON object, not an array`},
		{"a string", `"done"`, `the frame must be a JSON object, not a string`},
		{"null", `null`, `field "type": is missing`},
		{"no type", `{"requestId":"r"}`, `field "type": is missing`},
		{"unknown type", `{"type":"terminal.snapshots"}`, `field "type": "terminal.snapshots" is not a message of terminal-proxy.v1`},
		{"a type in another case", `{"type":"Done"}`, `field "type": "Done" is not a message of terminal-proxy.v1`},
		{"an endless type", `{"type":"` + long[:1000] + `"}`, `field "type": "` + long[:64] + `" is not a message of terminal-proxy.v1`},
		{"mistyped type", `{"type":1}`, `field "type": is a JSON number, must be a string`},
		{"mistyped string", `{"type":"terminal.input","requestId":"r","data":[]}`, `field "data": is a JSON array, must be a string`},
		{"mistyped number", `{"type":"terminal.resize","id":"i","sessionId":"s","cols":"80"}`, `field "cols": is a JSON string, must be a whole number`},
		{"a fraction", `{"type":"terminal.resize","id":"i","sessionId":"s","cols":1.5}`, `field "cols": is a JSON number 1.5, must be a whole number`},
		{"a negative count", `{"type":"terminal.input","requestId":"r","data":"x","epoch":-1}`, `field "epoch": is a JSON number -1, must be a whole number of 0 or more`},
		{"mistyped bool", `{"type":"terminal.wait","requestId":"r","sessionId":"s","until":{"exit":"yes"}}`, `field "until.exit": is a JSON string, must be true or false`},
		{"mistyped list", `{"type":"terminal.proxy.start","requestId":"r","command":"x","args":"y"}`, `field "args": is a JSON string, must be an array`},
		{"mistyped object", `{"type":"terminal.wait","requestId":"r","sessionId":"s","until":"exit"}`, `field "until": is a JSON string, must be an object`},
		{"missing id", `{"type":"terminal.snapshot","sessionId":"s"}`, `field "id": is missing`},
		{"missing data", `{"type":"terminal.input","requestId":"r"}`, `field "data": is missing`},
		{"a bad id", `{"type":"done","requestId":"a b"}`, `field "requestId": must be 1 to 128 characters of A-Z a-z 0-9 . _ : -`},
		{"a long id", `{"type":"done","requestId":"` + long[:129] + `"}`, `field "requestId": must be 1 to 128 characters of A-Z a-z 0-9 . _ : -`},
		{"long data", `{"type":"terminal.input","requestId":"r","data":"` + long[:MaxInput+1] + `"}`, `field "data": is 49153 bytes long, the limit is 49152`},
		{"long reason", `{"type":"terminal.control.request","requestId":"r","sessionId":"s","level":"type","reason":"` + long[:501] + `"}`, `field "reason": is 501 bytes long, the limit is 500`},
		{"long text", `{"type":"terminal.message","sessionId":"s","from":"user","text":"` + long[:4097] + `"}`, `field "text": is 4097 bytes long, the limit is 4096`},
		{"long name", `{"type":"terminal.message","sessionId":"s","from":"user","text":"x","agentName":"` + long[:65] + `"}`, `field "agentName": is 65 bytes long, the limit is 64`},
		{"long content", `{"type":"terminal.snapshot","id":"i","sessionId":"s","content":"` + long[:16001] + `"}`, `field "content": is 16001 bytes long, the limit is 16000`},
		{"no columns", `{"type":"terminal.resize","id":"i","sessionId":"s","rows":24}`, `field "cols": is 0, must be 1 to 1000`},
		{"too many rows", `{"type":"terminal.resize","id":"i","sessionId":"s","cols":80,"rows":1001}`, `field "rows": is 1001, must be 1 to 1000`},
		{"a level that is none", `{"type":"terminal.control.request","requestId":"r","sessionId":"s","level":"root","reason":"x"}`, `field "level": is "root", must be one of: type, drive`},
		{"a kind that is none", `{"type":"terminal.input","requestId":"r","data":"x","kind":"raw"}`, `field "kind": is "raw", must be one of: keys, text, paste, mouse, lines`},
		{"a mouse behind text", `{"type":"terminal.input","requestId":"r","data":"","parts":[{"data":"x"},{"data":"click","kind":"mouse","on":"OK"}]}`, `field "parts": has a mouse part after another: it acts on the screen as it was seen, so it comes first`},
		{"an empty part", `{"type":"terminal.input","requestId":"r","data":"","parts":[{"data":"x"},{"data":""}]}`, `field "parts.data": is missing`},
		{"a part of no kind", `{"type":"terminal.input","requestId":"r","data":"","parts":[{"data":"x","kind":"raw"}]}`, `field "parts.kind": is "raw", must be one of: keys, text, paste, mouse, lines`},
		{"too many parts", `{"type":"terminal.input","requestId":"r","data":"","parts":[` + strings.Repeat(`{"data":"x"},`, MaxParts) + `{"data":"x"}]}`, `field "parts": has 49 parts, the limit is 48`},
		{"too many steps", `{"type":"terminal.input","requestId":"r","data":"","parts":[` + strings.Repeat(`{"data":"x","until":{"waiting":true}},`, MaxSteps) + `{"data":"x","until":{"waiting":true}}]}`, `field "parts": has until 17 times, the limit is 16: send the rest in another input`},
		{"a step without a condition", `{"type":"terminal.input","requestId":"r","data":"","parts":[{"data":"x","until":{}}]}`, `field "parts.until": sets 0 conditions, it must set exactly one of text, regex, title, titleRegex, gone, settled, quietMs, changed, exit, waiting, control`},
		{"stop without until", `{"type":"terminal.input","requestId":"r","data":"","parts":[{"data":"x","stop":[{"text":"x"}]}]}`, `field "parts.stop": belongs to until: what must come true`},
		{"an end before the last part", `{"type":"terminal.input","requestId":"r","data":"","parts":[{"data":"x","until":{"exit":true}},{"data":"x"}]}`, `field "parts.until.exit": is for the last part: no other can be typed after the program's end`},
		{"a step that waits for control", `{"type":"terminal.input","requestId":"r","data":"","parts":[{"data":"x","until":{"control":true}}]}`, `field "parts.until.control": is for a wait: an input has its grant`},
		{"parts that are long together", `{"type":"terminal.input","requestId":"r","data":"","parts":[{"data":"` + long[:MaxInput] + `"},{"data":"x"}]}`, `field "parts": has 49153 bytes of data, the limit is 49152`},
		{"a place without a mouse", `{"type":"terminal.input","requestId":"r","data":"x","kind":"text","at":{"row":1,"col":1}}`, `field "at": belongs to the kind mouse`},
		{"a text without a mouse", `{"type":"terminal.input","requestId":"r","data":"x","on":"OK"}`, `field "on": belongs to the kind mouse`},
		{"an end without a mouse", `{"type":"terminal.input","requestId":"r","data":"x","to":{"row":1,"col":1}}`, `field "to": belongs to the kind mouse`},
		{"a place that cannot be", `{"type":"terminal.input","requestId":"r","data":"click","kind":"mouse","at":{"row":1,"col":1000}}`, `field "at.col": is 1000, must be 0 to 999`},
		{"a row before the first", `{"type":"terminal.input","requestId":"r","data":"drag","kind":"mouse","to":{"row":-1,"col":0}}`, `field "to.row": is -1, must be 0 to 999`},
		{"a long text to click on", `{"type":"terminal.input","requestId":"r","data":"click","kind":"mouse","on":"` + long[:1025] + `"}`, `field "on": is 1025 bytes long, the limit is 1024`},
		{"a reason that is none", `{"type":"terminal.control.revoke","id":"i","sessionId":"s","reason":"mood"}`, `field "reason": is "mood", must be one of: reclaimed, refused, released, expired, exited, link, replaced`},
		{"a status that is none", `{"type":"terminal.input.result","id":"i","requestId":"r","sessionId":"s","status":"lost"}`, `field "status": is "lost", must be one of: written, refused, dropped`},
		{"somebody else", `{"type":"terminal.message","sessionId":"s","from":"gateway","text":"x"}`, `field "from": is "gateway", must be one of: user, agent`},
		{"a blackout without reason", `{"type":"terminal.blackout","id":"i","sessionId":"s"}`, `field "reason": is "", must be one of: password, user`},
		{"no condition", `{"type":"terminal.wait","requestId":"r","sessionId":"s"}`, `field "until": sets 0 conditions, it must set exactly one of text, regex, title, titleRegex, gone, settled, quietMs, changed, exit, waiting, control`},
		{"two conditions", `{"type":"terminal.wait","requestId":"r","sessionId":"s","until":{"exit":true,"text":"x"}}`, `field "until": sets 2 conditions, it must set exactly one of text, regex, title, titleRegex, gone, settled, quietMs, changed, exit, waiting, control`},
		{"a long pattern", `{"type":"terminal.wait","requestId":"r","sessionId":"s","until":{"regex":"` + long[:1025] + `"}}`, `field "until.regex": is 1025 bytes long, the limit is 1024`},
		{"a negative time", `{"type":"terminal.wait","requestId":"r","sessionId":"s","until":{"quietMs":-1}}`, `field "until.quietMs": is -1, must be 0 to 600000`},
		{"a long time", `{"type":"terminal.wait","requestId":"r","sessionId":"s","until":{"exit":true},"timeoutMs":86400001}`, `field "timeoutMs": is 86400001, must be 0 to 86400000`},
		{"a long settle", `{"type":"terminal.input","requestId":"r","data":"x","settleMs":600001}`, `field "settleMs": is 600001, must be 0 to 600000`},
		{"a long grant", `{"type":"terminal.control.request","requestId":"r","sessionId":"s","level":"type","reason":"x","seconds":86401}`, `field "seconds": is 86401, must be 0 to 86400`},
		{"much history", `{"type":"terminal.read","requestId":"r","sessionId":"s","scrollback":2001}`, `field "scrollback": is 2001, must be 0 to 2000`},
		{"a search without history", `{"type":"terminal.read","requestId":"r","sessionId":"s","match":"x"}`, `field "match": is given, but scrollback does not say how many rows are wanted`},
		{"a search for no pattern", `{"type":"terminal.read","requestId":"r","sessionId":"s","match":"(","scrollback":1}`, "field \"match\": is no RE2 regular expression: missing closing ): \"(\""},
		{"much around a match", `{"type":"terminal.read","requestId":"r","sessionId":"s","match":"x","scrollback":1,"context":21}`, `field "context": is 21, must be 0 to 20`},
		{"lines around no match", `{"type":"terminal.read","requestId":"r","sessionId":"s","scrollback":1,"context":1}`, `field "context": is given, but match does not say what to look for`},
		{"one of no condition", `{"type":"terminal.wait","requestId":"r","sessionId":"s","until":{"exit":true},"any":[{}]}`, `field "any": sets 0 conditions, it must set exactly one of text, regex, title, titleRegex, gone, settled, quietMs, changed, exit, waiting, control`},
		{"a stop by control", `{"type":"terminal.wait","requestId":"r","sessionId":"s","until":{"exit":true},"stop":[{"control":true}]}`, `field "stop": cannot wait for control: only until can`},
		{"too many stops", `{"type":"terminal.wait","requestId":"r","sessionId":"s","until":{"exit":true},"stop":[` + strings.Repeat(`{"text":"x"},`, MaxConditions) + `{"text":"x"}]}`, `field "stop": holds 17 conditions, the limit is 16`},
		{"a long text that stops", `{"type":"terminal.wait","requestId":"r","sessionId":"s","until":{"exit":true},"stop":[{"text":"` + long[:1025] + `"}]}`, `field "stop.text": is 1025 bytes long, the limit is 1024`},
		{"an expected row", `{"type":"terminal.input","requestId":"r","data":"x","expect":{"cursorRow":-1}}`, `field "expect.cursorRow": is -1, must be 0 to 999`},
		{"more lines than rows", `{"type":"terminal.snapshot","id":"i","sessionId":"s","screen":{"cols":9,"rows":1,"lines":["",""]}}`, `field "screen.lines": has 2 rows, screen.rows is 1`},
		{"a cursor outside", `{"type":"terminal.snapshot","id":"i","sessionId":"s","screen":{"cols":9,"rows":1,"cursor":{"row":0,"col":9}}}`, `field "screen.cursor.col": is 9, must be 0 to 8`},
		{"a changed row outside", `{"type":"terminal.snapshot","id":"i","sessionId":"s","screen":{"cols":9,"rows":1},"changed":[{"row":1,"text":""}]}`, `field "changed.row": is 1, must be 0 to 0`},
		{"a read without frame", `{"type":"terminal.read.result","id":"i","requestId":"r","sessionId":"s"}`, `field "frame": is missing`},
		{"a field twice", `{"type":"done","requestId":"a","requestId":"b"}`, `field "requestId": appears twice`},
		{"a field twice in two cases", `{"type":"done","requestId":"a","RequestID":"b"}`, `field "RequestID": appears twice`},
		{"a type twice, escaped", `{"type":"done","requestId":"a","t\u0079pe":"error"}`, `field "type": appears twice`},
		{"a field twice, with a long s", `{"type":"terminal.watch","sessionId":"a","\u017fessionId":"b"}`, "field \"\u017fessionId\": appears twice"},
		{"not UTF-8", "{\"type\":\"done\",\"requestId\":\"\xff\"}", `the frame is not UTF-8`},
		{"too deep", `{"type":"done","requestId":"r","x":` + strings.Repeat("[", 16) + strings.Repeat("]", 16) + `}`, `the frame nests deeper than 16 levels`},
		{"an oversized frame", `{"type":"done","requestId":"r","x":"` + long + `"}`, `a frame of 1048614 bytes is over the limit of 1048576`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Decode([]byte(c.frame), MaxMessage)
			require.Nil(t, m)
			var field *FieldError
			require.ErrorAs(t, err, &field)
			require.EqualError(t, err, c.want)
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
