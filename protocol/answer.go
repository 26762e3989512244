package protocol

// MaxReason bounds a reason or a note, in bytes.
const MaxReason = 500

// Done answers a request that has no result of its own.
type Done struct {
	RequestID string `json:"requestId"`
	// Waiting is why the user has not been shown a message yet, or a coding agent not given a
	// prompt; "" for any other request.
	Waiting Waiting `json:"waiting,omitempty"`
}

// Error answers a request that failed, or a frame that is not a message.
type Error struct {
	RequestID string `json:"requestId,omitempty"`
	Code      Code   `json:"code"`
	Message   string `json:"message"`
	Field     string `json:"field,omitempty"`
	// RetryAfterMs, with the code busy, is how long the user must not be asked again; 0 if waiting
	// does not help.
	RetryAfterMs int64 `json:"retryAfterMs,omitempty"`
}

// Error makes an Error message usable as a Go error.
func (m *Error) Error() string { return m.Message }

// Code is the machine-readable half of an [Error], and the reason of a refused input.
type Code string

// The codes. This list is the only one.
const (
	CodeBadMessage    Code = "bad_message"
	CodeTooLarge      Code = "too_large"
	CodeUnauthorized  Code = "unauthorized"
	CodeForbidden     Code = "forbidden"
	CodeNoSession     Code = "no_such_session"
	CodeNoGrant       Code = "no_grant"
	CodeStaleEpoch    Code = "stale_epoch"
	CodeScreenChanged Code = "screen_changed"
	CodeBlackout      Code = "blackout"
	CodeSecretPrompt  Code = "secret_prompt"
	CodeBusy          Code = "busy"
	CodeUserTyping    Code = "user_typing"
	CodeTimeout       Code = "timeout"
	CodeExited        Code = "exited"
	CodeUnavailable   Code = "unavailable"
	CodeReservedKey   Code = "reserved_key"
	CodeNotReading    Code = "program_not_reading"
	CodeUserRefused   Code = "user_refused"
	CodeOtherProgram  Code = "other_program"
	CodeNoChat        Code = "no_chat"
	CodeNotFound      Code = "not_found"
	CodeAnswered      Code = "answered"
	CodeWithdrawn     Code = "withdrawn" // the caller abandoned the request
)

// Cancel tells the receiver that its sender no longer waits for the answer to a request. Cancel has
// no answer. A [Wait] and a [ChatAsk] end. A [ControlRequest] stays open, and its answer is kept
// for the agent's next wait for control, unless Withdraw is set.
type Cancel struct {
	// RequestID is that of the request.
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	// Withdraw is set if the sender abandoned the request, unlike a time limit that passed: a
	// [ControlRequest] is withdrawn, and control that it was just given is revoked; the rest of an
	// [Input] is not typed; a [Note] that was not shown yet never is.
	Withdraw bool `json:"withdraw,omitempty"`
	// Gone is set if the sender's connection ended, and it may repeat the request over another one:
	// input that is being written is completed. Only the gateway sets it.
	Gone bool `json:"gone,omitempty"`
}

func (m *Done) check() error {
	return new(checks).id("requestId", m.RequestID).text("waiting", string(m.Waiting), MaxName).
		done()
}

func (m *Error) check() error {
	return new(checks).optionalID("requestId", m.RequestID).
		required("code", string(m.Code), MaxName).
		required("message", m.Message, MaxInput).
		upTo("retryAfterMs", m.RetryAfterMs, 24*3600*1000).done()
}

func (m *Cancel) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).done()
}
