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

// pending is a request that was forwarded to a proxy and is not answered yet. Guarded by Hub.mu.
type pending struct {
	owner   *Peer    // the proxy that has to answer
	session *session // nil for the start of one
	wireID  string
	number  uint64           // orders requests by age
	request protocol.Message // as forwarded
	waiting []waiter
	sent    time.Time   // time of the first send to the proxy, or zero
	resent  bool        // sent over more than one connection
	timer   *time.Timer // nil if a person decides
}

// waiter is a participant that gets the answer, under its own id. A repeated request has two.
type waiter struct {
	peer *Peer
	id   string
}

// dispatchRequest answers or forwards a request of an agent, a viewer or an owner.
func (h *Hub) dispatchRequest(p *Peer, m protocol.Message) {
	switch m := m.(type) {
	case *protocol.SessionsList:
		p.out.put(h.lists.replyTo(p, m))
	case *protocol.SessionsWatch:
		h.lists.addWatcher(p, m)
	case *protocol.SessionsSubscribe:
		h.addSubscription(p, m)
	case *protocol.Cancel:
		h.cancelRequest(p, m)
	case *protocol.ProxyStart:
		h.startProgram(p, m)
	case *protocol.Watch:
		h.watchOutput(p, m)
	case *protocol.Unwatch:
		if s := h.findOrFail(p, m); s != nil {
			s.watchers.remove(p)
		}
	case *protocol.View:
		h.viewSession(p, m)
	case *protocol.Unview:
		if s := h.findOrFail(p, m); s != nil {
			s.removeViewer(p)
		}
	case *protocol.Ack:
		h.ackRows(p, m)
	case *protocol.Detach, *protocol.ViewerInput:
		h.forwardAttached(p, m)
	case *protocol.ChatSubscribe:
		h.followChat(p, m)
	case *protocol.ChatUnsubscribe:
		if s := h.findOrFail(p, m); s != nil {
			s.conversation.remove(p)
			p.out.put(&protocol.Done{RequestID: m.RequestID})
		}
	default:
		h.routeRequest(p, m)
	}
}

// routeRequest forwards a request to the proxy that owns its session.
func (h *Hub) routeRequest(p *Peer, m protocol.Message) {
	id := protocol.SessionID(m)
	if id == "" {
		p.out.put(&protocol.Error{
			RequestID: protocol.RequestID(m),
			Code:      protocol.CodeBadMessage,
			Field:     "sessionId",
			Message:   `field "sessionId": is missing`,
		})
		return
	}
	if protocol.RequestID(m) == "" {
		p.out.put(&protocol.Error{
			Code:    protocol.CodeBadMessage,
			Field:   "requestId",
			Message: `field "requestId": is missing`,
		})
		return
	}
	s := h.findOrFail(p, m)
	switch {
	case s == nil: // findOrFail answered
	case s.info.State == protocol.StateExited:
		h.answerEnded(p, s, m)
	case s.isElsewhere(m):
		p.failRequest(m, protocol.CodeUnavailable, "session "+id+" is not of this machine")
	case s.lacksChat(m):
		p.failRequest(m, protocol.CodeNoChat, s.noChatText())
	case s.owner == nil && !isRepeatable(m):
		message := "the proxy of session " + id + " lost its connection, and may come back " +
			"within seconds: nothing was done"
		p.failRequest(m, protocol.CodeUnavailable, message)
	default:
		h.forwardRequest(p, cmp.Or(s.owner, s.away), s, m)
	}
}

func (h *Hub) answerEnded(p *Peer, s *session, m protocol.Message) {
	if h.handleEnded(p, s, m) {
		return
	}
	p.sendReply(protocol.WithRequestID(h.past.replyTo(s, m), protocol.RequestID(m)))
}

// forwardRequest forwards a request to a proxy and records the waiter. s is nil if the request
// names no session.
func (h *Hub) forwardRequest(p, owner *Peer, s *session, m protocol.Message) {
	id := protocol.RequestID(m)
	wireID := wireID(p.member.ID, id)
	request := p.attributedCopy(m, wireID)
	if q := owner.asked[wireID]; q != nil {
		// The same request again is one request. A different one under this id could not be told
		// apart.
		if q.session == s && isSameRequest(q.request, request) && len(q.waiting) < maxOpen {
			q.addWaiter(p, id)
			return
		}
		p.out.put(&protocol.Error{
			RequestID: id,
			Code:      protocol.CodeBadMessage,
			Field:     "requestId",
			Message:   `field "requestId": names another request that waits for its answer`,
		})
		return
	}
	if len(p.mine) >= maxOpen {
		message := fmt.Sprintf("%d requests are waiting for their answers already", maxOpen)
		p.failRequest(m, protocol.CodeBusy, message)
		return
	}
	p.logRequest(request)
	switch request := request.(type) {
	case *protocol.ControlRequest:
		s.addAsker(p.member.ID)
	case *protocol.Note:
		if request.AgentID != "" {
			s.addAsker(request.AgentID)
		}
	case *protocol.Attach:
		s.attached[p] = request
	}
	q := &pending{
		owner: owner, session: s, wireID: wireID, number: h.nextNumber(), request: request,
	}
	q.addWaiter(p, id)
	owner.asked[wireID] = q
	if s == nil || owner == s.owner {
		q.send()
	}
}

// isSameRequest reports whether b repeats a.
func isSameRequest(a, b protocol.Message) bool {
	if wait, ok := a.(*protocol.Wait); ok {
		again, ok := b.(*protocol.Wait)
		return ok && again.Repeats(wait)
	}
	return reflect.DeepEqual(a, b)
}

// addAsker records an agent that asked for control or wrote to the user.
func (s *session) addAsker(agentID string) {
	if len(s.askers) < maxAskers {
		s.askers[agentID] = true
	}
}

// startTimeout fails a request that is unanswered after limit (0: without limit), or whose proxy is
// stopped. It looks for a stopped proxy after a delay, then ever less often. The caller holds
// Hub.mu.
func (q *pending) startTimeout(limit, after time.Duration) {
	h, process := q.owner.hub, q.owner.member.Process
	switch {
	case process == nil && limit == 0:
		return
	case process == nil:
		after = limit
	case limit > 0:
		after = min(after, limit)
	}
	q.timer = time.AfterFunc(after, func() {
		stopped := ""
		if process != nil {
			stopped = process.StopReason() // asks the kernel, so not under the lock
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		switch {
		case !q.isOpen():
		case stopped != "":
			q.failStopped(stopped)
		case limit != after:
			q.startTimeout(max(0, limit-after), 2*after)
		case q.session == nil:
			q.failWaiters(
				protocol.CodeTimeout,
				"the host did not answer in time; it is unknown whether the program runs: look "+
					"at the list",
			)
		default:
			const late = "the session's proxy did not answer in time"
			q.failWaiters(protocol.CodeTimeout, late+q.uncertaintyText())
		}
	})
}

// uncertaintyText returns what to add to a failure if the request may still have had an effect.
func (q *pending) uncertaintyText() string {
	switch q.request.(type) {
	case *protocol.Input, *protocol.Keys:
		return typingUnknown
	case *protocol.ChatSend, *protocol.ChatAnswer, *protocol.ChatInterrupt:
		return "; it is unknown whether the coding agent heard it: look at the conversation " +
			"before you repeat it"
	}
	return ""
}

// isOpen reports whether the request is unanswered.
func (q *pending) isOpen() bool { return !q.owner.hub.closed && q.owner.asked[q.wireID] == q }

// failStopped answers for a proxy that is stopped. The proxy gets the request when it continues.
func (q *pending) failStopped(message string) {
	switch q.request.(type) {
	case *protocol.Input, *protocol.Keys:
		message = "the session's proxy, " + message +
			"; what you sent may still be typed when it resumes: read the screen before you " +
			"repeat it"
	case *protocol.ProxyStart:
		message = "the host, " + message +
			"; it is unknown whether the program will be started: look at the list"
	default:
		message = "the session's proxy, " + message
	}
	if q.mustTellProxy(&protocol.Cancel{Withdraw: true, Gone: true}) { // it gets the error
		q.sendCancel(&protocol.Cancel{Withdraw: true, Gone: true})
	}
	q.failWaiters(protocol.CodeUnavailable, message)
}

// timeLimit returns how long a proxy may take to answer; 0 is without limit, if a person decides.
func timeLimit(m protocol.Message) time.Duration {
	limit := int64(0)
	switch m := m.(type) {
	case *protocol.ControlRequest, *protocol.ChatAsk, *protocol.SecretAsk:
		return 0
	case *protocol.Wait:
		limit = m.TimeoutMs
		if limit == 0 {
			limit = protocol.MaxWaitMs
		}
	case *protocol.Input:
		limit = max(m.TimeoutMs, m.SettleMs)
		if m.TimeoutMs == 0 {
			limit = protocol.MaxWaitMs // it may wait until the user stops typing
		}
	}
	return time.Duration(limit)*time.Millisecond + grace
}

// wireID returns a request id that is unique across agents and the same if an agent repeats its
// request. By it the proxy knows what it has typed already.
func wireID(agentID, id string) string {
	if whole := agentID + ":" + id; len(whole) <= protocol.MaxID {
		return whole
	}
	sum := sha256.Sum256([]byte(id))
	return agentID + ":" + hex.EncodeToString(sum[:16])
}

// ownID returns the agent's id of a request, or "" if the wire's id does not contain it.
func ownID(agentID, wireID string) string {
	if id, ok := strings.CutPrefix(wireID, agentID+":"); ok {
		return id
	}
	return ""
}

// attributedCopy returns a copy of m for the proxy, under the wire's id. Its sender is the one that
// the gateway knows; what m claims is ignored.
func (p *Peer) attributedCopy(m protocol.Message, wireID string) protocol.Message {
	out := protocol.Forward(m, wireID, p.member.ID)
	switch out := out.(type) {
	case *protocol.ControlRequest:
		out.AgentName, out.TokenID = p.displayName(out.AgentName), p.member.TokenID
	case *protocol.ControlRelease:
		out.Gone = false
	case *protocol.ControlDecide:
		out.By = p.displayName(out.By)
	case *protocol.Close:
		if p.member.Role != RoleAgent {
			out.AgentID = ""
		}
	case *protocol.ProxyStart:
		out.AgentName, out.HostKey = p.displayName(out.AgentName), ""
	case *protocol.Note:
		return p.attributedNote(out, wireID)
	case *protocol.ChatSend:
		out.AgentID, out.By = p.speakerOf(out.By)
	case *protocol.ChatImage:
		out.AgentID, out.By = p.speakerOf(out.By)
	case *protocol.ChatAnswer:
		_, out.By = p.speakerOf(out.By)
	case *protocol.ChatInterrupt:
		out.AgentID, out.By = p.speakerOf(out.By)
	case *protocol.ChatAsk:
		out.AgentName, out.TokenID = p.displayName(out.AgentName), p.member.TokenID
	}
	return out
}

// displayName returns the name for people: the one that the gateway knows, else the claimed one.
func (p *Peer) displayName(claimed string) string {
	if p.member.Named {
		return p.member.Name
	}
	return cmp.Or(claimed, p.member.Name, p.member.ID)
}

func (q *pending) addWaiter(p *Peer, id string) {
	q.waiting = append(q.waiting, waiter{p, id})
	p.mine[q] = struct{}{}
}

// answerWaiters sends m to all waiters and ends the request.
func (q *pending) answerWaiters(m protocol.Message) {
	q.unregisterRequest()
	if refusal, ok := m.(*protocol.Error); ok && len(q.waiting) > 0 {
		q.waiting[0].peer.logFailure(q.request, refusal.Code)
	}
	for _, w := range q.waiting {
		w.peer.sendReply(protocol.WithRequestID(m, w.id))
		delete(w.peer.mine, q)
	}
}

func (q *pending) failWaiters(code protocol.Code, message string) {
	q.answerWaiters(&protocol.Error{Code: code, Message: message})
}

// dropWaiter removes a participant that left or cancelled. The proxy's later answer is ignored.
func (q *pending) dropWaiter(p *Peer, cancel *protocol.Cancel) {
	q.waiting = slices.DeleteFunc(q.waiting, func(w waiter) bool { return w.peer == p })
	delete(p.mine, q)
	if len(q.waiting) > 0 {
		return
	}
	q.unregisterRequest()
	if q.mustTellProxy(cancel) && q.session.owner != nil {
		q.sendCancel(cancel)
	}
}

// sendCancel tells the proxy that no answer is awaited.
func (q *pending) sendCancel(cancel *protocol.Cancel) {
	out := *cancel
	out.RequestID, out.SessionID = q.wireID, q.session.key.id
	q.owner.out.put(&out)
}

// cancelRequest removes a participant from the waiters of a request.
func (h *Hub) cancelRequest(p *Peer, m *protocol.Cancel) {
	s := h.findOrFail(p, m)
	if s == nil {
		return
	}
	owner := cmp.Or(s.owner, s.away)
	if owner == nil {
		return // failHeld answered
	}
	id := wireID(p.member.ID, m.RequestID)
	switch q := owner.asked[id]; {
	case q == nil: // answered meanwhile, and the answer may be lost: the proxy knows it
		owner.out.put(&protocol.Cancel{RequestID: id, SessionID: m.SessionID, Withdraw: m.Withdraw})
	case q.session == s && q.mustTellProxy(m):
		q.dropWaiter(p, &protocol.Cancel{Withdraw: m.Withdraw})
	}
}

// mustTellProxy reports whether the proxy needs to know of a cancel. A cancel ends a wait, keeps
// the user's answer to a request for control, and closes an agent's question in a conversation. A
// withdrawn input or note is typed, or shown, no further.
func (q *pending) mustTellProxy(m *protocol.Cancel) bool {
	switch q.request.(type) {
	case *protocol.Wait, *protocol.ControlRequest, *protocol.ChatAsk, *protocol.SecretAsk:
		return true
	case *protocol.Input:
		return m.Withdraw
	case *protocol.Note:
		return m.Withdraw && !m.Gone // a note that does not wait for the answer is shown even so
	}
	return false
}

func (q *pending) unregisterRequest() {
	q.stopTimer()
	delete(q.owner.asked, q.wireID)
	q.owner.hub.hosts.forgetStart(q)
}

func (q *pending) stopTimer() {
	if q.timer != nil {
		q.timer.Stop()
	}
}
