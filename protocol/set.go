package protocol

import "reflect"

// messages makes one empty message of every type: the closed set of the wire. A test compares it with the methods below.
var messages = []func() Message{
	func() Message { return new(Snapshot) },
	func() Message { return new(ControlGrant) },
	func() Message { return new(ControlRevoke) },
	func() Message { return new(SessionOpen) },
	func() Message { return new(SessionClose) },
	func() Message { return new(Output) },
	func() Message { return new(Resize) },
	func() Message { return new(Blackout) },
	func() Message { return new(InputResult) },
	func() Message { return new(WaitResult) },
	func() Message { return new(ReadResult) },
	func() Message { return new(ProxyStarted) },
	func() Message { return new(Note) },
	func() Message { return new(Input) },
	func() Message { return new(ProxyHost) },
	func() Message { return new(ProxyStart) },
	func() Message { return new(ControlRequest) },
	func() Message { return new(ControlRelease) },
	func() Message { return new(AgentPresence) },
	func() Message { return new(ControlDecide) },
	func() Message { return new(Wait) },
	func() Message { return new(Read) },
	func() Message { return new(Watch) },
	func() Message { return new(Unwatch) },
	func() Message { return new(Cancel) },
	func() Message { return new(Attach) },
	func() Message { return new(Detach) },
	func() Message { return new(Typed) },
	func() Message { return new(Close) },
	func() Message { return new(SessionsList) },
	func() Message { return new(SessionsListResult) },
	func() Message { return new(SessionsSubscribe) },
	func() Message { return new(Done) },
	func() Message { return new(Error) },
}

// head is what messages have in common.
type head struct {
	kind string // the value of "type"
	// request and session point to requestId and sessionId, sender to the id of the agent or viewer that a gateway fills in.
	// They are nil where the message has no such field.
	request, session, sender *string
}

func (m *Snapshot) head() head { return head{"terminal.snapshot", nil, &m.SessionID, nil} }
func (m *ControlGrant) head() head {
	return head{"terminal.control.grant", &m.RequestID, &m.SessionID, nil}
}

func (m *ControlRevoke) head() head {
	return head{"terminal.control.revoke", &m.RequestID, &m.SessionID, nil}
}
func (m *SessionOpen) head() head  { return head{"terminal.session.open", nil, &m.SessionID, nil} }
func (m *SessionClose) head() head { return head{"terminal.session.close", nil, &m.SessionID, nil} }
func (m *Output) head() head       { return head{"terminal.output", nil, &m.SessionID, nil} }
func (m *Resize) head() head       { return head{"terminal.resize", nil, &m.SessionID, nil} }
func (m *Blackout) head() head     { return head{"terminal.blackout", nil, &m.SessionID, nil} }
func (m *InputResult) head() head {
	return head{"terminal.input.result", &m.RequestID, &m.SessionID, nil}
}

func (m *WaitResult) head() head {
	return head{"terminal.wait.result", &m.RequestID, &m.SessionID, nil}
}

func (m *ReadResult) head() head {
	return head{"terminal.read.result", &m.RequestID, &m.SessionID, nil}
}

func (m *ProxyStarted) head() head {
	return head{"terminal.proxy.started", &m.RequestID, &m.SessionID, nil}
}

func (m *Note) head() head { return head{"terminal.message", &m.RequestID, &m.SessionID, &m.AgentID} }

func (m *Input) head() head { return head{"terminal.input", &m.RequestID, &m.SessionID, &m.AgentID} }

func (m *ProxyStart) head() head { return head{"terminal.proxy.start", &m.RequestID, nil, &m.AgentID} }

func (m *ControlRequest) head() head {
	return head{"terminal.control.request", &m.RequestID, &m.SessionID, &m.AgentID}
}

func (m *ControlRelease) head() head {
	return head{"terminal.control.release", &m.RequestID, &m.SessionID, &m.AgentID}
}

func (m *AgentPresence) head() head { return head{"terminal.agent.presence", nil, &m.SessionID, nil} }

func (m *ControlDecide) head() head {
	return head{"terminal.control.decide", &m.RequestID, &m.SessionID, nil}
}

func (m *Wait) head() head { return head{"terminal.wait", &m.RequestID, &m.SessionID, &m.AgentID} }

func (m *Read) head() head    { return head{"terminal.read", &m.RequestID, &m.SessionID, &m.AgentID} }
func (m *Watch) head() head   { return head{"terminal.watch", nil, &m.SessionID, nil} }
func (m *Unwatch) head() head { return head{"terminal.unwatch", nil, &m.SessionID, nil} }
func (m *Cancel) head() head  { return head{"terminal.cancel", &m.RequestID, &m.SessionID, nil} }

func (m *Close) head() head     { return head{"terminal.close", &m.RequestID, &m.SessionID, &m.AgentID} }
func (m *ProxyHost) head() head { return head{"terminal.proxy.host", &m.RequestID, nil, nil} }
func (m *Attach) head() head    { return head{"terminal.attach", &m.RequestID, &m.SessionID, &m.ViewerID} }

func (m *Detach) head() head { return head{"terminal.detach", nil, &m.SessionID, &m.ViewerID} }

func (m *Typed) head() head              { return head{"terminal.typed", nil, &m.SessionID, &m.ViewerID} }
func (m *SessionsList) head() head       { return head{"sessions.list", &m.RequestID, nil, nil} }
func (m *SessionsListResult) head() head { return head{"sessions.list.result", &m.RequestID, nil, nil} }

func (m *SessionsSubscribe) head() head {
	return head{"sessions.subscribe", &m.RequestID, &m.SessionID, nil}
}
func (m *Done) head() head  { return head{"done", &m.RequestID, nil, nil} }
func (m *Error) head() head { return head{"error", &m.RequestID, nil, nil} }

// KindOf is the value of m's "type" field.
func KindOf(m Message) string { return m.head().kind }

// RequestID is the id of the request that m makes or answers, "" for a message that does neither.
func RequestID(m Message) string { return text(m.head().request) }

// SessionID is the session that m is about, "" for a message about none.
func SessionID(m Message) string { return text(m.head().session) }

func text(field *string) string {
	if field == nil {
		return ""
	}
	return *field
}

// WithRequestID is a copy of m under another request id, where it has one.
func WithRequestID(m Message, id string) Message {
	out := clone(m)
	if field := out.head().request; field != nil {
		*field = id
	}
	return out
}

// Forward is a copy of m under another request id and from a sender, whatever m itself says of who sends it.
func Forward(m Message, requestID, senderID string) Message {
	out := WithRequestID(m, requestID)
	if field := out.head().sender; field != nil {
		*field = senderID
	}
	return out
}

// clone is a shallow copy: what m points to is shared, and nobody changes it.
func clone(m Message) Message {
	out := reflect.New(reflect.TypeOf(m).Elem())
	out.Elem().Set(reflect.ValueOf(m).Elem())
	copied, _ := out.Interface().(Message)
	return copied
}
