package protocol

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// The messages about the conversation of a coding agent that runs in a session.

// Limits of a conversation on the wire.
const (
	MaxPrompt = 48 << 10 // text of one chat.send, all of an answer together; in bytes
	// an id from a coding agent: of a request, a question, an item; in bytes.
	MaxChatID      = 256
	MaxChatRecords = 512 // records of one chat.records
	MaxChatForm    = 32  // questions of one form
)

// ChatStatus reports the state of the conversation of a proxy's session whenever it changes. A
// session without a conversation sends none.
type ChatStatus struct {
	SessionID string `json:"sessionId"`
	// Agent is the coding agent's name, State that of its turn: see the Chat constants.
	Agent string `json:"agent"`
	State string `json:"state"`
	// Open counts the requests that wait for an answer, and Oldest is the number, from 1, of the
	// one waiting longest: it changes when that one is closed, even if Open stays the same.
	Open   int    `json:"open,omitempty"`
	Oldest uint64 `json:"oldest,omitempty"`
	// Mode is the agent's name for its permission mode; "" if it has none.
	Mode string `json:"mode,omitempty"`
	// Why is the reason of a state, or "".
	Why string `json:"why,omitempty"`
}

// States of a conversation.
const (
	ChatStarting = "starting"
	ChatAtPrompt = "at prompt"
	ChatWorking  = "working"
	ChatApproval = "wants approval"
	ChatAsks     = "asks"
	ChatEnded    = "ended"
	ChatFailed   = "failed to start"
)

// ChatState is the newest [ChatStatus] of a session in a list.
type ChatState struct {
	Agent  string `json:"agent"`
	State  string `json:"state"`
	Open   int    `json:"open,omitempty"`
	Oldest uint64 `json:"oldest,omitempty"`
	Mode   string `json:"mode,omitempty"`
	Why    string `json:"why,omitempty"`
}

// ChatSubscribe asks for the records of a conversation with higher numbers than After (0 for all
// that are kept) and for later ones: [ChatRecords]. A gateway forwards it without a request id.
type ChatSubscribe struct {
	RequestID string `json:"requestId,omitempty"`
	SessionID string `json:"sessionId"`
	After     uint64 `json:"after,omitempty"`
}

// ChatUnsubscribe ends a [ChatSubscribe].
type ChatUnsubscribe struct {
	RequestID string `json:"requestId,omitempty"`
	SessionID string `json:"sessionId"`
}

// ChatRecords holds the next records of a conversation. Lost is the number of missing ones before
// them, which are no longer kept.
type ChatRecords struct {
	SessionID string       `json:"sessionId"`
	Records   []ChatRecord `json:"records"`
	Lost      uint64       `json:"lost,omitempty"`
	// More is set if further records follow at once.
	More bool `json:"more,omitempty"`
}

// ChatSend sends a prompt to the coding agent, for a person or under an agent's grant. It is
// answered by [Done] once it is part of the conversation.
type ChatSend struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	// AgentID is the agent that sends, "" for a person; By is that person's name. A gateway fills
	// both in.
	AgentID string `json:"agentId,omitempty"`
	By      string `json:"by,omitempty"`
	Text    string `json:"text"`
	// KeyNo and At are as in [Keys], and share its count. SignatureB64 is the Ed25519 signature
	// over Signed.
	KeyNo        uint64 `json:"keyNo,omitempty"`
	At           int64  `json:"at,omitempty"`
	SignatureB64 []byte `json:"signatureB64,omitempty"`
}

// ChatAnswer answers a request, for a person. The first answer counts; later ones are refused with
// [CodeAnswered].
type ChatAnswer struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	// By is the person's name. A gateway that has a better one replaces it.
	By string `json:"by,omitempty"`
	// Request is the id of the [ChatRequest].
	Request string    `json:"request"`
	Answer  ChatReply `json:"answer"`
	// At is when the person answered; a signed answer is void half a minute later.
	At           int64  `json:"at,omitempty"`
	SignatureB64 []byte `json:"signatureB64,omitempty"`
}

// ChatInterrupt ends the turn in progress, and refuses its open requests.
type ChatInterrupt struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	// AgentID and By are those of a [ChatSend].
	AgentID string `json:"agentId,omitempty"`
	By      string `json:"by,omitempty"`
}

// ChatRecord is an entry of a conversation: besides Number and At, exactly one of the other fields
// is set, and Why only with a State.
type ChatRecord struct {
	Number  uint64       `json:"number"` // from 1; numbers only grow, and some are left out
	At      int64        `json:"at"`
	Item    *ChatItem    `json:"item,omitempty"`
	Piece   *ChatPiece   `json:"piece,omitempty"`
	State   string       `json:"state,omitempty"`
	Why     string       `json:"why,omitempty"`
	Request *ChatRequest `json:"request,omitempty"`
	Closed  *ChatClosed  `json:"closed,omitempty"`
	Turn    *ChatTurn    `json:"turn,omitempty"`
}

// recordSize is the size of a record, and of a question, without its texts; in bytes.
const recordSize = 200

// ApproxSize estimates the memory of a record, in bytes.
func (r *ChatRecord) ApproxSize() int {
	size := recordSize
	if i := r.Item; i != nil {
		size += len(i.Text) + len(i.Input)
	}
	if p := r.Piece; p != nil {
		size += len(p.Text)
	}
	if q := r.Request; q != nil {
		size += len(q.Input) + len(q.Why) + recordSize*len(q.Form)
	}
	return size
}

// Kinds of a [ChatItem].
const (
	ChatUser       = "user"
	ChatText       = "text"
	ChatToolCall   = "tool call"
	ChatToolResult = "tool result"
	ChatNotice     = "notice"
)

// ChatItem is one entry of a conversation.
type ChatItem struct {
	Kind string `json:"kind"`
	// ID is the coding agent's own, "" if it gives no id. A result has the id of its call, a text
	// that of its pieces.
	ID     string `json:"id,omitempty"`
	Author string `json:"author"`
	Text   string `json:"text,omitempty"`
	// Tool and Input are the called tool and its arguments, any JSON.
	Tool  string          `json:"tool,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// Failed marks a result as an error.
	Failed bool `json:"failed,omitempty"`
	// Cut is the number of bytes dropped from Text and Input.
	Cut int `json:"cut,omitempty"`
}

// ChatPiece holds a part of a text that is still being written. The whole text follows as an item
// with the same id.
type ChatPiece struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// ChatRequest is a coding agent's request to a person: an approval, or with Form questions.
type ChatRequest struct {
	ID string `json:"id"`
	// By names the asker, if it is not the coding agent: see [ChatAsk].
	By    string          `json:"by,omitempty"`
	Tool  string          `json:"tool,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	Why   string          `json:"why,omitempty"` // in the agent's words
	// Allows are the verdicts that allow the call, in the agent's order.
	Allows []ChatChoice   `json:"allows,omitempty"`
	Form   []ChatQuestion `json:"form,omitempty"`
	// AtTerminal is why the request can be allowed only at the session's terminal: elsewhere it is
	// not shown in full.
	AtTerminal string `json:"atTerminal,omitempty"`
	// Until is when an unanswered request is refused, in ms since 1970; 0 for never.
	Until int64 `json:"until,omitempty"`
}

// ChatChoice offers a verdict, with a description of what else it covers.
type ChatChoice struct {
	Verdict string `json:"verdict"`
	Covers  string `json:"covers,omitempty"`
}

// Verdicts that allow a call. A missing verdict refuses it.
const (
	ChatOnce       = "once"
	ChatForSession = "session"
)

// ChatQuestion is one question of a form. Free text is also an answer.
type ChatQuestion struct {
	ID      string       `json:"id"`
	Header  string       `json:"header,omitempty"`
	Text    string       `json:"text"`
	Many    bool         `json:"many,omitempty"`
	Options []ChatOption `json:"options,omitempty"`
}

// ChatOption is an answer that a question offers.
type ChatOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// ChatReply answers a request. The zero value refuses it.
type ChatReply struct {
	Verdict string `json:"verdict,omitempty"`
	// Replies are the chosen labels and the free texts that answer a form, by the question's id.
	Replies map[string][]string `json:"replies,omitempty"`
	// Words is a text for the agent, with a refusal.
	Words string `json:"words,omitempty"`
}

// Refuses reports whether nothing is allowed and nothing answered.
func (r *ChatReply) Refuses() bool { return r.Verdict == "" && len(r.Replies) == 0 }

// ChatClosed reports that a request is closed. By names the person who answered; it is "" for a
// request closed without an answer, and then Why is the reason.
type ChatClosed struct {
	ID     string    `json:"id"`
	By     string    `json:"by,omitempty"`
	Answer ChatReply `json:"answer"`
	Why    string    `json:"why,omitempty"`
}

// ChatTurn reports how a turn ended, and why unless it is done.
type ChatTurn struct {
	Outcome string `json:"outcome"`
	Why     string `json:"why,omitempty"`
}

// Outcomes of a turn.
const (
	ChatDone        = "done"
	ChatBroken      = "failed"
	ChatInterrupted = "interrupted"
)

// Signed returns the bytes that an owner signs for a prompt: see [Keys.Signed].
func (m *ChatSend) Signed(startedAt int64) []byte {
	return fmt.Appendf(nil, "%s chat.send\n%s %d\n%d %d\n%s\n",
		Version, lengthPrefixed(m.SessionID), startedAt, m.KeyNo, m.At, lengthPrefixed(m.Text))
}

// Signed returns the bytes that an owner signs for an answer: see [ControlDecide.Signed]. The id of
// a request is unique, so an answer needs no number.
func (m *ChatAnswer) Signed(startedAt int64) []byte {
	signed := fmt.Appendf(nil, "%s chat.answer\n%s %d\n%s %d\n%s %s %d\n",
		Version, lengthPrefixed(m.SessionID), startedAt, lengthPrefixed(m.Request), m.At,
		lengthPrefixed(m.Answer.Verdict), lengthPrefixed(m.Answer.Words), len(m.Answer.Replies))
	for _, id := range slices.Sorted(maps.Keys(m.Answer.Replies)) {
		replies := m.Answer.Replies[id]
		signed = fmt.Appendf(signed, "%s %d", lengthPrefixed(id), len(replies))
		for _, reply := range replies {
			signed = fmt.Appendf(signed, " %s", lengthPrefixed(reply))
		}
		signed = append(signed, '\n')
	}
	return signed
}

func (m *ChatStatus) check() error {
	return new(checks).id("sessionId", m.SessionID).required("agent", m.Agent, MaxName).
		required("state", m.State, MaxName).text("mode", m.Mode, MaxName).
		text("why", m.Why, MaxText).between("open", m.Open, 0, MaxMessage).done()
}

func (m *ChatSubscribe) check() error {
	return new(checks).optionalID("requestId", m.RequestID).id("sessionId", m.SessionID).done()
}

func (m *ChatUnsubscribe) check() error {
	return new(checks).optionalID("requestId", m.RequestID).id("sessionId", m.SessionID).done()
}

func (m *ChatSend) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		optionalID("agentId", m.AgentID).text("by", m.By, MaxName).
		required("text", m.Text, MaxPrompt).done()
}

func (m *ChatInterrupt) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		optionalID("agentId", m.AgentID).text("by", m.By, MaxName).done()
}

func (m *ChatAnswer) check() error {
	return new(checks).id("requestId", m.RequestID).id("sessionId", m.SessionID).
		text("by", m.By, MaxName).required("request", m.Request, MaxChatID).checkReply(&m.Answer).
		done()
}

func (c *checks) checkReply(r *ChatReply) *checks {
	c.oneOf("answer.verdict", r.Verdict, "", ChatOnce, ChatForSession).
		text("answer.words", r.Words, MaxPrompt)
	size := len(r.Words)
	for id, replies := range r.Replies {
		size += len(id)
		for _, reply := range replies {
			size += len(reply)
		}
	}
	if n := len(r.Replies); n > MaxChatForm {
		c.fail(CodeTooLarge, "answer.replies", "answers %d questions, the limit is %d",
			n, MaxChatForm)
	}
	if size > MaxPrompt {
		c.fail(CodeTooLarge, "answer", "is %d bytes long, the limit is %d", size, MaxPrompt)
	}
	return c
}

func (m *ChatRecords) check() error {
	c := new(checks).id("sessionId", m.SessionID)
	if n := len(m.Records); n > MaxChatRecords {
		c.fail(CodeTooLarge, "records", "has %d records, the limit is %d", n, MaxChatRecords)
	}
	last := uint64(0)
	for i := range m.Records {
		r := &m.Records[i]
		if r.Number <= last {
			c.fail(CodeBadMessage, "records.number", "is %d behind %d: numbers grow",
				r.Number, last)
		}
		last = r.Number
		c.checkRecord(r)
	}
	return c.done()
}

func (c *checks) checkRecord(r *ChatRecord) {
	c.text("records.state", r.State, MaxName)
	if i := r.Item; i != nil {
		c.required("records.item.kind", i.Kind, MaxName).text("records.item.id", i.ID, MaxChatID)
	}
	if q := r.Request; q != nil {
		c.required("records.request.id", q.ID, MaxChatID)
		if n := len(q.Form); n > MaxChatForm {
			c.fail(CodeTooLarge, "records.request.form", "has %d questions, the limit is %d",
				n, MaxChatForm)
		}
	}
	if closed := r.Closed; closed != nil {
		c.required("records.closed.id", closed.ID, MaxChatID)
	}
}
