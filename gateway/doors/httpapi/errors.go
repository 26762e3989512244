package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// Codes that exist only in HTTP; the others are those of package protocol.
const (
	codeUnsupported    = protocol.Code("unsupported_media_type")
	codeNotImplemented = protocol.Code("not_implemented")
)

// problem is the body of a failed request.
type problem struct {
	Error problemError `json:"error"`
	// Result is the message with the details, if any: the receipt of an input that was not typed.
	Result protocol.Message `json:"result,omitempty"`
}

type problemError struct {
	Code    protocol.Code `json:"code"`
	Message string        `json:"message"`
	Field   string        `json:"field,omitempty"`
	// RetryAfterMs is that of a [protocol.Error]; the header Retry-After gives it in seconds.
	RetryAfterMs int64 `json:"retryAfterMs,omitempty"`
}

// failure is the error of a request with its HTTP status and body.
type failure struct {
	status int
	problem
}

func (f *failure) Error() string { return f.problem.Error.Message }

func failWith(code protocol.Code, message string, result protocol.Message) error {
	return &failure{statusOf(code), problem{problemError{Code: code, Message: message}, result}}
}

func badField(field, message string) error {
	return &protocol.Error{
		Code:    protocol.CodeBadMessage,
		Field:   field,
		Message: "field \"" + field + "\": " + message,
	}
}

// statusOf returns the HTTP status (RFC 9110) that fits a code.
func statusOf(code protocol.Code) int {
	switch code {
	case protocol.CodeBadMessage, protocol.CodeReservedKey:
		return http.StatusBadRequest
	case protocol.CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case protocol.CodeUnauthorized:
		return http.StatusUnauthorized
	case protocol.CodeForbidden, protocol.CodeNoGrant, protocol.CodeUserRefused:
		return http.StatusForbidden
	case protocol.CodeNoSession, protocol.CodeNoChat, protocol.CodeNotFound:
		return http.StatusNotFound
	case protocol.CodeScreenChanged:
		return http.StatusPreconditionFailed
	case protocol.CodeBlackout, protocol.CodeSecretPrompt:
		return http.StatusLocked
	case protocol.CodeStaleEpoch, protocol.CodeBusy, protocol.CodeUserTyping,
		protocol.CodeNotReading, protocol.CodeOtherProgram, protocol.CodeAnswered,
		protocol.CodeWithdrawn:
		return http.StatusConflict
	case protocol.CodeExited:
		return http.StatusGone
	case protocol.CodeTimeout:
		return http.StatusGatewayTimeout
	case protocol.CodeUnavailable:
		return http.StatusServiceUnavailable
	case codeUnsupported:
		return http.StatusUnsupportedMediaType
	case codeNotImplemented:
		return http.StatusNotImplemented
	}
	return http.StatusInternalServerError
}

// writeError answers with an error, unless the caller has disconnected.
func (a *API) writeError(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	var status int
	var p problem
	if f, ok := errors.AsType[*failure](err); ok {
		status, p = f.status, f.problem
	} else if refusal, ok := errors.AsType[*auth.Refusal](err); ok {
		status, p.Error = refusal.Status, problemError{Code: refusal.Code, Message: refusal.Say}
	} else if refused, ok := errors.AsType[*protocol.Error](err); ok {
		status, p.Error = statusOf(refused.Code), problemError{
			refused.Code,
			refused.Message,
			refused.Field,
			refused.RetryAfterMs,
		}
	} else {
		a.log.Warn("request failed", "route", r.Pattern, "error", err)
		p.Error = problemError{
			Code:    protocol.CodeUnavailable,
			Message: "the gateway could not answer: " + err.Error(),
		}
		status = http.StatusServiceUnavailable
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if ms := p.Error.RetryAfterMs; ms > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt((ms+999)/1000, 10))
	}
	a.writeJSON(w, status, p)
}

// writeJSON answers with JSON.
func (a *API) writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := encodeJSON(v)
	if err != nil {
		a.log.Error("cannot encode an answer as JSON", "error", err)
		http.Error(w, "the answer cannot be encoded as JSON", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails if the caller went away
}

// encodeJSON encodes v as one line of JSON. It does not escape < and >, which a screen may be full
// of.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}
