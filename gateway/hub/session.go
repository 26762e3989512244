package hub

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// session is the hub's record of one session. Guarded by Hub.mu. The messages that it points to
// never change, because outboxes may hold them.
type session struct {
	key    key
	place  Place                // in the lists
	info   protocol.SessionInfo // State is one of the protocol's three
	owner  *Peer                // nil unless running
	away   *Peer                // stands in for an owner that may reconnect, or nil
	resume [sha256.Size]byte    // of the resume key
	locked bool                 // it has a resume key

	newest   *protocol.Snapshot // complete, never a delta; nil before the first
	newestAt time.Time          // when newest came
	synced   bool               // the next snapshot may be a delta to newest
	current  datedCopy

	screenCharge charge // of newest, in Hub.heldScreens

	keyboard     protocol.Keyboard
	blackout     *protocol.Hidden // what the person hides, as of blackoutAt, or nil
	blackoutAt   time.Time
	askers       map[string]bool // ids of the agents that asked for control or wrote to the user
	subs         following[subscription]
	watchers     following[watcher]
	attached     map[*Peer]*protocol.Attach // people at it
	gallery      gallery
	hasChat      bool // it has a conversation with a coding agent
	takesAsks    bool // other agents may ask its people
	conversation conversation
	starter      string         // id of the agent that started it, or ""
	past         *protocol.Past // of an ended session, or nil
	ended        time.Time      // time of the end
	timer        delayed        // forgets a lost or ended session
}

// openSession registers a session, or takes it over.
func (h *Hub) openSession(p *Peer, m *protocol.SessionOpen) {
	k := key{p.member.Namespace, m.SessionID}
	s := h.sessions[k]
	// Error has no field for the id of another message, so the request id carries it back.
	refuse := func(code protocol.Code, message string) {
		p.out.put(&protocol.Error{RequestID: m.ID, Code: code, Message: message})
	}
	if (s == nil || s.owner != p) && len(p.owns) >= maxPerProxy {
		const busy = "this connection already has %d sessions, the limit for one: " +
			"open another connection"
		refuse(protocol.CodeBusy, fmt.Sprintf(busy, maxPerProxy))
		return
	}
	if s == nil {
		if len(h.sessions) >= h.sessionLimit {
			message := fmt.Sprintf("this gateway already has %d sessions", h.sessionLimit)
			refuse(protocol.CodeBusy, message)
			return
		}
		s = newSession(k, h.heldTalk)
		h.sessions[k] = s
	} else if s.owner != p && !s.matchesResumeKey(m.ResumeKey) {
		message := fmt.Sprintf("session %q already exists, with another resume key", m.SessionID)
		refuse(protocol.CodeForbidden, message)
		return
	}
	if s.owner != nil && s.owner != p {
		h.detachProxy(s)
	}
	h.log.Info(
		"session opened", "session", k.id, p.logAttr(), "again", s.info.SessionID != "",
		"headless", m.Headless,
	)
	h.dropEnded(s, false)
	s.timer.stop()
	s.setProxy(p)
	s.synced, s.past = false, nil
	s.resume, s.locked = sha256.Sum256([]byte(m.ResumeKey)), m.ResumeKey != ""
	s.hasChat, s.takesAsks, s.starter = m.Chat, m.Asks, m.AgentID
	if s.info.StartedAt != m.StartedAt {
		s.conversation.reset()
	}
	s.info = infoOf(m)
	h.lists.placeSession(s)
	s.sendToProxy(s.subscribedState())
	s.watchers.resume()
	s.sendAttached()
	s.gallery.base = nil
	s.gallery.resume()
	s.conversation.resume()
	s.resendHeld()
	h.hosts.answerStart(k)
	h.directory.AnnounceSession(k.namespace, k.id, true)
}

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
	s.gallery.following = newFollowing[viewer](s, s.gallery.request, s.gallery.dropRows)
	t := &s.conversation
	t.following, t.charged = newFollowing[listener](s, t.request, t.dropRecords), heldTalk
	return s
}

// sendToProxy sends m to the session's proxy, if it is connected. m may be nil.
func (s *session) sendToProxy(m protocol.Message) {
	if s.owner != nil && m != nil {
		s.owner.out.put(m)
	}
}

// setProxy makes a proxy's connection the session's owner; nil removes it.
func (s *session) setProxy(p *Peer) {
	if s.owner != nil {
		delete(s.owner.owns, s)
	}
	if s.owner = p; p != nil {
		p.owns[s] = struct{}{}
	}
}

// matchesResumeKey compares with the session's resume key. A session without one cannot be taken
// over.
func (s *session) matchesResumeKey(resumeKey string) bool {
	sum := sha256.Sum256([]byte(resumeKey))
	return s.locked && subtle.ConstantTimeCompare(sum[:], s.resume[:]) == 1
}

// infoOf returns the public part of a session: without the resume key, and bounded in size.
func infoOf(m *protocol.SessionOpen) protocol.SessionInfo {
	const most = 2048
	args, room := make([]string, 0, len(m.Args)), most
	for _, a := range m.Args {
		if room -= len(a); room < 0 {
			args = append(args, "…")
			break
		}
		args = append(args, a)
	}
	return protocol.SessionInfo{
		SessionID: m.SessionID, Name: m.Name, Command: shorten(m.Command, most), Args: args,
		Cwd:  shorten(m.Cwd, most),
		Cols: m.Cols, Rows: m.Rows, Pid: m.Pid, StartedAt: m.StartedAt,
		ParentSessionID: m.ParentSessionID,
		Headless:        m.Headless, State: protocol.StateRunning,
	}
}

func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// storeSnapshot stores a snapshot and offers it to the subscribers.
func (h *Hub) storeSnapshot(s *session, m *protocol.Snapshot) {
	var last *protocol.Snapshot
	if s.synced {
		last = s.newest
	}
	full, ok := m.Complete(last)
	if !ok {
		// The proxy sends all rows after every open, so this is its fault. It is told once, and
		// reads still reach it.
		if s.synced {
			s.owner.out.put(&protocol.Error{
				Code: protocol.CodeBadMessage, Field: "since",
				Message: fmt.Sprintf(
					"the snapshot of %s with revision %d is not the newest here: send all rows",
					m.SessionID, m.Since,
				),
			})
		}
		s.synced = false
		return
	}
	// With a screen, full is a copy. Without one it is the proxy's own message, which may be sent
	// again and must not be shared.
	if full.Screen != nil {
		full.Share(s.newest.WithRows(full))
	}
	if !h.heldScreens.chargeSnapshot(s, full) {
		h.log.Warn("a proxy is cut off", s.owner.logAttr(), "session", s.key.id, "cause", ErrHeavy)
		s.owner.out.end(ErrHeavy)
		return
	}
	s.newest, s.newestAt, s.synced = full, time.Now(), true
	s.info.Seq = full.Seq
	if full.Screen != nil {
		s.info.Title, s.info.Progress, s.info.Alt = full.Screen.Title, full.Screen.Progress, full.Screen.Alt
		s.info.Cols, s.info.Rows = full.Screen.Cols, full.Screen.Rows
	}
	s.info.Foreground, s.info.Directory = full.Foreground, full.Directory
	s.info.UsedAt = max(s.info.UsedAt, full.UsedAt)
	s.info.Muted, s.info.Kept, s.info.DetachedAt = full.Muted, full.Kept, full.DetachedAt
	s.setHidden(full.Blackout)
	if full.Keyboard != nil {
		s.keyboard = *full.Keyboard
	}
	for _, sub := range s.subs.followers {
		sub.offerNewest()
	}
}

// idleMs returns the time since the last visible change, in milliseconds.
func (s *session) idleMs() int64 {
	if s.newest == nil {
		return 0
	}
	return s.newest.IdleMs + time.Since(s.newestAt).Milliseconds()
}

// lastFrame returns the last screen of an ended session.
func (s *session) lastFrame() *protocol.Frame {
	f := &protocol.Frame{
		Seq: s.info.Seq, Keyboard: s.keyboard, IdleMs: s.idleMs(), Settled: true,
		Activity: &protocol.Activity{
			State: protocol.StateExited, Evidence: []string{"exit"}, SinceMs: s.idleMs(),
			ExitCode: &s.info.ExitCode, Signal: s.info.Signal,
		},
		Blackout: s.currentBlackout(),
	}
	if s.newest != nil && s.newest.Screen != nil {
		f.Screen, f.Redactions, f.HiddenText = *s.newest.Screen, s.newest.Redactions, s.newest.HiddenText
		if s.past != nil {
			f.Line, f.Screen.Scrollback = s.past.NextLine, int(s.past.NextLine-s.past.Oldest()) //nolint:gosec // rows of a message
		}
		return f
	}
	f.Screen = protocol.Screen{
		Cols: s.info.Cols, Rows: s.info.Rows, Lines: make([]string, s.info.Rows),
	}
	return f
}

// keepLost keeps a session for a while after its proxy's connection ended. The proxy returns with
// the resume key.
func (h *Hub) keepLost(s *session) {
	h.detachProxy(s)
	s.info.State = protocol.StateLost
	h.lists.markStale(s.key)
	h.log.Info("session lost its proxy", "session", s.key.id)
	h.afterUnchanged(s, lostFor, func() {
		h.log.Warn("session is gone: its proxy did not come back", "session", s.key.id)
		lost := protocol.Error{
			Code:    protocol.CodeUnavailable,
			Message: "the proxy of session " + s.key.id + " did not come back",
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

// detachProxy takes a session from its proxy's connection. A grant never outlives the link. Its
// holder is told here, because the proxy may not be able to.
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
	for _, q := range s.owner.asked {
		switch {
		case q.session != s:
		case q.resent && q.uncertaintyText() != "":
			q.failWaiters(protocol.CodeUnavailable, s.exitText()+q.uncertaintyText())
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

// exitText says how the program ended.
func (s *session) exitText() string {
	how := fmt.Sprintf("ended with exit status %d", s.info.ExitCode)
	if s.info.Signal != "" {
		how = "was ended by " + s.info.Signal
	}
	return fmt.Sprintf("the program of session %s %s; what it printed can be read", s.key.id, how)
}

// dropEnded removes a session from the ended ones, and forgets it if told to.
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
	if s.away != nil {
		for _, q := range s.away.asked {
			q.stopTimer()
		}
	}
	for p := range s.subs.followers {
		s.removeSubscription(p)
	}
	for p := range s.gallery.followers {
		s.removeViewer(p)
	}
	for p := range s.conversation.followers {
		s.conversation.remove(p)
	}
}

// findOrFail returns the session that m names. If the participant's namespace has no such session,
// it answers m with an error and returns nil.
func (h *Hub) findOrFail(p *Peer, m protocol.Message) *session {
	id := protocol.SessionID(m)
	s := h.sessions[key{p.member.Namespace, id}]
	if s == nil {
		p.failUnknown(m)
	}
	return s
}

// unknownSessionText says that a session is unknown and names the known ones. It does not reveal
// other namespaces.
func (p *Peer) unknownSessionText(id string) string {
	h := p.hub
	const most = 10
	var ids []string
	for place := range h.lists.placesAfter(listOf(p), beforeAll) {
		if p.member.Rights.CanSee(place.SessionID) {
			ids = append(ids, place.SessionID)
		}
	}
	if lacks := h.lists.incompleteOf(listOf(p)); lacks != nil {
		return fmt.Sprintf(
			"session %q is not known here, and may be at another gateway: %s",
			id, lacks.Words(time.Now()),
		)
	}
	switch {
	case h.predecessor != "":
		return fmt.Sprintf(
			"unknown session %q; it may be with a process that did not answer when this gateway took over: %s",
			id, h.predecessor,
		)
	case len(ids) == 0:
		return fmt.Sprintf(
			"unknown session %q, and there are no others; start one with: proxy --agent PROGRAM",
			id,
		)
	case len(ids) > most:
		return fmt.Sprintf(
			"unknown session %q; known: %s and %d more",
			id, strings.Join(ids[:most], ", "), len(ids)-most,
		)
	}
	return fmt.Sprintf("unknown session %q; known: %s", id, strings.Join(ids, ", "))
}
