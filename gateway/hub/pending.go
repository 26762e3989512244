package hub

import (
	"slices"
	"time"

	"terminalproxy/protocol"
)

func (q *pending) addWaiter(p *Peer, id string) {
	q.waiting = append(q.waiting, waiter{p, id})
	p.ownRequests[q] = struct{}{}
}

// send forwards a request to its owner. A wait that is sent again keeps its first deadline.
func (q *pending) send() {
	m := q.request
	if wait, ok := m.(*protocol.Wait); ok && !q.sent.IsZero() && wait.TimeoutMs > 0 {
		rest := *wait
		rest.TimeoutMs = max(1, wait.TimeoutMs-time.Since(q.sent).Milliseconds())
		m = &rest
	}
	if q.sent.IsZero() {
		q.sent = time.Now()
	}
	q.startTimeout(timeLimit(m), probeAfter)
	q.owner.out.put(m)
}

// moveTo makes another participant answer the request. No timer runs until it is sent.
func (q *pending) moveTo(to *Peer) {
	q.stopTimer()
	delete(q.owner.unanswered, q.wireID)
	q.owner = to
	to.unanswered[q.wireID] = q
}

// startTimeout fails a request that is unanswered after limit (0: without limit), or whose proxy is
// stopped. It checks for a stopped proxy after a delay, then at growing intervals. The caller holds
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
			q.failWaiters(protocol.CodeTimeout, late+UncertaintyText(q.request))
		}
	})
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

// isOpen reports whether the request is unanswered.
func (q *pending) isOpen() bool { return !q.owner.hub.closed && q.owner.unanswered[q.wireID] == q }

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

// answerWaiters sends m to all waiters and ends the request.
func (q *pending) answerWaiters(m protocol.Message) {
	q.unregisterRequest(m)
	if refusal, ok := m.(*protocol.Error); ok && len(q.waiting) > 0 {
		q.waiting[0].peer.logFailure(q.request, refusal.Code)
	}
	for _, w := range q.waiting {
		w.peer.sendReply(protocol.WithRequestID(m, w.id))
		delete(w.peer.ownRequests, q)
	}
}

func (q *pending) failWaiters(code protocol.Code, message string) {
	q.answerWaiters(&protocol.Error{Code: code, Message: message})
}

// dropWaiter removes a participant that left or cancelled. The proxy's later answer is ignored.
func (q *pending) dropWaiter(p *Peer, cancel *protocol.Cancel) {
	q.waiting = slices.DeleteFunc(q.waiting, func(w waiter) bool { return w.peer == p })
	delete(p.ownRequests, q)
	if len(q.waiting) > 0 {
		return
	}
	q.unregisterRequest(nil)
	if q.mustTellProxy(cancel) && q.session.owner != nil {
		q.sendCancel(cancel)
	}
}

// mustTellProxy reports whether the proxy needs a cancel. A cancel ends a wait, keeps the user's
// answer to a request for control, and closes an agent's question in a conversation. After it, the
// proxy stops typing a withdrawn input and does not show a withdrawn note.
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

// sendCancel informs the proxy that the answer is not needed.
func (q *pending) sendCancel(cancel *protocol.Cancel) {
	out := *cancel
	out.RequestID, out.SessionID = q.wireID, q.session.key.id
	q.owner.out.put(&out)
}

// unregisterRequest forgets the request. answer is the proxy's, or nil.
func (q *pending) unregisterRequest(answer protocol.Message) {
	q.stopTimer()
	delete(q.owner.unanswered, q.wireID)
	q.endSecret(answer)
	q.owner.hub.hosts.forgetStart(q)
}

func (q *pending) stopTimer() {
	if q.timer != nil {
		q.timer.Stop()
	}
}
