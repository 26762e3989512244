package requests

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/names"
	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/record"
)

// Bounds of the requests from agents other than the coding agent.
const (
	maxOpenAsks   = 16
	maxOpenAsksBy = 4 // of one agent
	askBurst      = 32
	askEvery      = time.Second
	maxToolName   = 80 // in characters
	// announceBurst requests are announced on the user's screen at once, then one every
	// announceEvery. Requests that come faster are only listed.
	announceBurst = 5
	announceEvery = 10 * time.Second
)

// outsiders puts requests from agents other than the coding agent to the people of its
// conversation.
type outsiders struct {
	*Config
	book          *names.Book
	actions       *actionQueue
	askLimit      rateLimiter // owned by the link's goroutine
	announceLimit rateLimiter // owned by the pump's goroutine
	mu            sync.Mutex
	open          map[string]outsider // open requests by message id; guarded by mu
}

func newOutsiders(c *Config, book *names.Book, actions *actionQueue) *outsiders {
	return &outsiders{
		Config:        c,
		book:          book,
		actions:       actions,
		askLimit:      rateLimiter{burst: askBurst, every: askEvery},
		announceLimit: rateLimiter{burst: announceBurst, every: announceEvery},
		open:          make(map[string]outsider),
	}
}

// outsider is an open request: the agent, and the request's id in the conversation.
type outsider struct {
	agent control.Agent
	id    string
}

// reservePlace registers a request, unless too many are open.
func (o *outsiders) reservePlace(requestID string, asker outsider) (reason *refusal) {
	o.mu.Lock()
	defer o.mu.Unlock()
	own := 0
	for _, other := range o.open {
		if other.agent.Identity == asker.agent.Identity {
			own++
		}
	}
	_, twice := o.open[requestID]
	switch {
	case twice:
		return &refusal{protocol.CodeBadMessage, "requestId: names an open request"}
	case own >= maxOpenAsksBy:
		return &refusal{
			protocol.CodeBusy,
			fmt.Sprintf("%d of your requests wait for an answer already", own),
		}
	case len(o.open) >= maxOpenAsks:
		return &refusal{
			protocol.CodeBusy,
			fmt.Sprintf("%d requests wait for an answer already", len(o.open)),
		}
	}
	o.open[requestID] = asker
	return nil
}

func (o *outsiders) releasePlace(requestID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, requestID)
}

func (o *outsiders) findMatching(
	matches func(requestID string, asker outsider) bool,
) (all []outsider) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, asker := range o.open {
		if matches(id, asker) {
			all = append(all, asker)
		}
	}
	return all
}

// handleChatAsk puts an agent's request to the people of the conversation. The answer is sent when
// the request closes.
func (o *outsiders) handleChatAsk(m *protocol.ChatAsk) {
	if o.OutsideRequests == nil {
		sendError(o.Link, m.RequestID, protocol.CodeNoChat,
			"there is no coding agent to talk to in this session, and no one answers requests "+
				"in it: its user starts one with proxy --chat AGENT")
		return
	}
	if wait, ok := o.askLimit.allowNow(time.Now()); !ok {
		sendError(o.Link, m.RequestID, protocol.CodeBusy,
			fmt.Sprintf("too many requests in a short time: the next one may come in %s",
				notice.Span((wait+time.Second-1).Truncate(time.Second))))
		return
	}
	ok := o.Pump.Post(func(now time.Time) {
		if err := o.openRequest(now, m); err != nil {
			code, message := chatRefusal(o.Chat, err)
			sendError(o.Link, m.RequestID, code, message)
		}
	})
	if !ok {
		sendExited(o.Link, m.RequestID)
	}
}

// openRequest runs on the pump's goroutine.
func (o *outsiders) openRequest(now time.Time, m *protocol.ChatAsk) error {
	from := identifyAgent(o.book, m.AgentID, m.AgentName, m.TokenID)
	if err := o.Control.AskRefusal(now, from); err != nil {
		o.Link.Send(notNowError(m.RequestID, err))
		return nil
	}
	q := newChatRequest(m, from)
	if reason := o.reservePlace(m.RequestID, outsider{from, q.ID}); reason != nil {
		return reason
	}
	o.Control.NoteAgent(from)
	o.Recorder.RecordPrompt(record.Ask, from, "", q.ID, describeRequest(q))
	o.actions.enqueue(func(over bool) {
		err := chat.ErrOver
		if !over {
			err = o.showRequest(m, from, q)
		}
		if err != nil {
			o.releasePlace(m.RequestID)
			code, message := chatRefusal(o.Chat, err)
			sendError(o.Link, m.RequestID, code, message)
			return
		}
		o.Pump.Post(func(now time.Time) { o.announceRequest(now, from, q) })
	})
	return nil
}

// showRequest puts a request to the people of the conversation.
func (o *outsiders) showRequest(
	m *protocol.ChatAsk, from control.Agent, q *protocol.ChatRequest,
) error {
	return o.OutsideRequests.OpenRequest(q, func(c protocol.ChatClosed) { // on any goroutine
		o.releasePlace(m.RequestID)
		if c.By != "" && c.Why == "" { // answered by a person
			o.Pump.Post(func(now time.Time) { o.Control.NoteReply(now, from, c.Answer.Refuses()) })
		}
		o.Link.Send(&protocol.ChatAskResult{
			RequestID: m.RequestID,
			SessionID: o.SessionID,
			By:        c.By,
			Answer:    c.Answer,
			Why:       protocol.Clip(c.Why, protocol.MaxText),
		})
	})
}

// announceRequest tells the user of a request, unless there were many.
func (o *outsiders) announceRequest(now time.Time, from control.Agent, q *protocol.ChatRequest) {
	if _, ok := o.announceLimit.allowNow(now); ok {
		o.Status.ShowText("agent " + from.Name + " asks " + summarizeRequest(q) +
			": answer with gateway chat answer " + o.SessionID)
	}
}

// summarizeRequest describes a request in a few words, for the proxy's line. The tool's name comes
// from the agent.
func summarizeRequest(q *protocol.ChatRequest) string {
	if len(q.Form) > 0 {
		return "questions"
	}
	return "to use “" + notice.Reason(q.Tool) + "”"
}

// newChatRequest makes the request that people read.
func newChatRequest(m *protocol.ChatAsk, from control.Agent) *protocol.ChatRequest {
	q := &protocol.ChatRequest{
		ID:     chat.NewID(),
		By:     "agent " + from.Name,
		Tool:   notice.Clean(strings.Join(strings.Fields(m.Tool), " "), maxToolName),
		Input:  m.Input,
		Why:    notice.Reason(m.Why),
		Allows: m.Allows,
		Form:   m.Form,
	}
	switch {
	case len(q.Form) > 0:
		q.Allows = nil
	case q.Tool == "":
		q.Tool = "a tool without a name"
	}
	return q
}

// describeRequest describes a request for the recording.
func describeRequest(q *protocol.ChatRequest) string {
	if len(q.Form) == 0 {
		return strings.TrimSpace("permission for " + q.Tool + " " + string(q.Input))
	}
	var all []string
	for _, f := range q.Form {
		all = append(all, f.Text)
	}
	return strings.Join(all, "; ")
}

// withdrawRequests closes the request that a message opened, or all of them for "".
func (o *outsiders) withdrawRequests(requestID, why string) {
	if o.OutsideRequests == nil {
		return
	}
	o.Pump.Post(func(time.Time) { // after the function that opened it
		isMeant := func(id string, _ outsider) bool { return requestID == "" || requestID == id }
		for _, asker := range o.findMatching(isMeant) {
			o.closeRequest(asker.id, why)
		}
	})
}

// cancelMuted implements [Handler.CancelMuted].
func (o *outsiders) cancelMuted() {
	isMuted := func(_ string, asker outsider) bool { return o.Control.IsMuted(asker.agent) }
	for _, asker := range o.findMatching(isMuted) {
		o.closeRequest(asker.id, asker.agent.Name+" is muted")
	}
}

// closeRequest closes a request after the action that opened it.
func (o *outsiders) closeRequest(id, why string) {
	o.actions.enqueue(func(bool) { o.OutsideRequests.CloseRequest(id, why) })
}

// CancelUnheard closes all requests: without the gateway their answers reach no agent.
func (h *Handler) CancelUnheard() {
	h.outsiders.withdrawRequests("", "the connection to the agent that asked was lost")
}
