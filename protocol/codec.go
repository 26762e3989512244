package protocol

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// FieldError is a frame that is no message of this protocol: it names the field and says what is wrong with it. It has
// had no effect; the receiver answers with [FieldError.Reply].
type FieldError struct {
	Code  Code
	Field string // "" when the frame as a whole is wrong
	Say   string
	// RequestID is that of the refused request, if the frame got so far as to have one.
	RequestID string
}

// Error implements error.
func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Say
	}
	return fmt.Sprintf("field %q: %s", e.Field, e.Say)
}

// Reply is the error message to send back.
func (e *FieldError) Reply() *Error {
	return &Error{RequestID: e.RequestID, Code: e.Code, Message: e.Error(), Field: e.Field}
}

// Encode makes the frame of m. It fails with a *FieldError when m may not be sent: a sender's own mistake is found here
// and not at the far end.
func Encode(m Message) ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	var frame bytes.Buffer
	frame.WriteString(`{"type":"` + m.kind() + `",`)
	head := frame.Len()
	body := json.NewEncoder(&frame)
	body.SetEscapeHTML(false) // a screen full of < and > would grow sixfold
	if err := body.Encode(m); err != nil {
		return nil, fmt.Errorf("encode %s: %w", m.kind(), err)
	}
	// The body is {...} and a line feed: its brace gives way to the type.
	out := frame.Bytes()
	out = append(out[:head], out[head+1:frame.Len()-1]...)
	if len(out) > MaxMessage {
		return nil, &FieldError{Code: CodeTooLarge, Say: fmt.Sprintf("a %s of %d bytes is over the limit of %d", m.kind(), len(out), MaxMessage)}
	}
	return out, nil
}

// Decode reads one frame of at most limit bytes. Unknown fields are ignored, so that a newer peer can talk to an older
// one; everything else that is not exactly a message is a *FieldError.
func Decode(frame []byte, limit int) (Message, error) {
	if len(frame) > limit {
		return nil, &FieldError{Code: CodeTooLarge, Say: fmt.Sprintf("a frame of %d bytes is over the limit of %d", len(frame), limit)}
	}
	if !utf8.Valid(frame) {
		return nil, &FieldError{Code: CodeBadMessage, Say: "the frame is not UTF-8"}
	}
	if depth(frame) > MaxDepth {
		return nil, &FieldError{Code: CodeBadMessage, Say: fmt.Sprintf("the frame nests deeper than %d levels", MaxDepth)}
	}
	var head struct {
		Type      *string `json:"type"`
		RequestID string  `json:"requestId"`
	}
	if err := json.Unmarshal(frame, &head); err != nil {
		return nil, fieldError(err, "")
	}
	if !ValidID(head.RequestID) {
		head.RequestID = "" // it is echoed to the peer: only a well-formed one is
	}
	if twice := duplicate(frame); twice != "" {
		return nil, &FieldError{Code: CodeBadMessage, Field: twice, Say: "appears twice", RequestID: head.RequestID}
	}
	if head.Type == nil {
		return nil, &FieldError{Code: CodeBadMessage, Field: "type", Say: "is missing", RequestID: head.RequestID}
	}
	m := newMessage(*head.Type)
	if m == nil {
		return nil, &FieldError{Code: CodeBadMessage, Field: "type", Say: fmt.Sprintf("%.64q is not a message of %s", *head.Type, Version), RequestID: head.RequestID}
	}
	if err := json.Unmarshal(frame, m); err != nil {
		return nil, fieldError(err, head.RequestID)
	}
	if err := m.check(); err != nil {
		if fe, ok := errors.AsType[*FieldError](err); ok {
			fe.RequestID = head.RequestID
		}
		return nil, err
	}
	return m, nil
}

// fieldError words a failure of encoding/json for the peer.
func fieldError(err error, requestID string) *FieldError {
	out := &FieldError{Code: CodeBadMessage, RequestID: requestID}
	mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		out.Say = "the frame is no JSON object: " + strings.TrimPrefix(err.Error(), "json: ")
	case mistyped.Field == "":
		out.Say = "the frame is a JSON " + mistyped.Value + " and no object"
	default:
		out.Field = mistyped.Field
		out.Say = fmt.Sprintf("is a JSON %.64s, it must be %s", mistyped.Value, cmp.Or(jsonWords[mistyped.Type.Kind()], "an object"))
	}
	return out
}

// jsonWords name the JSON that a Go type is decoded from, where that is no object.
var jsonWords = map[reflect.Kind]string{
	reflect.String: "a string",
	reflect.Bool:   "true or false",
	reflect.Slice:  "an array",
	reflect.Int:    "a whole number",
	reflect.Int64:  "a whole number",
	reflect.Uint64: "a whole number from 0 on",
}

// duplicate is a field of a valid frame's object that is there twice, "" for none. Two readers could disagree about such
// a frame, so nobody reads it. As encoding/json does, it takes names that differ in case for the same.
func duplicate(frame []byte) string {
	dec := json.NewDecoder(bytes.NewReader(frame))
	if _, err := dec.Token(); err != nil {
		return ""
	}
	seen := make(map[string]bool)
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return ""
		}
		field, _ := name.(string)
		folded := strings.ToLower(field)
		if seen[folded] {
			return strings.ToValidUTF8(field[:min(len(field), MaxName)], "")
		}
		seen[folded] = true
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return ""
		}
	}
	return ""
}

// depth is the deepest nesting of objects and arrays, counted before anything is built from them.
func depth(frame []byte) int {
	deepest, now := 0, 0
	for i := 0; i < len(frame); i++ {
		switch frame[i] {
		case '"':
			for i++; i < len(frame) && frame[i] != '"'; i++ {
				if frame[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		}
	}
	return deepest
}

// newMessage is the empty message of a type, nil for one that does not exist.
func newMessage(kind string) Message {
	if empty := byKind[kind]; empty != nil {
		return empty()
	}
	return nil
}

// byKind finds the makers of the closed set by type.
var byKind = func() map[string]func() Message {
	index := make(map[string]func() Message, len(messages))
	for _, empty := range messages {
		index[empty().kind()] = empty
	}
	return index
}()
