package hub

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// session is what the hub knows of one session. Everything in it belongs to the hub's lock; messages it points to are
// never changed, since they may be on their way to others.
type session struct {
	key    key
	info   protocol.SessionInfo // State is one of the protocol's three
	owner  *Peer                // nil unless running
	away   *Peer                // stands in for the owner that is expected back, else nil
	resume [sha256.Size]byte    // of the resume key
	locked bool                 // there was a resume key
	// presence says that its proxy wants to know whether agents are there.
	presence bool
	// withdraws says that its proxy knows Withdraw of a [protocol.Cancel].
	withdraws bool

	newest *protocol.Snapshot // complete: never a difference; nil before the first
	taken  time.Time          // when newest came
	synced bool               // a difference to newest may come
	payer  string             // token that held is charged to
	held   int                // bytes of newest, where its proxy has a token
	asNow  asNow

	keyboard protocol.Keyboard
	blackout *protocol.Hidden // what is kept from agents, as it was at since; nil for nothing
	since    time.Time
	askers   map[string]bool // ids of the agents that asked for control, or wrote to the user
	subs     map[*Peer]*subscription
	wonders  bool // its proxy wants to know whether anybody subscribes
	watchers map[*Peer]*watcher
	attached map[*Peer]*protocol.Attach // people in front of it
	views    bool                       // its proxy sends rows to those who look
	keys     bool                       // its proxy takes keys of owners elsewhere
	gallery  gallery
	chats    bool // a coding agent talks there
	outside  bool // other agents may put requests to its people
	talk     talk
	starter  string         // id of the agent that started it, "" for none
	past     *protocol.Past // of an ended session; nil for none
	ended    time.Time      // when that was
	timer    *time.Timer    // forgets a lost or ended session
}

// open registers a session, or takes it over.
func (h *Hub) open(p *Peer, m *protocol.SessionOpen) {
	k := key{p.member.Namespace, m.SessionID}
	s := h.sessions[k]
	// Error has no field for the id of another message; the request id carries it back to who sent the open.
	refuse := func(code protocol.Code, say string) {
		p.out.put(&protocol.Error{RequestID: m.ID, Code: code, Message: say})
	}
	if (s == nil || s.owner != p) && len(p.owns) >= maxPerProxy {
		refuse(protocol.CodeBusy, fmt.Sprintf("this connection already has %d sessions, the limit for one: open another connection", maxPerProxy))
		return
	}
	if s == nil {
		if len(h.sessions) >= h.most {
			refuse(protocol.CodeBusy, fmt.Sprintf("this gateway already has %d sessions", h.most))
			return
		}
		s = &session{
			key: k, askers: make(map[string]bool), subs: make(map[*Peer]*subscription),
			watchers: make(map[*Peer]*watcher), attached: make(map[*Peer]*protocol.Attach),
			gallery: gallery{viewers: make(map[*Peer]*viewer)}, talk: talk{listeners: make(map[*Peer]*listener)},
		}
		h.sessions[k] = s
	} else if s.owner != p && !s.unlocks(m.ResumeKey) {
		refuse(protocol.CodeForbidden, fmt.Sprintf("session %q already exists, with another resume key", m.SessionID))
		return
	}
	if s.owner != nil && s.owner != p {
		h.orphan(s)
	}
	h.log.Info("session opened", "session", k.id, p.logged(), "again", s.info.SessionID != "", "headless", m.Headless)
	h.bury(s, false)
	s.stopTimer()
	s.own(p)
	s.synced, s.past = false, nil
	s.resume, s.locked = sha256.Sum256([]byte(m.ResumeKey)), m.ResumeKey != ""
	s.presence, s.views, s.keys, s.chats, s.outside, s.starter = m.Presence, m.View, m.Keys, m.Chat, m.Asks, m.AgentID
	if s.info.StartedAt != m.StartedAt {
		s.talk.begin()
	}
	s.wonders, s.withdraws = m.Subscriptions, m.Withdraws
	s.info = infoOf(m)
	s.tellSubscribed()
	s.rewatch()
	s.reattach()
	s.gallery.base = nil
	s.review()
	s.rehear()
	h.askAgain(s)
	h.opened(k)
	h.directory.Announce(k.namespace, k.id, true)
}

// own makes a proxy's connection the session's, nil none.
func (s *session) own(p *Peer) {
	if s.owner != nil {
		delete(s.owner.owns, s)
	}
	if s.owner = p; p != nil {
		p.owns[s] = struct{}{}
	}
}

// unlocks reports whether resumeKey is the session's. A session without one cannot be taken over.
func (s *session) unlocks(resumeKey string) bool {
	sum := sha256.Sum256([]byte(resumeKey))
	return s.locked && subtle.ConstantTimeCompare(sum[:], s.resume[:]) == 1
}

// infoOf is what others may know of a session: not the resume key, and nothing without bound.
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
		SessionID: m.SessionID, Name: m.Name, Command: shorten(m.Command, most), Args: args, Cwd: shorten(m.Cwd, most),
		Cols: m.Cols, Rows: m.Rows, Pid: m.Pid, StartedAt: m.StartedAt, ParentSessionID: m.ParentSessionID,
		Headless: m.Headless, Parts: m.Parts, Mutes: m.Mutes, State: protocol.StateRunning,
	}
}

func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// snapshot stores a snapshot and offers it to the subscribers.
func (h *Hub) snapshot(s *session, m *protocol.Snapshot) {
	var last *protocol.Snapshot
	if s.synced {
		last = s.newest
	}
	full, ok := m.Complete(last)
	if !ok {
		// The proxy sends all rows after every open, so this is its mistake; it is told once, and reads still reach it.
		if s.synced {
			s.owner.out.put(&protocol.Error{
				Code: protocol.CodeBadMessage, Field: "since",
				Message: fmt.Sprintf("the snapshot of %s with revision %d is not the newest here: send all rows", m.SessionID, m.Since),
			})
		}
		s.synced = false
		return
	}
	if full.Screen != nil { // then it is no longer what the proxy may send once more
		full.Share(s.newest.WithRows(full))
	}
	if !h.held.chargeSnapshot(s, full) {
		h.log.Warn("a proxy is cut off", s.owner.logged(), "session", s.key.id, "cause", ErrHeavy)
		s.owner.out.end(ErrHeavy)
		return
	}
	s.newest, s.taken, s.synced = full, time.Now(), true
	s.info.Seq = full.Seq
	if full.Screen != nil {
		s.info.Title, s.info.Progress, s.info.Alt = full.Screen.Title, full.Screen.Progress, full.Screen.Alt
		s.info.Cols, s.info.Rows = full.Screen.Cols, full.Screen.Rows
	}
	s.info.Foreground, s.info.Directory, s.info.UsedAt = full.Foreground, full.Directory, max(s.info.UsedAt, full.UsedAt)
	s.info.Muted, s.info.Kept, s.info.DetachedAt = full.Muted, full.Kept, full.DetachedAt
	s.hide(full.Blackout)
	if full.Keyboard != nil {
		s.keyboard = *full.Keyboard
	}
	for _, sub := range s.subs {
		sub.offer(h)
	}
}

// idle is the time since the last visible change in milliseconds.
func (s *session) idle() int64 {
	if s.newest == nil {
		return 0
	}
	return s.newest.IdleMs + time.Since(s.taken).Milliseconds()
}

// frame is the last screen of an ended session.
func (s *session) frame() *protocol.Frame {
	f := &protocol.Frame{
		Seq: s.info.Seq, Keyboard: s.keyboard, IdleMs: s.idle(), Settled: true,
		Activity: &protocol.Activity{
			State: protocol.StateExited, Evidence: []string{"exit"}, SinceMs: s.idle(), ExitCode: &s.info.ExitCode, Signal: s.info.Signal,
		},
		Blackout: s.hidden(),
	}
	if s.newest != nil && s.newest.Screen != nil {
		f.Screen, f.Redactions, f.HiddenText = *s.newest.Screen, s.newest.Redactions, s.newest.HiddenText
		if s.past != nil {
			f.Line, f.Screen.Scrollback = s.past.NextLine, int(s.past.NextLine-s.past.Oldest()) //nolint:gosec // rows of a message
		}
		return f
	}
	f.Screen = protocol.Screen{Cols: s.info.Cols, Rows: s.info.Rows, Lines: make([]string, s.info.Rows)}
	return f
}

// lose keeps a session for a while after its proxy's connection ended; the proxy comes back with the resume key.
func (h *Hub) lose(s *session) {
	h.orphan(s)
	s.info.State = protocol.StateLost
	h.stirred(s.key)
	h.log.Info("session lost its proxy", "session", s.key.id)
	h.later(s, lostFor, func() {
		h.log.Warn("session is gone: its proxy did not come back", "session", s.key.id)
		lost := protocol.Error{Code: protocol.CodeUnavailable, Message: "the proxy of session " + s.key.id + " did not come back"}
		s.endWatch(&lost)
		s.endView(&lost, s.subs)
		s.endTalk(&lost, s.subs)
		h.stayedAway(s)
		for p, sub := range s.subs {
			p.out.put(protocol.WithRequestID(&lost, sub.id))
		}
		h.forget(s)
	})
}

// later has something done about a session that is in the same state after a while.
func (h *Hub) later(s *session, wait time.Duration, do func()) {
	state := s.info.State
	s.timer = time.AfterFunc(wait, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if !h.closed && h.sessions[s.key] == s && s.info.State == state {
			do()
		}
	})
}

// orphan takes a session from its proxy's connection. A grant never outlives the link: whoever held one hears it here,
// since the proxy may not be able to say so.
func (h *Hub) orphan(s *session) {
	h.keep(s)
	if k := s.keyboard; k.Holder == protocol.HolderAgent {
		h.control(s, &protocol.ControlRevoke{ID: h.nextID(), SessionID: s.key.id, AgentID: k.AgentID, Epoch: k.Epoch, Reason: protocol.ReasonLink}, nil)
	}
	s.own(nil)
	s.keyboard = protocol.Keyboard{Holder: protocol.HolderUser, Epoch: s.keyboard.Epoch}
	s.synced = false
}

// end keeps the last screen and the exit status of a session whose program ended.
func (h *Hub) end(s *session, m *protocol.SessionClose) {
	s.info.ExitCode, s.info.Signal, s.past, s.ended = m.ExitCode, m.Signal, m.Past, endedAt(m)
	h.log.Info("session ended", "session", s.key.id, "exitCode", m.ExitCode)
	last := *m
	last.Past, last.EndedAt = nil, 0 // who did not ask for it is not given it
	m = &last
	for _, q := range s.owner.asked {
		switch {
		case q.session != s:
		case q.again && q.fate() != "":
			q.fail(protocol.CodeUnavailable, s.exited()+q.fate())
		default:
			q.answer(h.recalled(s, q.request))
		}
	}
	for p, sub := range s.subs {
		sub.flush()
		p.out.put(m)
	}
	s.endWatch(m)
	s.endView(m, s.subs)
	s.endTalk(m, s.subs)
	clear(s.subs)
	clear(s.askers)
	s.own(nil)
	s.keyboard = protocol.Keyboard{Holder: protocol.HolderUser, Epoch: s.keyboard.Epoch}
	s.info.State = protocol.StateExited
	h.tombstones = append(h.tombstones, s)
	h.makeRoom()
	h.endingsChanged()
	h.later(s, tombstoneFor-time.Since(s.ended), func() { h.bury(s, true) })
}

// makeRoom forgets the sessions that ended first, as many as are beyond the bounds.
func (h *Hub) makeRoom() {
	size := 0
	for _, s := range h.tombstones {
		size += s.past.Size()
	}
	for len(h.tombstones) > maxTombstones || size > maxPast {
		size -= h.tombstones[0].past.Size()
		h.bury(h.tombstones[0], true)
	}
}

// exited says how the program ended.
func (s *session) exited() string {
	how := fmt.Sprintf("ended with exit status %d", s.info.ExitCode)
	if s.info.Signal != "" {
		how = "was ended by " + s.info.Signal
	}
	return fmt.Sprintf("the program of session %s %s; what it printed can be read", s.key.id, how)
}

// closing is the same as a message.
func (h *Hub) closing(s *session) *protocol.SessionClose {
	return &protocol.SessionClose{ID: h.nextID(), SessionID: s.key.id, ExitCode: s.info.ExitCode, Signal: s.info.Signal}
}

// bury takes a session off the list of the ended ones, and forgets it if told to.
func (h *Hub) bury(s *session, forget bool) {
	h.tombstones = slices.DeleteFunc(h.tombstones, func(t *session) bool { return t == s })
	h.endingsChanged()
	if forget {
		h.forget(s)
	}
}

func (h *Hub) forget(s *session) {
	s.stopTimers()
	h.held.releaseSession(s)
	delete(h.sessions, s.key)
	h.directory.Announce(s.key.namespace, s.key.id, false)
	h.stirred(s.key)
}

func (s *session) stopTimer() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

func (s *session) stopTimers() {
	s.stopTimer()
	if s.away != nil {
		for _, q := range s.away.asked {
			q.stop()
		}
	}
	for p := range s.subs {
		s.unsubscribe(p)
	}
	for p := range s.gallery.viewers {
		s.unview(p)
	}
	for p := range s.talk.listeners {
		s.unhear(p)
	}
}

// find is the session that m is about. Where the participant sees none of that name it is told, and find is nil.
func (h *Hub) find(p *Peer, m protocol.Message) *session {
	id := protocol.SessionID(m)
	s := h.sessions[key{p.member.Namespace, id}]
	if s == nil {
		p.unknown(m)
	}
	return s
}

// missing says that a session is not there, and what is. Another namespace's session is not there either.
func (h *Hub) missing(p *Peer, id string) string {
	const most = 10
	var ids []string
	for _, info := range h.list(p) {
		ids = append(ids, info.SessionID)
	}
	if lacks := h.lacks(listOf(p)); lacks != nil {
		return fmt.Sprintf("session %q is not known here, and may be at another gateway: %s", id, lacks.Words(time.Now()))
	}
	switch {
	case h.before != "":
		return fmt.Sprintf("unknown session %q; it may be with a process that did not answer when this gateway took over: %s", id, h.before)
	case len(ids) == 0:
		return fmt.Sprintf("unknown session %q, and there are no others; start one with: proxy --agent PROGRAM", id)
	case len(ids) > most:
		return fmt.Sprintf("unknown session %q; known: %s and %d more", id, strings.Join(ids[:most], ", "), len(ids)-most)
	}
	return fmt.Sprintf("unknown session %q; known: %s", id, strings.Join(ids, ", "))
}
