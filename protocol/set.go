package protocol

import (
	"reflect"
	"sync"
)

// messages is the closed set of the wire: the value of "type", an empty message, and the field with
// the id of the agent or viewer that a gateway fills in, or "". A test compares it with the types
// that have a check.
var messages = []struct {
	kind   string
	empty  Message
	sender string
}{
	{"terminal.snapshot", new(Snapshot), ""},
	{"terminal.control.grant", new(ControlGrant), ""},
	{"terminal.control.revoke", new(ControlRevoke), ""},
	{"terminal.session.open", new(SessionOpen), ""},
	{"terminal.session.close", new(SessionClose), ""},
	{"terminal.output", new(Output), ""},
	{"terminal.resize", new(Resize), ""},
	{"terminal.blackout", new(Blackout), ""},
	{"terminal.input.result", new(InputResult), ""},
	{"terminal.wait.result", new(WaitResult), ""},
	{"terminal.read.result", new(ReadResult), ""},
	{"terminal.proxy.started", new(ProxyStarted), ""},
	{"terminal.message", new(Note), "AgentID"},
	{"terminal.input", new(Input), "AgentID"},
	{"terminal.proxy.host", new(ProxyHost), ""},
	{"terminal.proxy.start", new(ProxyStart), "AgentID"},
	{"terminal.control.request", new(ControlRequest), "AgentID"},
	{"terminal.control.release", new(ControlRelease), "AgentID"},
	{"terminal.agent.presence", new(AgentPresence), ""},
	{"terminal.control.decide", new(ControlDecide), ""},
	{"terminal.wait", new(Wait), "AgentID"},
	{"terminal.read", new(Read), "AgentID"},
	{"terminal.watch", new(Watch), ""},
	{"terminal.unwatch", new(Unwatch), ""},
	{"terminal.subscribed", new(Subscribed), ""},
	{"terminal.view", new(View), ""},
	{"terminal.unview", new(Unview), ""},
	{"terminal.ack", new(Ack), ""},
	{"terminal.rows", new(Rows), ""},
	{"terminal.cancel", new(Cancel), ""},
	{"terminal.attach", new(Attach), "ViewerID"},
	{"terminal.detach", new(Detach), "ViewerID"},
	{"terminal.typed", new(ViewerInput), "ViewerID"},
	{"terminal.keys", new(Keys), ""},
	{"terminal.close", new(Close), "AgentID"},
	{"sessions.list", new(SessionsList), ""},
	{"sessions.list.result", new(SessionsListResult), ""},
	{"sessions.watch", new(SessionsWatch), ""},
	{"sessions.changed", new(SessionsChanged), ""},
	{"sessions.subscribe", new(SessionsSubscribe), ""},
	{"page.open", new(PageOpen), ""},
	{"page.code", new(PageCode), ""},
	{"page.opened", new(PageOpened), ""},
	{"page.knock", new(PageKnock), ""},
	{"page.admit", new(PageAdmit), ""},
	{"page.gone", new(PageGone), ""},
	{"page.close", new(PageClose), ""},
	{"records.list", new(RecordsList), ""},
	{"records.list.result", new(RecordsListResult), ""},
	{"records.read", new(RecordsRead), ""},
	{"records.read.result", new(RecordsReadResult), ""},
	{"chat.status", new(ChatStatus), ""},
	{"chat.records", new(ChatRecords), ""},
	{"chat.subscribe", new(ChatSubscribe), ""},
	{"chat.unsubscribe", new(ChatUnsubscribe), ""},
	{"chat.send", new(ChatSend), "AgentID"},
	{"chat.image", new(ChatImage), "AgentID"},
	{"chat.answer", new(ChatAnswer), ""},
	{"chat.interrupt", new(ChatInterrupt), "AgentID"},
	{"chat.ask", new(ChatAsk), "AgentID"},
	{"chat.ask.result", new(ChatAskResult), ""},
	{"secret.ask", new(SecretAsk), ""},
	{"secret.answer", new(SecretAnswer), ""},
	{"secret.watch", new(SecretWatch), ""},
	{"secret.ended", new(SecretEnded), ""},
	{"secret.reply", new(SecretReply), ""},
	{"done", new(Done), ""},
	{"error", new(Error), ""},
}

// Kinds are the values of "type" of all messages.
func Kinds() []string {
	all := make([]string, 0, len(messages))
	for _, m := range messages {
		all = append(all, m.kind)
	}
	return all
}

// head describes the messages of one type: the value of "type", and the indexes of the struct's
// fields with the request's id, the session's and the sender's, -1 for a missing field.
type head struct {
	kind                     string
	request, session, sender int
}

// types find a type of message, by itself and by the value of "type".
type types struct {
	heads  map[reflect.Type]head
	byKind map[string]reflect.Type
}

// known returns the types of the wire, collected when the first message is made or read: a program
// that ends at once does not pay for them.
var known = sync.OnceValue(func() types {
	heads := make(map[reflect.Type]head, len(messages))
	byKind := make(map[string]reflect.Type, len(messages))
	for _, m := range messages {
		t := reflect.TypeOf(m.empty).Elem()
		at := func(name string) int {
			if f, ok := t.FieldByName(name); ok {
				return f.Index[0]
			}
			return -1
		}
		byKind[m.kind] = t
		heads[t] = head{m.kind, at("RequestID"), at("SessionID"), at(m.sender)}
	}
	return types{heads, byKind}
})

// newMessage returns the empty message of a type, or nil if the type does not exist.
func newMessage(kind string) Message {
	t, ok := known().byKind[kind]
	if !ok {
		return nil
	}
	m, _ := reflect.New(t).Interface().(Message)
	return m
}

func headOf(m Message) head { return known().heads[reflect.TypeOf(m).Elem()] }

// field returns a string of m, or nil.
func field(m Message, at int) *string {
	if at < 0 {
		return nil
	}
	value, _ := reflect.ValueOf(m).Elem().Field(at).Addr().Interface().(*string)
	return value
}

// KindOf returns the value of m's "type" field. m may be a nil pointer.
func KindOf(m Message) string { return headOf(m).kind }

// RequestID returns the id of the request that m makes or answers, "" for a message that does
// neither.
func RequestID(m Message) string { return text(m, headOf(m).request) }

// SessionID returns the session that m is about, or "".
func SessionID(m Message) string { return text(m, headOf(m).session) }

func text(m Message, at int) string {
	if value := field(m, at); value != nil {
		return *value
	}
	return ""
}

// WithRequestID returns a copy of m with another request id, if m has one.
func WithRequestID(m Message, id string) Message {
	out := clone(m)
	if request := field(out, headOf(m).request); request != nil {
		*request = id
	}
	return out
}

// Forward returns a copy of m under another request id and from a sender, replacing the sender that
// m names.
func Forward(m Message, requestID, senderID string) Message {
	out := WithRequestID(m, requestID)
	if sender := field(out, headOf(m).sender); sender != nil {
		*sender = senderID
	}
	return out
}

// clone returns a shallow copy: what m points to is shared, and must not change.
func clone(m Message) Message {
	out := reflect.New(reflect.TypeOf(m).Elem())
	out.Elem().Set(reflect.ValueOf(m).Elem())
	copied, _ := out.Interface().(Message)
	return copied
}
