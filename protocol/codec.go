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

// FieldError reports a frame that violates this protocol: it names the field and the fault. The
// frame has had no effect; the receiver answers with [FieldError.Reply].
type FieldError struct {
	Code  Code
	Field string // "" if the whole frame is wrong
	Say   string
	// RequestID is the id of the refused request, if it could be read.
	RequestID string
}

// Error implements error.
func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Say
	}
	return fmt.Sprintf("field %q: %s", e.Field, e.Say)
}

// Reply returns the error message to send back.
func (e *FieldError) Reply() *Error {
	return &Error{RequestID: e.RequestID, Code: e.Code, Message: e.Error(), Field: e.Field}
}

// Check checks a message for a peer in the same process as [Encode] and [Decode] do, without making
// a frame. The error is a *FieldError.
func Check(m Message) error { return m.check() }

// Encode returns the frame of m. It fails with a *FieldError if m may not be sent, so that a
// sender's mistake surfaces here and not at the far end.
func Encode(m Message) ([]byte, error) {
	var f *frame
	switch m := m.(type) {
	case *Rows:
		f = m.shared
	case *SnapshotDelta:
		f = m.shared
	case *Snapshot:
		if m.sharedRows() != 0 {
			f = &m.shared.frame
		}
	}
	if f == nil {
		return encode(m)
	}
	f.once.Do(func() { f.bytes, f.err = encode(m) })
	return f.bytes, f.err
}

func encode(m Message) ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	kind := KindOf(m)
	var frame bytes.Buffer
	frame.WriteString(`{"type":"` + kind + `",`)
	head := frame.Len()
	body := json.NewEncoder(&frame)
	body.SetEscapeHTML(false) // a screen full of < and > would grow sixfold
	if err := body.Encode(m); err != nil {
		return nil, fmt.Errorf("encode %s: %w", kind, err)
	}
	// The body is {...} and a line feed. Its opening brace is cut: the head already has one.
	out := frame.Bytes()
	out = append(out[:head], out[head+1:frame.Len()-1]...)
	if len(out) > MaxMessage {
		return nil, &FieldError{
			Code: CodeTooLarge,
			Say: fmt.Sprintf("a %s of %d bytes is over the limit of %d",
				kind, len(out), MaxMessage),
		}
	}
	return out, nil
}

// Decode reads one frame of at most limit bytes. Unknown fields are ignored, so that a newer peer
// can talk to an older one; any other deviation from a message is a *FieldError.
func Decode(frame []byte, limit int) (Message, error) {
	if len(frame) > limit {
		return nil, &FieldError{
			Code: CodeTooLarge,
			Say:  fmt.Sprintf("a frame of %d bytes is over the limit of %d", len(frame), limit),
		}
	}
	if m := plainAck(frame); m != nil {
		return m, nil
	}
	if !utf8.Valid(frame) {
		return nil, &FieldError{Code: CodeBadMessage, Say: "the frame is not UTF-8"}
	}
	head := prescan(frame)
	if head.depth > MaxDepth {
		return nil, &FieldError{
			Code: CodeBadMessage,
			Say:  fmt.Sprintf("the frame nests deeper than %d levels", MaxDepth),
		}
	}
	m := newMessage(head.kind)
	if m == nil || head.duplicate != "" {
		return nil, head.describeFault(frame)
	}
	if err := json.Unmarshal(frame, m); err != nil {
		return nil, fieldError(err, head.requestID)
	}
	if err := m.check(); err != nil {
		if fe, ok := errors.AsType[*FieldError](err); ok {
			fe.RequestID = head.requestID
		}
		return nil, err
	}
	return m, nil
}

// fieldError describes a failure of encoding/json to the peer.
func fieldError(err error, requestID string) *FieldError {
	out := &FieldError{Code: CodeBadMessage, RequestID: requestID}
	mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		out.Say = "the frame is not a JSON object: " + strings.TrimPrefix(err.Error(), "json: ")
	case mistyped.Field == "":
		out.Say = "the frame must be a JSON object, not " + article(mistyped.Value)
	default:
		out.Field = mistyped.Field
		out.Say = fmt.Sprintf("is a JSON %.64s, must be %s",
			mistyped.Value, cmp.Or(jsonWords[mistyped.Type.Kind()], "an object"))
	}
	return out
}

// article puts the indefinite article before the name of a JSON type.
func article(value string) string {
	if strings.HasPrefix(value, "array") {
		return "an " + value
	}
	return "a " + value
}

// jsonWords describes the JSON value that each kind of Go type is decoded from, unless it is an
// object.
//
//exhaustive:ignore
var jsonWords = map[reflect.Kind]string{
	reflect.String: "a string",
	reflect.Bool:   "true or false",
	reflect.Slice:  "an array",
	reflect.Int:    "a whole number",
	reflect.Int64:  "a whole number",
	reflect.Uint64: "a whole number of 0 or more",
}
