package hub

import (
	"crypto/sha256"
	"fmt"
	"time"

	"terminalproxy/protocol"
)

func newSession(k key, heldTalk held) *session {
	s := &session{
		key: k, askers: make(map[string]bool), attached: make(map[*Peer]*protocol.Attach),
	}
	s.subs = newFollowing[subscription](s, s.subscribedState, s.subscribedState)
	s.watchers = newFollowing[watcher](
		s,
		func() protocol.Message { return &protocol.Watch{SessionID: k.id} },
		func() protocol.Message { return &protocol.Unwatch{SessionID: k.id} },
	)
	s.rowStream.following = newFollowing[viewer](s, s.rowStream.request, s.rowStream.dropRows)
	t := &s.conversation
	t.following, t.charged = newFollowing[listener](s, t.request, t.dropRecords), heldTalk
	return s
}

// admitSession returns the session that a proxy opens, a new one or one that it may take over. If
// it may not, admitSession sends it the reason and returns nil.
func (h *Hub) admitSession(p *Peer, m *protocol.SessionOpen) *session {
	k := key{p.member.Namespace, m.SessionID}
	s := h.sessions[k]
	// Error has no field for the id of another message, so the request id carries it back.
	refuse := func(code protocol.Code, message string) {
		p.out.put(&protocol.Error{RequestID: m.ID, Code: code, Message: message})
	}
	if (s == nil || s.owner != p) && len(p.ownSessions) >= maxPerProxy {
		const busy = "this connection already has %d sessions, the limit for one: " +
			"open another connection"
		refuse(protocol.CodeBusy, fmt.Sprintf(busy, maxPerProxy))
		return nil
	}
	if s == nil {
		if len(h.sessions) >= h.sessionLimit {
			message := fmt.Sprintf("this gateway already has %d sessions", h.sessionLimit)
			refuse(protocol.CodeBusy, message)
			return nil
		}
		s = newSession(k, h.heldTalk)
		h.sessions[k] = s
	} else if s.owner != p && !s.matchesResumeKey(m.ResumeKey) {
		message := fmt.Sprintf("session %q already exists, with another resume key", m.SessionID)
		refuse(protocol.CodeForbidden, message)
		return nil
	}
	return s
}

// openSession registers a session, or takes it over.
func (h *Hub) openSession(p *Peer, m *protocol.SessionOpen) {
	s := h.admitSession(p, m)
	if s == nil {
		return
	}
	if s.owner != nil && s.owner != p {
		h.detachProxy(s)
	}
	h.log.Info(
		"session opened", "session", s.key.id, p.logAttr(), "again", s.info.SessionID != "",
		"headless", m.Headless,
	)
	h.dropEnded(s, false)
	s.timer.stop()
	s.setProxy(p)
	s.synced, s.past = false, nil
	s.resume, s.hasResumeKey = sha256.Sum256([]byte(m.ResumeKey)), m.ResumeKey != ""
	s.hasChat, s.takesAsks, s.starter = m.Chat, m.Asks, m.AgentID
	if s.info.StartedAt != m.StartedAt {
		s.conversation.reset()
	}
	s.info = infoOf(m)
	h.lists.placeSession(s)
	s.sendToProxy(s.subscribedState())
	s.watchers.resume()
	s.sendAttached()
	s.rowStream.base = nil
	s.rowStream.resume()
	s.conversation.resume()
	s.resendHeld()
	h.hosts.answerStart(s.key)
	h.directory.AnnounceSession(s.key.namespace, s.key.id, true)
}

// keepLost keeps a session for a while after its proxy's connection ended. The proxy returns with
// the resume key.
func (h *Hub) keepLost(s *session) {
	h.detachProxy(s)
	s.info.State = protocol.StateLost
	h.lists.markStale(s.key)
	h.log.Info("session lost its proxy", "session", s.key.id)
	h.afterUnchanged(s, lostFor, func() {
		h.log.Warn("session is gone: its proxy did not reconnect", "session", s.key.id)
		lost := protocol.Error{
			Code:    protocol.CodeUnavailable,
			Message: "the proxy of session " + s.key.id + " did not reconnect",
		}
		s.endStreams(&lost)
		s.failHeld()
		h.forgetSession(s)
	})
}

// afterUnchanged calls do after a delay if the session is still in the same state.
func (h *Hub) afterUnchanged(s *session, wait time.Duration, do func()) {
	state := s.info.State
	s.timer.stop()
	s.timer.start(&h.mu, wait, func() {
		if !h.closed && h.sessions[s.key] == s && s.info.State == state {
			do()
		}
	})
}

// detachProxy takes a session from its proxy's connection. A grant ends with the connection. The
// hub informs its holder, because the proxy may be unreachable.
func (h *Hub) detachProxy(s *session) {
	s.holdForReconnect()
	if k := s.keyboard; k.Holder == protocol.HolderAgent {
		h.publishControl(
			s,
			&protocol.ControlRevoke{
				ID:        h.nextID(),
				SessionID: s.key.id,
				AgentID:   k.AgentID,
				Epoch:     k.Epoch,
				Reason:    protocol.ReasonLink,
			},
			nil,
		)
	}
	s.setProxy(nil)
	s.keyboard = protocol.Keyboard{Holder: protocol.HolderUser, Epoch: s.keyboard.Epoch}
	s.synced = false
}

// endSession keeps the last screen and the exit status of a session whose program ended.
func (h *Hub) endSession(s *session, m *protocol.SessionClose) {
	s.info.ExitCode, s.info.Signal, s.past, s.ended = m.ExitCode, m.Signal, m.Past, endedAt(m)
	h.log.Info("session ended", "session", s.key.id, "exitCode", m.ExitCode)
	last := *m
	last.Past, last.EndedAt = nil, 0 // only a request for the history gets it
	m = &last
	for _, q := range s.owner.unanswered {
		switch {
		case q.session != s:
		case q.resent && UncertaintyText(q.request) != "":
			q.failWaiters(protocol.CodeUnavailable, s.exitText()+UncertaintyText(q.request))
		default:
			q.answerWaiters(h.past.replyTo(s, q.request))
		}
	}
	s.endStreams(m)
	clear(s.askers)
	s.setProxy(nil)
	s.keyboard = protocol.Keyboard{Holder: protocol.HolderUser, Epoch: s.keyboard.Epoch}
	s.info.State = protocol.StateExited
	for _, oldest := range h.past.addEnded(s) {
		h.forgetSession(oldest)
	}
	h.afterUnchanged(s, tombstoneFor-time.Since(s.ended), func() { h.dropEnded(s, true) })
}

// endStreams sends the followers of each stream the data they are missing, and then the last
// message, once to each participant.
func (s *session) endStreams(last protocol.Message) {
	for p, sub := range s.subs.followers {
		sub.flush()
		p.out.put(protocol.WithRequestID(last, sub.id))
	}
	s.endWatch(last)
	s.endViews(last)
	s.conversation.endChat(last)
	clear(s.subs.followers)
}

// dropEnded removes a session from the ended ones. If forget is set, it also forgets the session.
func (h *Hub) dropEnded(s *session, forget bool) {
	h.past.removeEnded(s)
	if forget {
		h.forgetSession(s)
	}
}

func (h *Hub) forgetSession(s *session) {
	s.stopTimers()
	h.heldScreens.setCharge(&s.screenCharge, "", 0)
	s.conversation.reset()
	delete(h.sessions, s.key)
	h.lists.removePlace(s)
	h.directory.AnnounceSession(s.key.namespace, s.key.id, false)
	h.lists.markStale(s.key)
}

func (s *session) stopTimers() {
	s.timer.stop()
	if s.standIn != nil {
		for _, q := range s.standIn.unanswered {
			q.stopTimer()
		}
	}
	for p := range s.subs.followers {
		s.removeSubscription(p)
	}
	for p := range s.rowStream.followers {
		s.removeViewer(p)
	}
	for p := range s.conversation.followers {
		s.conversation.remove(p)
	}
}
