// Package requests answers agents' messages: it looks, waits, types, asks for control and passes messages on.
//
// [Handler.Handle] never blocks. The observer and the pump do the work on goroutines of their own, and answer through the link.
// waits.go has reads and waits (waitsover.go: those whose answer may be lost), control.go requests for control and what becomes of them (answers.go: what an agent did not
// hear), remote.go what an owner decides elsewhere, and keys.go what one types. input.go follows an input from its receipt's number to its receipt
// (receipts.go, outcome.go): encode.go and pointer.go make its bytes, line.go looks after the line that is shared with the user,
// and confirm.go after what the user lets through under level type. chat.go, inbox.go and composer.go are for messages between
// agents and people, conversation.go for what both say to a coding agent, and asking.go for what other agents ask in its conversation.
//
// It must not know what a screen is made of, who writes to the program, how control is decided or how a message travels: its
// ports say what it asks of them.
package requests

import (
	"fmt"
	"log/slog"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/line"
	"terminalproxy/proxy/names"
)

// Config plugs a [Handler].
type Config struct {
	SessionID  string
	Started    time.Time // which an owner's signature names
	ReclaimKey keys.CtrlKey
	// Owner says which owner signed a message; an error is for people. nil: the session knows no owners.
	Owner func(message, signature []byte) (protocol.Signer, error)
	// LocalAgent says whose local token signed a message; nil: the session knows none.
	LocalAgent func(message, signature []byte) (token string, err error)
	// Ahead is what a rule of the user's gives an agent that asks now. It reads files; nil: there are no rules.
	Ahead func(a control.Agent, level protocol.Level) control.Ahead
	// RemoteGrant: the gateway's word is enough that an owner decided.
	RemoteGrant bool
	// RemoteKeys: every owner may type from elsewhere; else only those whose key says so.
	RemoteKeys bool
	Log        *slog.Logger

	Observer  Observer
	Pump      Pump
	Control   Control
	Link      Link
	Program   Program
	Terminal  Terminal
	Status    Status
	Recorder  Recorder
	Tracker   *line.Tracker // of everybody's keys
	Own       Own           // nil: the user's own terminal
	Attached  Attached      // nil with Own
	Elsewhere Elsewhere
	// Chat is the conversation of the coding agent that is the program, nil for none.
	Chat Conversation
	// Outside takes requests of others than that coding agent, nil for nobody.
	Outside Outside
}

// Handler answers what comes over the link.
type Handler struct {
	Config
	line     *Line
	receipts *receipts
	inbox    inbox
	pointer  pointer
	book     names.Book
	// waits, answers and what follows belong to the observer's goroutine, as does pointer. deciding are the waits for a decision about
	// control: their agents. driving are the waits for what was typed under a grant, and reclaimed is the epoch of the last grant that
	// the user took back.
	waits     waitsOver
	answers   answers
	seen      seen
	deciding  map[string]string
	driving   map[string]*protocol.Wait
	reclaimed uint64
	// parting is what an agent says as it gives the keyboard back. It belongs to the pump's goroutine.
	parting string
	// unmuted is when the newest decision was made that let a muted agent speak again, in Unix milliseconds. It belongs there, too.
	unmuted int64
	// typists are the owners who typed from elsewhere, by name. They belong to the pump's goroutine.
	typists map[string]*typist
	// fromAgents, fromPeople and fromAskers bound messages and requests. They belong to the link's goroutine.
	fromAgents, fromPeople, fromAskers pace
	tellsAsked                         pace // belongs to the pump's
	outsiders                          outsiders
	uploads                            uploads // belongs to the link's goroutine
	// proofs are those of local tokens that were used. They belong there, too.
	proofs proofs
}

// New makes a handler. The observer and the pump do not run yet.
func New(conf Config) *Handler {
	h := &Handler{
		Config: conf, receipts: newReceipts(), deciding: make(map[string]string), driving: make(map[string]*protocol.Wait),
		typists: make(map[string]*typist), seen: make(seen),
		fromAgents: pace{burst: messageBurst, every: messageEvery}, fromPeople: pace{burst: 2 * messageBurst, every: messageEvery / 5},
		fromAskers: pace{burst: askBurst, every: askEvery}, tellsAsked: pace{burst: tellBurst, every: tellEvery}, outsiders: outsiders{open: make(map[string]outsider)},
	}
	h.line = &Line{Config: conf, AnswerMost: answerMost}
	h.line.moved() // keys may come before any output
	if conf.Own != nil {
		if a := conf.Own.Agent(); a.ID != "" {
			h.book.Call(a.ID, a.Name) // its name is taken
		}
	}
	return h
}

// Line is the line that the user and agents share, as the observer looks after it.
func (h *Handler) Line() *Line { return h.line }

// Handle takes one message. It runs on the link's reading goroutine.
func (h *Handler) Handle(m protocol.Message) {
	if h.Own != nil {
		h.Own.Touch()
	}
	if id := protocol.SessionID(m); id != "" && id != h.SessionID {
		h.refuse(protocol.RequestID(m), protocol.CodeNoSession, "this proxy has the session "+h.SessionID+" only")
		return
	}
	switch m.(type) {
	case *protocol.Input, *protocol.Wait, *protocol.Read, *protocol.ControlRequest, *protocol.Note:
		h.Status.Attended()
	}
	switch m := m.(type) {
	case *protocol.Input:
		h.input(m)
	case *protocol.Wait:
		h.wait(m)
	case *protocol.Cancel:
		h.cancel(m)
	case *protocol.Read:
		h.read(m)
	case *protocol.ControlRequest:
		h.request(m)
	case *protocol.ControlRelease:
		h.release(m)
	case *protocol.ControlDecide:
		h.decide(m)
	case *protocol.Note:
		h.note(m)
	case *protocol.Keys:
		h.keys(m)
	case *protocol.Watch, *protocol.Unwatch, *protocol.Attach, *protocol.Detach, *protocol.ViewerInput:
		h.attached(m)
	case *protocol.ProxyStart:
		h.Link.Send(&protocol.ProxyStarted{ID: protocol.NewID(), RequestID: m.RequestID, Error: "this proxy serves one user's program and starts no others"})
	case *protocol.View:
		h.Observer.Post(func(now time.Time) { h.Observer.View(now, true) })
	case *protocol.Unview:
		h.Observer.Post(func(now time.Time) { h.Observer.View(now, false) })
	case *protocol.Subscribed:
		h.Observer.Subscribed(m.On)
	case *protocol.ChatSubscribe, *protocol.ChatUnsubscribe, *protocol.ChatSend, *protocol.ChatImage, *protocol.ChatAnswer, *protocol.ChatInterrupt:
		h.talk(m)
	case *protocol.ChatAsk:
		h.asks(m)
	case *protocol.AgentPresence:
		h.present(m)
	case *protocol.Close:
		h.close(m)
	case *protocol.Error:
		h.Log.Warn("the gateway refused a message", "code", m.Code, "message", m.Message, "field", m.Field)
	default:
		h.refuse(protocol.RequestID(m), protocol.CodeForbidden, fmt.Sprintf("a %s is not for a proxy", protocol.KindOf(m)))
	}
}

func (h *Handler) refuse(requestID string, code protocol.Code, say string) {
	h.Link.Send(&protocol.Error{RequestID: requestID, Code: code, Message: say})
}

// gone answers a request that came too late.
func (h *Handler) gone(requestID string) {
	h.refuse(requestID, protocol.CodeExited, "the program has ended")
}
