package protocol

import (
	"reflect"
	"sync"
)

// messages is the closed set of messages: the value of "type", the Go type, and the field for the
// id of the agent or viewer, which a gateway fills in, or "". A test compares it with the types
// that have a check method.
var messages = []struct {
	kind   string
	zero   Message
	sender string
}{
	{"terminal.snapshot", (*Snapshot)(nil), ""},
	{"terminal.delta", (*SnapshotDelta)(nil), ""},
	{"terminal.control.grant", (*ControlGrant)(nil), ""},
	{"terminal.control.revoke", (*ControlRevoke)(nil), ""},
	{"terminal.session.open", (*SessionOpen)(nil), ""},
	{"terminal.session.close", (*SessionClose)(nil), ""},
	{"terminal.output", (*Output)(nil), ""},
	{"terminal.resize", (*Resize)(nil), ""},
	{"terminal.blackout", (*Blackout)(nil), ""},
	{"terminal.input.result", (*InputResult)(nil), ""},
	{"terminal.wait.result", (*WaitResult)(nil), ""},
	{"terminal.read.result", (*ReadResult)(nil), ""},
	{"terminal.proxy.started", (*ProxyStarted)(nil), ""},
	{"terminal.message", (*Note)(nil), "AgentID"},
	{"terminal.input", (*Input)(nil), "AgentID"},
	{"terminal.proxy.host", (*ProxyHost)(nil), ""},
	{"terminal.proxy.start", (*ProxyStart)(nil), "AgentID"},
	{"terminal.control.request", (*ControlRequest)(nil), "AgentID"},
	{"terminal.control.release", (*ControlRelease)(nil), "AgentID"},
	{"terminal.agent.presence", (*AgentPresence)(nil), ""},
	{"terminal.control.decide", (*ControlDecide)(nil), ""},
	{"terminal.wait", (*Wait)(nil), "AgentID"},
	{"terminal.read", (*Read)(nil), "AgentID"},
	{"terminal.watch", (*Watch)(nil), ""},
	{"terminal.unwatch", (*Unwatch)(nil), ""},
	{"terminal.subscribed", (*Subscribed)(nil), ""},
	{"terminal.view", (*View)(nil), ""},
	{"terminal.unview", (*Unview)(nil), ""},
	{"terminal.ack", (*Ack)(nil), ""},
	{"terminal.rows", (*Rows)(nil), ""},
	{"terminal.cancel", (*Cancel)(nil), ""},
	{"terminal.attach", (*Attach)(nil), "ViewerID"},
	{"terminal.detach", (*Detach)(nil), "ViewerID"},
	{"terminal.typed", (*ViewerInput)(nil), "ViewerID"},
	{"terminal.keys", (*Keys)(nil), ""},
	{"terminal.close", (*Close)(nil), "AgentID"},
	{"sessions.list", (*SessionsList)(nil), ""},
	{"sessions.list.result", (*SessionsListResult)(nil), ""},
	{"sessions.watch", (*SessionsWatch)(nil), ""},
	{"sessions.changed", (*SessionsChanged)(nil), ""},
	{"sessions.subscribe", (*SessionsSubscribe)(nil), ""},
	{"page.open", (*PageOpen)(nil), ""},
	{"page.code", (*PageCode)(nil), ""},
	{"page.opened", (*PageOpened)(nil), ""},
	{"page.knock", (*PageKnock)(nil), ""},
	{"page.admit", (*PageAdmit)(nil), ""},
	{"page.gone", (*PageGone)(nil), ""},
	{"page.close", (*PageClose)(nil), ""},
	{"records.list", (*RecordsList)(nil), ""},
	{"records.list.result", (*RecordsListResult)(nil), ""},
	{"records.read", (*RecordsRead)(nil), ""},
	{"records.read.result", (*RecordsReadResult)(nil), ""},
	{"chat.status", (*ChatStatus)(nil), ""},
	{"chat.records", (*ChatRecords)(nil), ""},
	{"chat.subscribe", (*ChatSubscribe)(nil), ""},
	{"chat.unsubscribe", (*ChatUnsubscribe)(nil), ""},
	{"chat.send", (*ChatSend)(nil), "AgentID"},
	{"chat.answer", (*ChatAnswer)(nil), ""},
	{"chat.interrupt", (*ChatInterrupt)(nil), "AgentID"},
	{"chat.ask", (*ChatAsk)(nil), "AgentID"},
	{"chat.ask.result", (*ChatAskResult)(nil), ""},
	{"secret.ask", (*SecretAsk)(nil), ""},
	{"secret.answer", (*SecretAnswer)(nil), ""},
	{"secret.watch", (*SecretWatch)(nil), ""},
	{"secret.ended", (*SecretEnded)(nil), ""},
	{"secret.reply", (*SecretReply)(nil), ""},
	{"done", (*Done)(nil), ""},
	{"error", (*Error)(nil), ""},
}

// Kinds returns the values of "type" of all messages.
func Kinds() []string {
	all := make([]string, 0, len(messages))
	for _, m := range messages {
		all = append(all, m.kind)
	}
	return all
}

// head describes the messages of one type: the value of "type", and the indexes of the struct's
// fields with the ids of the request, the session and the sender, -1 for a missing field.
type head struct {
	kind                     string
	request, session, sender int
}

// types finds the description of a message by its Go type, and its Go type by the value of "type".
type types struct {
	heads  map[reflect.Type]head
	byKind map[string]reflect.Type
}

// knownTypes returns the tables of all messages. They are built with the first message that is made
// or read: a program that ends at once does not pay for them.
var knownTypes = sync.OnceValue(func() types {
	heads := make(map[reflect.Type]head, len(messages))
	byKind := make(map[string]reflect.Type, len(messages))
	for _, m := range messages {
		t := reflect.TypeOf(m.zero).Elem()
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
	t, ok := knownTypes().byKind[kind]
	if !ok {
		return nil
	}
	m, _ := reflect.New(t).Interface().(Message)
	return m
}

func headOf(m Message) head { return knownTypes().heads[reflect.TypeOf(m).Elem()] }

// stringField returns the string field of m with the index at, or nil.
func stringField(m Message, at int) *string {
	if at < 0 {
		return nil
	}
	value, _ := reflect.ValueOf(m).Elem().Field(at).Addr().Interface().(*string)
	return value
}

// KindOf returns the value of m's "type" field. m may be a nil pointer.
func KindOf(m Message) string { return headOf(m).kind }

// RequestID returns the id of the request that m is or answers, "" for any other message.
func RequestID(m Message) string { return fieldText(m, headOf(m).request) }

// SessionID returns the session that m is about, or "".
func SessionID(m Message) string { return fieldText(m, headOf(m).session) }

func fieldText(m Message, at int) string {
	if value := stringField(m, at); value != nil {
		return *value
	}
	return ""
}

// WithRequestID returns a copy of m with another request id, if m has one.
func WithRequestID(m Message, id string) Message {
	out := clone(m)
	if request := stringField(out, headOf(m).request); request != nil {
		*request = id
	}
	return out
}

// Forward returns a copy of m with another request id and another sender.
func Forward(m Message, requestID, senderID string) Message {
	out := WithRequestID(m, requestID)
	if sender := stringField(out, headOf(m).sender); sender != nil {
		*sender = senderID
	}
	return out
}

// clone returns a shallow copy: the values that m points to are shared, and must not change.
func clone(m Message) Message {
	out := reflect.New(reflect.TypeOf(m).Elem())
	out.Elem().Set(reflect.ValueOf(m).Elem())
	copied, _ := out.Interface().(Message)
	return copied
}
