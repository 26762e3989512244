// Package hub is the switchboard between proxies and everyone else. It keeps the sessions, the
// newest snapshot of each and the participants, and forwards every request to the proxy that owns
// the session. It decides nothing about input and keeps only what it may forget. It knows neither
// HTTP nor WebSocket: a transport calls Join, Handle, Next and Leave.
//
// All state has one lock. No foreign code runs under it: messages go into an outbox of the hub,
// from which the participant's transport fetches them at its own pace. So no participant can make
// the hub wait, and each gets its messages in the order of the events.
package hub

import (
	"cmp"
	"crypto/rand"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"terminalproxy/gateway/access/rights"
	"terminalproxy/protocol"
)

// Bounds of memory and time.
const (
	maxSessions   = 1024 // unless LimitSessions was called
	maxPerProxy   = 64   // running sessions of one connection
	maxTombstones = 256
	maxPast       = 32 << 20 // bytes of history of all ended sessions together
	maxOpen       = 64       // unanswered requests of one participant
	maxAskers     = 256
	lostFor       = 5 * time.Second  // how long a session without its proxy is kept
	tombstoneFor  = 30 * time.Minute // how long an ended session can be read
	lookAfter     = 3 * time.Second  // probe a proxy that has been silent this long
	grace         = 10 * time.Second // added to the time limit of a request
)

// The reasons for which a participant's messages end; see [Peer.Next].
var (
	ErrLeft      = errors.New("the participant left")
	ErrForbidden = errors.New("this role may not send that message")
	ErrSlow      = errors.New("messages were not read in time")
	ErrClosed    = errors.New("the gateway is closing")
	ErrMoved     = errors.New("the session moved to another gateway")
)

// Role is the role of a participant.
type Role = rights.Role

// The roles.
const (
	RoleProxy  = rights.RoleProxy
	RoleAgent  = rights.RoleAgent
	RoleViewer = rights.RoleViewer
	RoleOwner  = rights.RoleOwner
)

// Member is the identity of a participant, as the gateway knows it. No field comes from its
// messages.
type Member struct {
	Role Role
	// ID is the agent's id. If it is "", Join makes a random one.
	ID string
	// Name is for people. If Named, it replaces the name in every message of the participant.
	Name  string
	Named bool
	// Lasting means that the identity outlives the connection, so control does not end with it.
	Lasting bool
	// TokenID identifies the token that it showed, or is "". It is opaque.
	TokenID string
	// Local means a process of the user's own, on the user's own machine.
	Local bool
	// Rights limit what it may do. If Can is 0, it has all rights of its role, see [rights.OfRole].
	Rights rights.Set
	// Namespace separates participants: each sees only the sessions of its own namespace.
	Namespace string
	// Process is the member's, or nil if unknown.
	Process Process
	// Token is the name of the token in the token store, or "". With it the participant reaches the
	// sessions of other gateways, which look it up themselves.
	Token string
	// Remote means that it stands for a participant of another gateway, and reaches only local
	// sessions.
	Remote bool
}

// Process is a process on this machine.
type Process interface {
	// StopReason returns a sentence, without a full stop, if the process is known to be stopped,
	// else "".
	StopReason() string
	// ProcessID returns its number, or 0.
	ProcessID() int
}

// Hub is the switchboard. All methods are safe for concurrent use.
type Hub struct {
	log          *slog.Logger
	directory    Directory
	relay        Relay
	predecessor  string // the process that did not hand over, and why, or ""
	sessionLimit int    // running sessions

	counters counters
	carrier  carrier

	mu          sync.Mutex
	closed      bool
	peers       map[*Peer]struct{}
	agents      agents
	sessions    map[key]*session
	hosts       hosts
	past        past
	lists       lists
	heldScreens held
	heldTalk    held
	idSource
}

// key names a session or an agent within its namespace.
type key struct{ namespace, id string }

// New returns an empty hub. log may be nil.
func New(log *slog.Logger) *Hub {
	h := &Hub{
		log: cmp.Or(log, slog.New(slog.DiscardHandler)), directory: localDirectory{}, relay: noRelay{},
		peers:    make(map[*Peer]struct{}),
		sessions: make(map[key]*session), sessionLimit: maxSessions,
		hosts:       hosts{make(map[hostKey]*Peer), make(map[key]startedProgram)},
		heldScreens: make(held), heldTalk: make(held),
	}
	h.agents = agents{make(map[key]map[*Peer]struct{}), h.sessions}
	h.past = past{ids: &h.idSource, changes: make(chan struct{}, 1)}
	h.lists = lists{
		mu: &h.mu, sessions: h.sessions, directory: h.directory, boards: make(map[listKey]*board),
		orders: make(map[string]*Order),
	}
	return h
}

// SetPredecessor describes the process that this hub replaces, which may have the missing sessions.
// Call it before the first Join.
func (h *Hub) SetPredecessor(predecessor string) { h.predecessor = predecessor }

// LimitSessions limits the number of sessions. Call it before the first Join.
func (h *Hub) LimitSessions(sessions int) { h.sessionLimit = sessions }

// Peer is one participant, from Join to Leave.
type Peer struct {
	hub    *Hub
	member Member
	out    *outbox
	grants atomic.Int32 // at other gateways

	// The following fields are guarded by Hub.mu.
	gone  bool
	idle  bool                  // it has neither a request nor a connection
	asked map[string]*pending   // of a proxy: its open requests, by their id on the wire
	owns  map[*session]struct{} // of a proxy: its running sessions
	mine  map[*pending]struct{} // of an agent or viewer: its own requests
	// uncertain holds, by request id, what to add to a failure because another gateway may have
	// forwarded it.
	uncertain map[string]string
}

// Join adds a participant. The caller must call Leave in the end, even after an error of Next.
func (h *Hub) Join(m Member) *Peer {
	if m.ID == "" {
		m.ID = newID(m.Role)
	}
	if m.Rights.Can == 0 {
		m.Rights.Who, m.Rights.Can = "role "+string(m.Role), rights.OfRole(m.Role, m.Local)
	}
	p := &Peer{
		hub: h, member: m, out: newOutbox(&h.counters), asked: make(map[string]*pending),
		owns: make(map[*session]struct{}), mine: make(map[*pending]struct{}),
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		p.gone = true
		p.out.end(ErrClosed)
		return p
	}
	h.peers[p] = struct{}{}
	h.relay.NoteDoing(p, Came)
	h.log.Info("joined", p.logAttr(), "local", m.Local)
	if m.Role == RoleAgent {
		k := key{m.Namespace, m.ID}
		if h.agents.connected[k] == nil {
			h.agents.connected[k] = make(map[*Peer]struct{})
		}
		h.agents.connected[k][p] = struct{}{}
		if h.agents.countConnections(k) == 1 {
			h.agents.sendPresence(k, true)
		}
	}
	return p
}

// newID returns a random id that begins with the role's first letter.
func newID(r Role) string { return string(r[:1]) + "-" + strings.ToLower(rand.Text()[:8]) }

// ID returns the participant's id. Proxies know an agent by it.
func (p *Peer) ID() string { return p.member.ID }

// Next returns the next message for the participant. It waits until done is closed. After the
// participant's end it returns the remaining messages and then the reason: ErrLeft, ErrForbidden,
// ErrSlow, ErrClosed, or the argument of End or EndAtOnce. One goroutine may call it.
func (p *Peer) Next(done <-chan struct{}) (protocol.Message, error) {
	for {
		m, err := p.out.waitPop(done)
		if records, ok := m.(*protocol.ChatRecords); ok {
			p.ackRecords(records)
		}
		if !errors.Is(err, errBehind) {
			return m, err
		}
		p.catchUp()
	}
}

// EndAtOnce ends the participant with a reason and drops its queue.
func (p *Peer) EndAtOnce(reason error) { p.out.cut(reason) }

// End ends the participant with a reason, after the messages in its queue.
func (p *Peer) End(reason error) { p.out.end(reason) }

// Refuse answers a frame that was not a message.
func (p *Peer) Refuse(e *protocol.Error) { p.out.put(e) }

// Leave removes the participant. Its requests are dropped, a proxy's sessions are kept as lost, and
// an agent without a lasting identity gives up its control.
func (p *Peer) Leave() {
	h := p.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.gone {
		return
	}
	p.gone = true
	delete(h.peers, p)
	h.relay.NoteDoing(p, Left)
	p.out.end(ErrLeft)
	h.log.Info("left", p.logAttr(), "cause", p.out.endReason())
	k := key{p.member.Namespace, p.member.ID}
	left := p.member.Role == RoleAgent && !p.idle && h.agents.countConnections(k) == 1
	if p.member.Role == RoleAgent {
		delete(h.agents.connected[k], p)
		if len(h.agents.connected[k]) == 0 {
			delete(h.agents.connected, k)
		}
	}
	for q := range p.mine {
		q.dropWaiter(p, &protocol.Cancel{Withdraw: true, Gone: true})
	}
	h.hosts.dropHost(p)
	h.lists.removeWatcher(p)
	for _, s := range h.sessions {
		s.removeSubscription(p)
		s.watchers.remove(p)
		s.removeViewer(p)
		s.conversation.remove(p)
		s.detachPerson(p)
		if s.owner == p {
			h.keepLost(s)
		}
		if h.agents.connected[k] == nil && !p.member.Lasting && s.askers[p.member.ID] &&
			p.member.Role == RoleAgent {
			s.reportAgentGone(p.member.ID)
		}
	}
	if left {
		h.agents.sendPresence(k, false)
	}
}

// ownIDs is the prefix of the ids of the hub's own messages.
const ownIDs = "gateway:"

// idSource makes the ids of the hub's own messages. Guarded by Hub.mu.
type idSource struct{ count uint64 }

// nextNumber returns a number greater than all before.
func (i *idSource) nextNumber() uint64 {
	i.count++
	return i.count
}

// nextID returns the id of a message of the hub. A participant's request never has such an id on
// the wire.
func (i *idSource) nextID() string { return ownIDs + strconv.FormatUint(i.nextNumber(), 10) }

// Close ends all participants with ErrClosed and drops all state. Leave may still be called.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, s := range h.sessions {
		s.stopTimers()
	}
	h.lists.close()
	for p := range h.peers {
		p.gone = true
		for _, q := range p.asked {
			q.stopTimer()
		}
		p.out.end(ErrClosed)
	}
	clear(h.peers)
	clear(h.agents.connected)
	clear(h.sessions)
	clear(h.hosts.connected)
	clear(h.hosts.starting)
	h.past.tombstones = nil
}
