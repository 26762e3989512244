// Package requests answers agents' messages: it looks, waits, types, asks for control and passes
// messages on.
//
// [Handler.Handle] never blocks. The observer and the pump work on goroutines of their own, and
// answer through the link. What is said to a coding agent may wait for a disk, and has a goroutine
// of its own (actions.go).
//
// Handler passes each message to the part that answers it. The parts, each with the state that it
// alone has:
//
//	agentWaits   waits.go         reads and waits; unheard.go and endedwaits.go keep lost answers
//	seen         seen.go          what each agent saw last
//	grants       control.go       requests for control, and changes of control
//	decisions    decisions.go     an owner's decisions from elsewhere
//	typists      typists.go       an owner's keys from elsewhere; secret.go, answers to programs
//	verifier     verifier.go      who signed a message
//	messenger    notes.go         messages between agents and people; inbox.go
//	chatHandler  conversation.go  the conversation with a coding agent
//	outsiders    outsiders.go     other agents' requests in it
//	actionQueue  actions.go       the goroutine that chatHandler and outsiders act on
//	Line         line.go          the line shared with the user
//	encoder      encode.go        the bytes of an input; pointer.go
//	deliveries   input.go         inputs; receipts.go keeps their receipts
//
// A delivery follows one input: its review (review.go, steps.go) finds out when it may be typed,
// its conditions (until.go) come between two parts, its consent (confirm.go) asks the user under
// level type, outcome.go makes the receipt, and its reply (reply.go) sends that.
//
// It must not know the screen's cells, the writing to the program, the rules of control or the
// transport of messages: it asks for those through its ports.
package requests

import (
	"fmt"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/names"
)

// Handler answers messages that come over the link.
type Handler struct {
	Config
	verifier   *verifier
	typists    *typists
	decisions  *decisions
	grants     *grants
	messenger  *messenger
	chat       *chatHandler
	outsiders  *outsiders
	line       *Line
	inbox      *inbox
	deliveries *deliveries
	book       *names.Book
	waits      *agentWaits
	actions    *actionQueue
}

// New makes a handler. Call it before the observer and the pump run.
func New(conf Config) *Handler {
	h := &Handler{
		Config:  conf,
		book:    new(names.Book),
		inbox:   new(inbox),
		actions: newActionQueue(),
	}
	h.line = &Line{Config: &h.Config, MaxAnswerWait: maxAnswerWait}
	seen := &seen{Config: &h.Config, line: h.line, byAgent: make(map[string]glimpse)}
	h.waits = newWaits(&h.Config, h.inbox, seen)
	h.deliveries = &deliveries{
		Config: &h.Config, line: h.line, encoder: &encoder{Config: &h.Config, line: h.line},
		seen: seen, waits: h.waits, inbox: h.inbox, receipts: newReceipts(),
	}
	h.verifier = &verifier{Config: &h.Config}
	h.decisions = &decisions{Config: &h.Config, verifier: h.verifier, book: h.book}
	h.grants = &grants{
		Config: &h.Config, verifier: h.verifier, book: h.book, inbox: h.inbox, waits: h.waits,
		line: h.line, tally: &h.deliveries.tally,
	}
	h.messenger = newMessenger(&h.Config, h.book, h.inbox, h.waits)
	h.typists = &typists{
		Config: &h.Config, verifier: h.verifier, line: h.line, reclaim: h.decisions.reclaim,
		byName: make(map[string]*typist),
	}
	h.chat = &chatHandler{
		Config: &h.Config, verifier: h.verifier, typists: h.typists, actions: h.actions,
	}
	h.outsiders = newOutsiders(&h.Config, h.book, h.actions)
	h.line.noteMoved() // keys may come before any output
	if conf.OwnTerminal != nil {
		if a := conf.OwnTerminal.Agent(); a.ID != "" {
			h.book.AssignName(a.ID, a.Name) // reserves its name
		}
	}
	return h
}

// Line returns the line that the user and agents share.
func (h *Handler) Line() *Line { return h.line }

// SetInBackground sets whether the user's shell has the session in the background, where the pump
// types nothing and answers nothing.
func (h *Handler) SetInBackground(behind bool) { h.deliveries.inBackground.Store(behind) }

// Reclaim takes the keyboard back without the reclaim key. It runs on the pump's goroutine.
func (h *Handler) Reclaim(now time.Time, by string) { h.decisions.reclaim(now, by) }

// OpenMessage opens a message of the user to an agent, if the menu is open. It runs on the pump's
// goroutine.
func (h *Handler) OpenMessage(now time.Time) (took bool) { return h.messenger.openMessage(now) }

// OpenReply opens a line for the user's answer if an agent's message is on the screen. It runs on
// the pump's goroutine.
func (h *Handler) OpenReply(now time.Time) (took bool) { return h.messenger.openReply(now) }

// ControlEvent reports a change of control to agents, recorder and user. It runs on the pump's
// goroutine.
func (h *Handler) ControlEvent(e control.Event) { h.grants.reportEvent(e) }

// CancelMuted closes requests of agents that the user has muted. It runs on the pump's goroutine.
func (h *Handler) CancelMuted() { h.outsiders.cancelMuted() }

// EndActions refuses the prompts and answers that still wait, and returns when the last one is done.
// Call it after the pump's end.
func (h *Handler) EndActions() { h.actions.close() }

// Handle acts on one message. It runs on the link's reading goroutine.
func (h *Handler) Handle(m protocol.Message) {
	if h.OwnTerminal != nil {
		h.OwnTerminal.NoteActivity()
	}
	if id := protocol.SessionID(m); id != "" && id != h.SessionID {
		sendError(h.Link, protocol.RequestID(m), protocol.CodeNoSession,
			"this proxy has the session "+h.SessionID+" only")
		return
	}
	switch m.(type) {
	case *protocol.Input, *protocol.Wait, *protocol.Read, *protocol.ControlRequest, *protocol.Note:
		h.Status.NoteRequest()
	}
	h.dispatchMessage(m)
}

func (h *Handler) dispatchMessage(m protocol.Message) {
	switch m := m.(type) {
	case *protocol.Input:
		h.deliveries.handleInput(m)
	case *protocol.Wait:
		h.waits.handleWait(m)
	case *protocol.Cancel:
		h.handleCancel(m)
	case *protocol.Read:
		h.waits.handleRead(m)
	case *protocol.ControlRequest:
		h.grants.handleControlRequest(m)
	case *protocol.ControlRelease:
		h.grants.handleRelease(m)
	case *protocol.ControlDecide:
		h.decisions.handleDecision(m)
	case *protocol.Note:
		h.messenger.handleNote(m)
	case *protocol.Keys:
		if h.deliveries.inBackground.Load() {
			sendError(h.Link, m.RequestID, protocol.CodeUnavailable, backgroundText)
			return
		}
		h.typists.handleKeys(m)
	case *protocol.Watch, *protocol.Unwatch, *protocol.Attach, *protocol.Detach,
		*protocol.ViewerInput:
		h.forwardAttached(m)
	case *protocol.ProxyStart:
		h.Link.Send(&protocol.ProxyStarted{
			ID:        protocol.NewID(),
			RequestID: m.RequestID,
			Error:     "this proxy serves one user's program and starts no others",
		})
	case *protocol.View:
		h.Observer.Post(func(now time.Time) { h.Observer.SetViewed(now, true) })
	case *protocol.Unview:
		h.Observer.Post(func(now time.Time) { h.Observer.SetViewed(now, false) })
	case *protocol.Subscribed:
		h.Observer.SetSubscribed(m.On)
	case *protocol.ChatSubscribe, *protocol.ChatUnsubscribe, *protocol.ChatSend,
		*protocol.ChatAnswer, *protocol.ChatInterrupt:
		h.chat.handleChat(m)
	case *protocol.ChatAsk:
		h.outsiders.handleChatAsk(m)
	case *protocol.SecretAsk:
		h.askSecret(m)
	case *protocol.SecretReply:
		h.answerSecret(m)
	case *protocol.AgentPresence:
		h.grants.handlePresence(m)
	case *protocol.Close:
		h.close(m)
	case *protocol.Error:
		h.Log.Warn("the gateway refused a message",
			"code", m.Code, "message", m.Message, "field", m.Field)
	default:
		sendError(h.Link, protocol.RequestID(m), protocol.CodeForbidden,
			fmt.Sprintf("a %s is not for a proxy", protocol.KindOf(m)))
	}
}

// handleCancel ends a wait whose caller left, takes back a withdrawn request, or keeps the answer
// to a request for control for the agent's next wait.
func (h *Handler) handleCancel(m *protocol.Cancel) {
	h.outsiders.withdrawRequests(m.RequestID, "the agent that asked took it back, or is gone")
	h.Pump.Post(func(now time.Time) { h.Desk.Withdraw(now, m.RequestID) })
	if m.Withdraw {
		h.Pump.WithdrawInput(m.RequestID, !m.Gone)
		h.Pump.Post(func(now time.Time) { h.Control.WithdrawRequest(now, m.RequestID) })
		h.Status.WithdrawMessage(m.RequestID)
	}
	h.Observer.Post(func(time.Time) { h.waits.cancelWait(m) })
}
