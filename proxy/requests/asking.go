package requests

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
	"terminalproxy/proxy/record"
)

// Bounds of what others than the coding agent ask: open at a time, and opened one after the other.
const (
	mostAsked    = 16
	mostAskedBy  = 4 // of one agent
	askBurst     = 32
	askEvery     = time.Second
	mostToolName = 80 // characters
	// tellBurst requests are told over the program at once, and one more in every tellEvery: they may come faster, and are listed.
	tellBurst = 5
	tellEvery = 10 * time.Second
)

// outsiders are the requests of others than the coding agent that wait for people, by the ids of their messages.
type outsiders struct {
	mu   sync.Mutex
	open map[string]outsider
}

// outsider is one of them: who asks, and the request's id in the conversation.
type outsider struct {
	agent control.Agent
	id    string
}

// begin makes place for one. no says why there is none.
func (o *outsiders) begin(requestID string, who outsider) (no *refusal) {
	o.mu.Lock()
	defer o.mu.Unlock()
	own := 0
	for _, other := range o.open {
		if other.agent.Kin == who.agent.Kin {
			own++
		}
	}
	_, twice := o.open[requestID]
	switch {
	case twice:
		return &refusal{protocol.CodeBadMessage, "requestId: names a request that is open"}
	case own >= mostAskedBy:
		return &refusal{protocol.CodeBusy, fmt.Sprintf("%d of your requests wait for an answer already", own)}
	case len(o.open) >= mostAsked:
		return &refusal{protocol.CodeBusy, fmt.Sprintf("%d requests wait for an answer already", len(o.open))}
	}
	o.open[requestID] = who
	return nil
}

func (o *outsiders) end(requestID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, requestID)
}

// those are the requests that are meant.
func (o *outsiders) those(meant func(requestID string, who outsider) bool) (all []outsider) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, who := range o.open {
		if meant(id, who) {
			all = append(all, who)
		}
	}
	return all
}

// asks puts an agent's request to the people of the conversation. It is answered when it is closed.
func (h *Handler) asks(m *protocol.ChatAsk) {
	if h.Outside == nil {
		h.refuse(m.RequestID, protocol.CodeNoChat, "no coding agent talks in this session, and nobody answers requests in it: its user starts one with proxy --chat AGENT")
		return
	}
	if wait, ok := h.fromAskers.take(time.Now()); !ok {
		h.refuse(m.RequestID, protocol.CodeBusy, fmt.Sprintf("too many requests in a short time: the next one may come in %s", notice.Span((wait+time.Second-1).Truncate(time.Second))))
		return
	}
	ok := h.Pump.Post(func(now time.Time) {
		if err := h.open(now, m); err != nil {
			code, say := h.unsaid(err)
			h.refuse(m.RequestID, code, say)
		}
	})
	if !ok {
		h.gone(m.RequestID)
	}
}

// open opens a request. It runs on the pump's goroutine.
func (h *Handler) open(now time.Time, m *protocol.ChatAsk) error {
	from := h.agent(m.AgentID, m.AgentName, m.TokenID)
	if err := h.Control.MayAsk(now, from); err != nil {
		h.Link.Send(notNow(m.RequestID, err))
		return nil
	}
	q := requested(m, from)
	if no := h.outsiders.begin(m.RequestID, outsider{from, q.ID}); no != nil {
		return no
	}
	h.Control.Meet(from)
	h.Recorder.Talked(record.Ask, from, "", q.ID, asked(q))
	err := h.Outside.Ask(q, func(c protocol.ChatClosed) { // on any goroutine
		h.outsiders.end(m.RequestID)
		if c.By != "" && c.Why == "" { // a person answered this one
			h.Pump.Post(func(now time.Time) { h.Control.Replied(now, from, c.Answer.Refuses()) })
		}
		h.Link.Send(&protocol.ChatAskResult{RequestID: m.RequestID, SessionID: h.SessionID, By: c.By, Answer: c.Answer, Why: protocol.Clip(c.Why, protocol.MaxText)})
	})
	if err != nil {
		h.outsiders.end(m.RequestID)
		return err
	}
	if _, ok := h.tellsAsked.take(now); ok {
		h.Status.Tell("agent " + from.Name + " asks " + wants(q) + ": answer with gateway chat answer " + h.SessionID)
	}
	return nil
}

// wants is what an agent asks, in a line of the proxy's: the tool's name is the agent's own word.
func wants(q *protocol.ChatRequest) string {
	if len(q.Form) > 0 {
		return "questions"
	}
	return "to use “" + notice.Reason(q.Tool) + "”"
}

// requested is what an agent asks, as people read it.
func requested(m *protocol.ChatAsk, from control.Agent) *protocol.ChatRequest {
	q := &protocol.ChatRequest{
		ID: chat.NewID(), By: "agent " + from.Name, Tool: notice.Clean(strings.Join(strings.Fields(m.Tool), " "), mostToolName), Input: m.Input,
		Why: notice.Reason(m.Why), Allows: m.Allows, Form: m.Form,
	}
	switch {
	case len(q.Form) > 0:
		q.Allows = nil
	case q.Tool == "":
		q.Tool = "a tool without a name"
	}
	return q
}

// asked is a request for people.
func asked(q *protocol.ChatRequest) string {
	if len(q.Form) == 0 {
		return strings.TrimSpace("leave for " + q.Tool + " " + string(q.Input))
	}
	var all []string
	for _, f := range q.Form {
		all = append(all, f.Text)
	}
	return strings.Join(all, "; ")
}

// withdraw closes the request that a message asked for, or all of them for "".
func (h *Handler) withdraw(requestID, why string) {
	if h.Outside == nil {
		return
	}
	h.Pump.Post(func(time.Time) { // behind what opened it
		for _, who := range h.outsiders.those(func(id string, _ outsider) bool { return requestID == "" || requestID == id }) {
			h.Outside.Withdraw(who.id, why)
		}
	})
}

// Hushed closes what agents ask whom the user has muted meanwhile. It runs on the pump's goroutine.
func (h *Handler) Hushed() {
	for _, who := range h.outsiders.those(func(_ string, who outsider) bool { return h.Control.Muted(who.agent) }) {
		h.Outside.Withdraw(who.id, who.agent.Name+" is muted")
	}
}

// Unreached says that the connection to the gateway was lost: nobody hears an answer any more to what others than the coding agent asked.
func (h *Handler) Unreached() { h.withdraw("", "the connection to who asked was lost") }
