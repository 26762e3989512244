package protocol

// messages makes one empty message of every type: the closed set of the wire.
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

func (*Snapshot) kind() string           { return "terminal.snapshot" }
func (*ControlGrant) kind() string       { return "terminal.control.grant" }
func (*ControlRevoke) kind() string      { return "terminal.control.revoke" }
func (*SessionOpen) kind() string        { return "terminal.session.open" }
func (*SessionClose) kind() string       { return "terminal.session.close" }
func (*Output) kind() string             { return "terminal.output" }
func (*Resize) kind() string             { return "terminal.resize" }
func (*Blackout) kind() string           { return "terminal.blackout" }
func (*InputResult) kind() string        { return "terminal.input.result" }
func (*WaitResult) kind() string         { return "terminal.wait.result" }
func (*ReadResult) kind() string         { return "terminal.read.result" }
func (*ProxyStarted) kind() string       { return "terminal.proxy.started" }
func (*Note) kind() string               { return "terminal.message" }
func (*Input) kind() string              { return "terminal.input" }
func (*ProxyStart) kind() string         { return "terminal.proxy.start" }
func (*ControlRequest) kind() string     { return "terminal.control.request" }
func (*ControlRelease) kind() string     { return "terminal.control.release" }
func (*AgentPresence) kind() string      { return "terminal.agent.presence" }
func (*ControlDecide) kind() string      { return "terminal.control.decide" }
func (*Wait) kind() string               { return "terminal.wait" }
func (*Read) kind() string               { return "terminal.read" }
func (*Watch) kind() string              { return "terminal.watch" }
func (*Unwatch) kind() string            { return "terminal.unwatch" }
func (*Cancel) kind() string             { return "terminal.cancel" }
func (*Close) kind() string              { return "terminal.close" }
func (*ProxyHost) kind() string          { return "terminal.proxy.host" }
func (*Attach) kind() string             { return "terminal.attach" }
func (*Detach) kind() string             { return "terminal.detach" }
func (*Typed) kind() string              { return "terminal.typed" }
func (*SessionsList) kind() string       { return "sessions.list" }
func (*SessionsListResult) kind() string { return "sessions.list.result" }
func (*SessionsSubscribe) kind() string  { return "sessions.subscribe" }
func (*Done) kind() string               { return "done" }
func (*Error) kind() string              { return "error" }

// RequestID is the id of the request that m makes or answers, "" for a message that is neither.
func RequestID(m Message) string {
	switch m := m.(type) {
	case *ControlGrant:
		return m.RequestID
	case *ControlRevoke:
		return m.RequestID
	case *InputResult:
		return m.RequestID
	case *WaitResult:
		return m.RequestID
	case *ReadResult:
		return m.RequestID
	case *ProxyStarted:
		return m.RequestID
	case *Note:
		return m.RequestID
	case *Input:
		return m.RequestID
	case *ProxyHost:
		return m.RequestID
	case *ProxyStart:
		return m.RequestID
	case *Attach:
		return m.RequestID
	case *ControlRequest:
		return m.RequestID
	case *ControlRelease:
		return m.RequestID
	case *ControlDecide:
		return m.RequestID
	case *Wait:
		return m.RequestID
	case *Read:
		return m.RequestID
	case *Cancel:
		return m.RequestID
	case *Close:
		return m.RequestID
	case *SessionsList:
		return m.RequestID
	case *SessionsListResult:
		return m.RequestID
	case *SessionsSubscribe:
		return m.RequestID
	case *Done:
		return m.RequestID
	case *Error:
		return m.RequestID
	}
	return ""
}

// SessionID is the session that m is about, "" for a message about none.
func SessionID(m Message) string {
	switch m := m.(type) {
	case *Snapshot:
		return m.SessionID
	case *ControlGrant:
		return m.SessionID
	case *ControlRevoke:
		return m.SessionID
	case *SessionOpen:
		return m.SessionID
	case *SessionClose:
		return m.SessionID
	case *Output:
		return m.SessionID
	case *Resize:
		return m.SessionID
	case *Blackout:
		return m.SessionID
	case *InputResult:
		return m.SessionID
	case *WaitResult:
		return m.SessionID
	case *ReadResult:
		return m.SessionID
	case *ProxyStarted:
		return m.SessionID
	case *Note:
		return m.SessionID
	case *Input:
		return m.SessionID
	case *ControlRequest:
		return m.SessionID
	case *ControlRelease:
		return m.SessionID
	case *AgentPresence:
		return m.SessionID
	case *ControlDecide:
		return m.SessionID
	case *Wait:
		return m.SessionID
	case *Read:
		return m.SessionID
	case *Watch:
		return m.SessionID
	case *Unwatch:
		return m.SessionID
	case *Cancel:
		return m.SessionID
	case *Attach:
		return m.SessionID
	case *Detach:
		return m.SessionID
	case *Typed:
		return m.SessionID
	case *Close:
		return m.SessionID
	case *SessionsSubscribe:
		return m.SessionID
	}
	return ""
}
