package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	body, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", m.kind(), err)
	}
	if len(body) < 2 || body[0] != '{' {
		return nil, fmt.Errorf("encode %s: not an object", m.kind())
	}
	frame := make([]byte, 0, len(body)+len(m.kind())+12)
	frame = append(frame, `{"type":"`...)
	frame = append(frame, m.kind()...)
	frame = append(frame, '"')
	if len(body) > 2 {
		frame = append(frame, ',')
	}
	frame = append(frame, body[1:]...)
	if len(frame) > MaxMessage {
		return nil, &FieldError{Code: CodeTooLarge, Say: fmt.Sprintf("a %s of %d bytes is over the limit of %d", m.kind(), len(frame), MaxMessage)}
	}
	return frame, nil
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
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		out.Field = mistyped.Field
		out.Say = fmt.Sprintf("is a JSON %s where a %s is wanted", mistyped.Value, mistyped.Type)
		if out.Field == "" {
			out.Say = "the frame is a JSON " + mistyped.Value + " and no object"
		}
		return out
	}
	out.Say = "the frame is no JSON object: " + strings.TrimPrefix(err.Error(), "json: ")
	return out
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

// newMessage is the empty message of a type, nil for one that does not exist. The list is the closed set.
func newMessage(kind string) Message {
	for _, make := range messages {
		if m := make(); m.kind() == kind {
			return m
		}
	}
	return nil
}

// Indent is a frame laid out for people: for --json output and documents.
func Indent(frame []byte) []byte {
	var out bytes.Buffer
	if json.Indent(&out, frame, "", "  ") != nil {
		return frame
	}
	return out.Bytes()
}
