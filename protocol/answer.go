package protocol

// MaxReason bounds a reason or a note, in bytes.
const MaxReason = 500

// Done answers a request that has no result of its own.
type Done struct {
	RequestID string `json:"requestId"`
	// Waiting says why the user has not been shown a message yet, or a coding agent not given a
	// prompt; "" for any other request.
	Waiting Waiting `json:"waiting,omitempty"`
}

// Error answers a request that could not be done, or a frame that was no message.
type Error struct {
	RequestID string `json:"requestId,omitempty"`
	Code      Code   `json:"code"`
	Message   string `json:"message"`
	Field     string `json:"field,omitempty"`
	// RetryAfterMs, with the code busy, is how long the user is not to be asked again; 0 where time
	// alone does not help.
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
	CodeWithdrawn     Code = "withdrawn" // the asker gave the call up
)

// Cancel says that the answer to a request is no longer waited for: no answer comes. A [Wait] and a
// [ChatAsk] end. A [ControlRequest] stays open, and its answer is kept for the agent's next wait
// for control, unless Withdraw is set.
type Cancel struct {
	// RequestID is that of the request.
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	// Withdraw says that the asker gave the call up, unlike a time limit that has passed: a
	// [ControlRequest] is taken back, and with it control that it was just given; an [Input] is
	// typed no further; a [Note] not shown yet stays so.
	Withdraw bool `json:"withdraw,omitempty"`
	// Gone says that the asker's connection ended, and that it may repeat the request over another
	// one: an input already being written is written to its end. Only the gateway sets it.
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
		between("retryAfterMs", m.RetryAfterMs, 0, 24*3600*1000).done()
}

func (m *Cancel) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).done()
}
