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

// bodyTime is how long a caller may take to send a body.
const bodyTime = 10 * time.Second

// said is a field of a message that the path fills in, as JSON. A body may give another value only where may says so.
type said struct {
	name, value string
	may         bool
}

// pass asks for what a request's body says, an M, and gives the answer, an A.
func pass[M, A protocol.Message](v Caller, w http.ResponseWriter, r *http.Request, path ...said) (answer A, err error) {
	m, err := decode[M](v, w, r, path...)
	if err != nil {
		return answer, err
	}
	return ask[A](r.Context(), v, m)
}

// decode reads a request whose body is a message without its type. What the path says stands not in the body;
// a request id may, and is made up otherwise. The checks are those of the wire, but for one: a field that the message
// has not is refused, because nobody would notice a condition that was misspelt.
func decode[T protocol.Message](v Caller, w http.ResponseWriter, r *http.Request, path ...said) (T, error) {
	var none T
	kind := protocol.KindOf(none)
	body, err := readBody(w, r)
	if err != nil {
		return none, err
	}
	path = append(path, said{"type", strconv.Quote(kind), false}, said{"requestId", strconv.Quote(v.NextID()), true})
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
	return t, unknownField(body, t)
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime)) // where there are no deadlines, the caller is one of ours
	body, err := io.ReadAll(io.LimitReader(r.Body, protocol.MaxAgentMessage+1))
	_ = control.SetReadDeadline(time.Time{})
	switch {
	case err != nil:
		return nil, &protocol.Error{Code: protocol.CodeBadMessage, Message: "the body is incomplete: send it within " + bodyTime.String()}
	case len(body) > protocol.MaxAgentMessage:
		return nil, &protocol.Error{Code: protocol.CodeTooLarge, Message: fmt.Sprintf("the body is over the limit of %d bytes: send it in several requests", protocol.MaxAgentMessage)}
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return []byte("{}"), nil
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, &protocol.Error{Code: codeUnsupported, Message: "the body must be JSON: send it with the header Content-Type: application/json"}
	}
	return body, nil
}

// compose makes a frame of the wire from a body.
func compose(kind, sessionID string, path []said, body []byte) ([]byte, error) {
	body = bytes.TrimSpace(body)
	var given map[string]json.RawMessage
	if err := json.Unmarshal(body, &given); err != nil || given == nil {
		return nil, &protocol.Error{Code: protocol.CodeBadMessage, Message: "the body must be a JSON object: the message " + kind + " without its type"}
	}
	session := strconv.Quote(sessionID)
	if id, ok := given["sessionId"]; ok && string(id) != session {
		return nil, badField("sessionId", "the path names another session: leave it out")
	}
	frame := []byte{'{'}
	for _, f := range append(path, said{"sessionId", session, true}) {
		_, ok := given[f.name]
		switch {
		case ok && !f.may:
			return nil, badField(f.name, "it follows from the path and from who you are: leave it out")
		case !ok:
			frame = fmt.Appendf(frame, "%q:%s,", f.name, f.value)
		}
	}
	if len(given) == 0 {
		frame = frame[:len(frame)-1] // there is always the type
	}
	return append(frame, body[1:]...), nil
}

// unknownField refuses what m has no field for.
func unknownField(body []byte, m protocol.Message) error {
	strict := json.NewDecoder(bytes.NewReader(body))
	strict.DisallowUnknownFields()
	shape := reflect.TypeOf(m).Elem()
	err := strict.Decode(reflect.New(shape).Interface())
	if err == nil {
		return nil
	}
	field, ok := strings.CutPrefix(err.Error(), "json: unknown field ")
	if !ok {
		return &protocol.Error{Code: protocol.CodeBadMessage, Message: "the body: " + strings.TrimPrefix(err.Error(), "json: ")}
	}
	return badField(strings.Trim(field, `"`), "unknown field; the request takes "+strings.Join(fieldsOf(shape), ", "))
}

// fieldsOf are the fields that a caller may fill in; what the gateway knows better is not among them.
func fieldsOf(shape reflect.Type) []string {
	var out []string
	for i := range shape.NumField() {
		name, _, _ := strings.Cut(shape.Field(i).Tag.Get("json"), ",")
		if !slices.Contains([]string{"sessionId", "agentId", "tokenId", "gone", "grant", "id", "from"}, name) {
			out = append(out, name)
		}
	}
	return out
}

// params are the parameters of a GET. err is what is wrong with them; what is read after that does not count.
type params struct {
	url.Values
	err error
}

func (q *params) fail(err error) {
	if q.err == nil {
		q.err = err
	}
}

// query reads the parameters of a GET: known ones only, each once at most.
func query(r *http.Request, known ...string) *params {
	values, err := url.ParseQuery(r.URL.RawQuery)
	q := &params{Values: values}
	if err != nil {
		q.fail(&protocol.Error{Code: protocol.CodeBadMessage, Message: "the query of the URL is not well-formed"})
	}
	takes := "none"
	if len(known) > 0 {
		takes = strings.Join(known, ", ")
	}
	for name, values := range values {
		if !slices.Contains(known, name) {
			q.fail(badField(name, "unknown parameter; this path takes "+takes))
		} else if len(values) > 1 {
			q.fail(badField(name, "is given twice"))
		}
	}
	return q
}

// number reads a parameter, otherwise if it is not there.
func (q *params) number(name string, otherwise, low, high uint64) uint64 {
	if !q.Has(name) {
		return otherwise
	}
	n, err := strconv.ParseUint(q.Get(name), 10, 64)
	if err != nil || n < low || n > high {
		q.fail(badField(name, fmt.Sprintf("is %.32q, must be a whole number from %d to %d", q.Get(name), low, high)))
	}
	return n
}

// word reads a parameter with a fixed set of values; the first one is the default.
func (q *params) word(name string, allowed ...string) string {
	if !q.Has(name) {
		return allowed[0]
	}
	if !slices.Contains(allowed, q.Get(name)) {
		q.fail(badField(name, fmt.Sprintf("is %.32q, must be one of: %s", q.Get(name), strings.Join(allowed, ", "))))
	}
	return q.Get(name)
}

// pattern reads a parameter that is a regular expression, "" if it is not there.
func (q *params) pattern(name string) string {
	if !q.Has(name) {
		return ""
	}
	if err := text.CheckPattern(q.Get(name)); err != nil {
		q.fail(badField(name, err.Error()))
	}
	return q.Get(name)
}
