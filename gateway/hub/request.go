package hub

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// pending is a request on its way: forwarded to a proxy, not answered yet. It belongs to the hub's lock.
type pending struct {
	owner   *Peer    // who has to answer
	session *session // nil for the start of one
	wireID  string
	number  uint64           // counts requests
	request protocol.Message // as forwarded
	waiting []waiter
	sent    time.Time   // to the proxy for the first time; zero before
	again   bool        // sent over more than one connection
	timer   *time.Timer // nil where a person decides
}

// waiter is who gets the answer, under the id that it used. There are two when a participant repeated a request.
type waiter struct {
	peer *Peer
	id   string
}

// ask answers or forwards what an agent, a viewer or an owner wants.
func (h *Hub) ask(p *Peer, m protocol.Message) {
	switch m := m.(type) {
	case *protocol.SessionsList:
		p.out.put(h.answer(p, m))
	case *protocol.SessionsWatch:
		h.watchList(p, m)
	case *protocol.SessionsSubscribe:
		h.subscribe(p, m)
	case *protocol.Cancel:
		h.cancel(p, m)
	case *protocol.ProxyStart:
		h.start(p, m)
	case *protocol.Watch:
		h.watch(p, m)
	case *protocol.Unwatch:
		if s := h.find(p, m); s != nil {
			s.unwatch(p)
		}
	case *protocol.View:
		h.view(p, m)
	case *protocol.Unview:
		if s := h.find(p, m); s != nil {
			s.unview(p)
		}
	case *protocol.Ack:
		h.ack(p, m)
	case *protocol.Detach, *protocol.ViewerInput:
		h.attended(p, m)
	case *protocol.ChatSubscribe:
		h.hear(p, m)
	case *protocol.ChatUnsubscribe:
		if s := h.find(p, m); s != nil {
			s.unhear(p)
			p.out.put(&protocol.Done{RequestID: m.RequestID})
		}
	default:
		h.route(p, m)
	}
}

// route forwards a request to the proxy that owns its session.
func (h *Hub) route(p *Peer, m protocol.Message) {
	id := protocol.SessionID(m)
	if id == "" {
		p.out.put(&protocol.Error{RequestID: protocol.RequestID(m), Code: protocol.CodeBadMessage, Field: "sessionId", Message: `field "sessionId": is missing`})
		return
	}
	if protocol.RequestID(m) == "" {
		p.out.put(&protocol.Error{Code: protocol.CodeBadMessage, Field: "requestId", Message: `field "requestId": is missing`})
		return
	}
	s := h.find(p, m)
	switch {
	case s == nil: // it was told
	case s.info.State == protocol.StateExited:
		h.recall(p, s, m)
	case s.deaf(m):
		p.fail(m, protocol.CodeNoChat, s.mute())
	case s.older(m) != "":
		p.fail(m, protocol.CodeBadMessage, fmt.Sprintf("the proxy of session %s is older and takes %s", id, s.older(m)))
	case s.owner == nil && !repeats(m):
		p.fail(m, protocol.CodeUnavailable, fmt.Sprintf("the proxy of session %s lost its connection, it may come back within seconds: nothing was done", id))
	default:
		h.forward(p, cmp.Or(s.owner, s.away), s, m)
	}
}

// older says what of m the session's proxy does not know, "" for nothing.
func (s *session) older(m protocol.Message) string {
	switch m := m.(type) {
	case *protocol.Input:
		if len(m.Parts) > 0 && !s.info.Parts {
			return "no parts: send one input after another"
		}
	case *protocol.ControlDecide:
		if m.Mute != "" && m.Hide == "" && !s.info.Mutes {
			return "no word on who is muted: refuse the agent, or take the keyboard back"
		}
	case *protocol.Keys:
		if !s.keys {
			return "no keys of pages: start the program with a newer one"
		}
	case *protocol.ChatAsk:
		if !s.outside {
			return "no requests of other agents: start the program with a newer one"
		}
	}
	return ""
}

// recall answers for an ended session.
func (h *Hub) recall(p *Peer, s *session, m protocol.Message) {
	if h.dismiss(p, s, m) {
		return
	}
	p.reply(protocol.WithRequestID(h.recalled(s, m), protocol.RequestID(m)))
}

// recalled is the answer to a request about an ended session: what is typed or asked of the user comes too late.
func (h *Hub) recalled(s *session, m protocol.Message) protocol.Message {
	switch m := m.(type) {
	case *protocol.Wait:
		return h.waited(s, m)
	case *protocol.Read:
		return h.remembered(s, m)
	}
	return &protocol.Error{Code: protocol.CodeExited, Message: s.exited()}
}

// remembered answers a read of an ended session.
func (h *Hub) remembered(s *session, m *protocol.Read) protocol.Message {
	r := &protocol.ReadResult{ID: h.nextID(), SessionID: s.key.id, Frame: s.frame()}
	switch {
	case m.Command > 0:
		return &protocol.Error{Code: protocol.CodeExited, Message: "the program has ended, and what its marks told of commands with it: read the history"}
	case m.Match != "" && !r.Frame.Blackout.ByUser():
		if err := s.find(r, m); err != nil {
			return err
		}
	case s.past != nil && m.Scrollback > 0 && !r.Frame.Blackout.ByUser():
		if say := s.history(r, m); say != "" {
			return &protocol.Error{Code: protocol.CodeBadMessage, Field: "fromLine", Message: say}
		}
	case s.newest != nil && (m.Text || m.Scrollback > 0):
		r.Text = s.newest.Content // the rows of history went with the proxy, and their numbers
		if !m.Text {
			r.Text = lastRows(r.Text, m.Scrollback)
		}
	}
	return r
}

// lastRows is the last n rows of a text, each of which a line feed may end.
func lastRows(text string, n int) string {
	at := len(strings.TrimSuffix(text, "\n"))
	for ; n > 0 && at >= 0; n-- {
		at = strings.LastIndexByte(text[:at], '\n')
	}
	return text[at+1:]
}

// forward sends a request on to a proxy and remembers who wants the answer. s is nil where the request is about no session.
func (h *Hub) forward(p, owner *Peer, s *session, m protocol.Message) {
	id := protocol.RequestID(m)
	wireID := wireID(p.member.ID, id)
	request := p.addressed(m, wireID)
	if q := owner.asked[wireID]; q != nil {
		// The same request again is one request. Another one under the same id could not be told from it.
		if q.session == s && same(q.request, request) && len(q.waiting) < maxOpen {
			q.add(p, id)
			return
		}
		p.out.put(&protocol.Error{RequestID: id, Code: protocol.CodeBadMessage, Field: "requestId", Message: `field "requestId": names another request that is not answered yet`})
		return
	}
	if len(p.mine) >= maxOpen {
		p.fail(m, protocol.CodeBusy, fmt.Sprintf("%d requests are waiting for their answers already", maxOpen))
		return
	}
	h.logRequest(p, request)
	switch request := request.(type) {
	case *protocol.ControlRequest:
		s.asks(p.member.ID)
	case *protocol.Note:
		if request.AgentID != "" {
			s.asks(request.AgentID)
		}
	case *protocol.Attach:
		s.attached[p] = request
	}
	h.count++
	q := &pending{owner: owner, session: s, wireID: wireID, number: h.count, request: request}
	q.add(p, id)
	owner.asked[wireID] = q
	if s == nil || owner == s.owner {
		h.send(q)
	}
}

// same reports whether two requests are one that was repeated.
func same(a, b protocol.Message) bool {
	if wait, ok := a.(*protocol.Wait); ok {
		again, ok := b.(*protocol.Wait)
		return ok && again.Repeats(wait)
	}
	return reflect.DeepEqual(a, b)
}

// asks notes that an agent has to do with the session's user.
func (s *session) asks(agentID string) {
	if len(s.askers) < maxAskers {
		s.askers[agentID] = true
	}
}

// watchOver ends a request that is not answered within limit, 0 for none, or whose proxy cannot answer because it is
// stopped, which is looked at after a while and then ever less often. It is called under the lock.
func (h *Hub) watchOver(q *pending, limit, after time.Duration) {
	process := q.owner.member.Process
	switch {
	case process == nil && limit == 0:
		return
	case process == nil:
		after = limit
	case limit > 0:
		after = min(after, limit)
	}
	q.timer = time.AfterFunc(after, func() {
		say := ""
		if process != nil {
			say = process.Stopped() // asks the kernel: not under the lock
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		switch {
		case !q.open():
		case say != "":
			q.halted(say)
		case limit != after:
			h.watchOver(q, max(0, limit-after), 2*after)
		case q.session == nil:
			q.fail(protocol.CodeTimeout, "the host did not answer in time; whether the program runs is not known: look at the list")
		default:
			q.fail(protocol.CodeTimeout, "the session's proxy did not answer in time"+q.fate())
		}
	})
}

// fate is what is to be added to a failure: that nobody knows whether an input was typed.
func (q *pending) fate() string {
	switch q.request.(type) {
	case *protocol.Input, *protocol.Keys:
		return notKnown
	case *protocol.ChatSend, *protocol.ChatAnswer, *protocol.ChatInterrupt:
		return "; whether the coding agent heard it is not known: look at the conversation before you repeat it"
	}
	return ""
}

// open reports whether the request is not answered yet.
func (q *pending) open() bool { return !q.owner.hub.closed && q.owner.asked[q.wireID] == q }

// halted answers for a proxy that is stopped. What it was sent it takes when it goes on.
func (q *pending) halted(say string) {
	switch q.request.(type) {
	case *protocol.Input, *protocol.Keys:
		say = "the session's proxy, " + say + "; what you sent may still be typed when it goes on: read the screen before you repeat it"
	case *protocol.ProxyStart:
		say = "the host, " + say + "; whether the program will be started is not known: look at the list"
	default:
		say = "the session's proxy, " + say
	}
	if q.cancels(&protocol.Cancel{Withdraw: true, Gone: true}) { // it gets the error
		q.sendCancel(&protocol.Cancel{Withdraw: true, Gone: true})
	}
	q.fail(protocol.CodeUnavailable, say)
}

// timeLimit is how long a proxy may take to answer; 0 is without limit, where a person decides.
func timeLimit(m protocol.Message) time.Duration {
	own := int64(0)
	switch m := m.(type) {
	case *protocol.ControlRequest, *protocol.ChatAsk:
		return 0
	case *protocol.Wait:
		own = m.TimeoutMs
		if own == 0 {
			own = protocol.MaxWaitMs
		}
	case *protocol.Input:
		own = max(m.TimeoutMs, m.SettleMs)
		if m.TimeoutMs == 0 {
			own = protocol.MaxWaitMs // it may wait for the user to stop typing
		}
	}
	return time.Duration(own)*time.Millisecond + grace
}

// wireID makes a request id that no two agents share, and that is the same when an agent repeats itself: the proxy knows
// by it what it has typed already.
func wireID(agentID, id string) string {
	if whole := agentID + ":" + id; len(whole) <= protocol.MaxID {
		return whole
	}
	sum := sha256.Sum256([]byte(id))
	return agentID + ":" + hex.EncodeToString(sum[:16])
}

// ownID is the id that the agent used, as far as the wire's id tells it.
func ownID(agentID, wireID string) string {
	if id, ok := strings.CutPrefix(wireID, agentID+":"); ok {
		return id
	}
	return ""
}

// addressed is a copy of m for the proxy: under the wire's id, and with who sends it as the gateway knows it, whatever
// the message said.
func (p *Peer) addressed(m protocol.Message, wireID string) protocol.Message {
	out := protocol.Forward(m, wireID, p.member.ID)
	switch out := out.(type) {
	case *protocol.ControlRequest:
		out.AgentName, out.TokenID = p.name(out.AgentName), p.member.TokenID
	case *protocol.ControlRelease:
		out.Gone = false
	case *protocol.ControlDecide:
		out.By = p.name(out.By)
	case *protocol.Close:
		if p.member.Role != RoleAgent {
			out.AgentID = ""
		}
	case *protocol.ProxyStart:
		out.AgentName, out.HostKey = p.name(out.AgentName), ""
	case *protocol.Note:
		return p.note(out, wireID)
	case *protocol.ChatSend:
		out.AgentID, out.By = p.speaker(out.By)
	case *protocol.ChatImage:
		out.AgentID, out.By = p.speaker(out.By)
	case *protocol.ChatAnswer:
		_, out.By = p.speaker(out.By)
	case *protocol.ChatInterrupt:
		out.AgentID, out.By = p.speaker(out.By)
	case *protocol.ChatAsk:
		out.AgentName, out.TokenID = p.name(out.AgentName), p.member.TokenID
	}
	return out
}

// name is what people read: the name that the gateway knows, else the one that the participant gives itself.
func (p *Peer) name(claimed string) string {
	if p.member.Named {
		return p.member.Name
	}
	return cmp.Or(claimed, p.member.Name, p.member.ID)
}

func (q *pending) add(p *Peer, id string) {
	q.waiting = append(q.waiting, waiter{p, id})
	p.mine[q] = struct{}{}
}

// answer gives m to all who wait, and is the end of the request.
func (q *pending) answer(m protocol.Message) {
	q.remove()
	if refusal, ok := m.(*protocol.Error); ok && len(q.waiting) > 0 {
		q.owner.hub.logFailure(q.waiting[0].peer, q.request, refusal.Code)
	}
	for _, w := range q.waiting {
		w.peer.reply(protocol.WithRequestID(m, w.id))
		delete(w.peer.mine, q)
	}
}

func (q *pending) fail(code protocol.Code, say string) {
	q.answer(&protocol.Error{Code: code, Message: say})
}

// drop takes out a participant that left, or that gave the request up, as cancel says. A proxy's answer that nobody waits for is passed over.
func (q *pending) drop(p *Peer, cancel *protocol.Cancel) {
	q.waiting = slices.DeleteFunc(q.waiting, func(w waiter) bool { return w.peer == p })
	delete(p.mine, q)
	if len(q.waiting) > 0 {
		return
	}
	q.remove()
	if q.cancels(cancel) && q.session.owner != nil {
		q.sendCancel(cancel)
	}
}

// sendCancel tells the proxy that the answer is no longer waited for, as cancel says. An older proxy knows no withdrawal, and what an agent
// gives back.
func (q *pending) sendCancel(cancel *protocol.Cancel) {
	out := *cancel
	out.RequestID, out.SessionID = q.wireID, q.session.key.id
	q.owner.out.put(&out)
	if ask, ok := q.request.(*protocol.ControlRequest); ok && cancel.Withdraw && !q.session.withdraws {
		q.owner.out.put(&protocol.ControlRelease{RequestID: q.owner.hub.nextID(), SessionID: out.SessionID, AgentID: ask.AgentID})
	}
}

// cancel takes a participant out of those who wait for an answer.
func (h *Hub) cancel(p *Peer, m *protocol.Cancel) {
	s := h.find(p, m)
	if s == nil {
		return
	}
	owner := cmp.Or(s.owner, s.away)
	if owner == nil {
		return // who waited has been told
	}
	id := wireID(p.member.ID, m.RequestID)
	switch q := owner.asked[id]; {
	case q == nil: // it was answered meanwhile, and perhaps nobody heard that: the proxy knows what it was
		owner.out.put(&protocol.Cancel{RequestID: id, SessionID: m.SessionID, Withdraw: m.Withdraw})
	case q.session == s && q.cancels(m):
		q.drop(p, &protocol.Cancel{Withdraw: m.Withdraw})
	}
}

// cancels reports whether the proxy has to know of a cancel of this request: it ends a wait, keeps the user's answer to a request for
// control, and closes what an agent asked in a conversation; what was given up is typed, or said, no further.
func (q *pending) cancels(m *protocol.Cancel) bool {
	switch q.request.(type) {
	case *protocol.Wait, *protocol.ControlRequest, *protocol.ChatAsk:
		return true
	case *protocol.Input:
		return m.Withdraw
	case *protocol.Note:
		return m.Withdraw && !m.Gone // said without waiting for the answer, it is said all the same
	}
	return false
}

func (q *pending) remove() {
	q.stop()
	delete(q.owner.asked, q.wireID)
	q.owner.hub.forgetStart(q)
}

func (q *pending) stop() {
	if q.timer != nil {
		q.timer.Stop()
	}
}
