package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// bodyTimeout bounds the time for reading a body.
const bodyTimeout = 10 * time.Second

// pathField is a field of a message that the path fills in, as JSON. A body may set another value
// only if replaceable is set.
type pathField struct {
	name, value string
	replaceable bool
}

// forwardBody sends the message of type M in a request's body, and returns its answer of type A.
func forwardBody[M, A protocol.Message](
	v Caller, w http.ResponseWriter, r *http.Request, path ...pathField,
) (answer A, err error) {
	m, err := decode[M](v, w, r, path...)
	if err != nil {
		return answer, err
	}
	return callFor[A](r.Context(), v, m)
}

// decode reads a request whose body is a message without its type. The body leaves out the fields
// that the path sets; it may set a request id, otherwise decode generates one. Unlike the wire's
// decoder, decode rejects unknown fields, because a misspelt condition would otherwise go
// unnoticed.
func decode[T protocol.Message](
	v Caller, w http.ResponseWriter, r *http.Request, path ...pathField,
) (T, error) {
	var none T
	kind := protocol.KindOf(none)
	body, err := readBody(w, r)
	if err != nil {
		return none, err
	}
	path = append(path, pathField{"type", strconv.Quote(kind), false},
		pathField{"requestId", strconv.Quote(v.NextID()), true})
	frame, err := compose(kind, r.PathValue("id"), path, body)
	if err != nil {
		return none, err
	}
	m, err := protocol.Decode(frame, protocol.MaxAgentMessage)
	if err != nil {
		if fe, ok := errors.AsType[*protocol.FieldError](err); ok {
			return none, fe.Reply()
		}
		return none, err
	}
	t, ok := m.(T)
	if !ok {
		return none, fmt.Errorf("a %s was read as a %s", kind, protocol.KindOf(m))
	}
	return t, rejectUnknownField(body, t)
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	// fails only for callers in this process
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := io.ReadAll(io.LimitReader(r.Body, protocol.MaxAgentMessage+1))
	_ = control.SetReadDeadline(time.Time{})
	switch {
	case err != nil:
		return nil, &protocol.Error{
			Code:    protocol.CodeBadMessage,
			Message: "the body is incomplete: send it within " + bodyTimeout.String(),
		}
	case len(body) > protocol.MaxAgentMessage:
		return nil, &protocol.Error{
			Code: protocol.CodeTooLarge,
			Message: fmt.Sprintf(
				"the body is over the limit of %d bytes: send it in several requests",
				protocol.MaxAgentMessage,
			),
		}
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return []byte("{}"), nil
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, &protocol.Error{
			Code: codeUnsupported,
			Message: "the body must be JSON: send it with the header Content-Type: " +
				"application/json",
		}
	}
	return body, nil
}

// compose builds a frame of the wire from a body.
func compose(kind, sessionID string, path []pathField, body []byte) ([]byte, error) {
	body = bytes.TrimSpace(body)
	var given map[string]json.RawMessage
	if err := json.Unmarshal(body, &given); err != nil || given == nil {
		return nil, &protocol.Error{
			Code:    protocol.CodeBadMessage,
			Message: "the body must be a JSON object: the message " + kind + " without its type",
		}
	}
	session := strconv.Quote(sessionID)
	if id, ok := given["sessionId"]; ok && string(id) != session {
		return nil, badField("sessionId", "the path names another session: leave it out")
	}
	frame := []byte{'{'}
	for _, f := range append(path, pathField{"sessionId", session, true}) {
		_, ok := given[f.name]
		switch {
		case ok && !f.replaceable:
			return nil, badField(f.name,
				"the path and your role determine it: leave it out")
		case !ok:
			frame = fmt.Appendf(frame, "%q:%s,", f.name, f.value)
		}
	}
	if len(given) == 0 {
		frame = frame[:len(frame)-1] // the type is always set
	}
	return append(frame, body[1:]...), nil
}

// rejectUnknownField rejects fields that m does not have.
func rejectUnknownField(body []byte, m protocol.Message) error {
	strict := json.NewDecoder(bytes.NewReader(body))
	strict.DisallowUnknownFields()
	shape := reflect.TypeOf(m).Elem()
	err := strict.Decode(reflect.New(shape).Interface())
	if err == nil {
		return nil
	}
	field, ok := strings.CutPrefix(err.Error(), "json: unknown field ")
	if !ok {
		return &protocol.Error{
			Code:    protocol.CodeBadMessage,
			Message: "the body: " + strings.TrimPrefix(err.Error(), "json: "),
		}
	}
	return badField(
		strings.Trim(field, `"`),
		"unknown field; the request takes "+strings.Join(fieldsOf(shape), ", "),
	)
}

// fieldsOf returns the fields that a caller may fill in, without those that the gateway sets.
func fieldsOf(shape reflect.Type) []string {
	filledIn := []string{"sessionId", "agentId", "tokenId", "gone", "grant", "id", "from"}
	var out []string
	for i := range shape.NumField() {
		name, _, _ := strings.Cut(shape.Field(i).Tag.Get("json"), ",")
		if !slices.Contains(filledIn, name) {
			out = append(out, name)
		}
	}
	return out
}

// params are the parameters of a GET. err is the first error; the values read after it are invalid.
type params struct {
	url.Values
	err error
}

func (q *params) addError(err error) {
	if q.err == nil {
		q.err = err
	}
}

// parseQuery reads the parameters of a GET. Each must be known, and given at most once.
func parseQuery(r *http.Request, known ...string) *params {
	values, err := url.ParseQuery(r.URL.RawQuery)
	q := &params{Values: values}
	if err != nil {
		q.addError(&protocol.Error{
			Code:    protocol.CodeBadMessage,
			Message: "the query of the URL is not well-formed",
		})
	}
	accepted := "none"
	if len(known) > 0 {
		accepted = strings.Join(known, ", ")
	}
	for name, values := range values {
		if !slices.Contains(known, name) {
			q.addError(badField(name, "unknown parameter; this path takes "+accepted))
		} else if len(values) > 1 {
			q.addError(badField(name, "is given twice"))
		}
	}
	return q
}

// readNumber reads a parameter, or returns otherwise if it is missing.
func (q *params) readNumber(name string, otherwise, low, high uint64) uint64 {
	if !q.Has(name) {
		return otherwise
	}
	n, err := strconv.ParseUint(q.Get(name), 10, 64)
	if err != nil || n < low || n > high {
		q.addError(badField(name, fmt.Sprintf("is %.32q, must be a whole number from %d to %d",
			q.Get(name), low, high)))
	}
	return n
}

// readWord reads a parameter with a fixed set of values; the first one is the default.
func (q *params) readWord(name string, allowed ...string) string {
	if !q.Has(name) {
		return allowed[0]
	}
	if !slices.Contains(allowed, q.Get(name)) {
		q.addError(badField(name, fmt.Sprintf("is %.32q, must be one of: %s",
			q.Get(name), strings.Join(allowed, ", "))))
	}
	return q.Get(name)
}

// readPattern reads a regular expression, or returns "" if it is missing.
func (q *params) readPattern(name string) string {
	if !q.Has(name) {
		return ""
	}
	if err := text.CheckPattern(q.Get(name)); err != nil {
		q.addError(badField(name, err.Error()))
	}
	return q.Get(name)
}
