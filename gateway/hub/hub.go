// Package hub is the switchboard between proxies and everyone else: the sessions, the newest snapshot of each, the
// participants, and the way of every request to the proxy that owns the session. It decides nothing about input, keeps
// nothing that it could not forget, and knows no HTTP and no WebSocket: a transport calls Join, Handle, Next and Leave.
//
// All state has one lock. Nothing foreign is ever called under it: what a participant gets is put into a queue of the
// hub's own, from which the participant's transport fetches it at its pace. So nobody can make the hub wait, and what one
// participant gets is in the order in which it happened.
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

	"terminalproxy/gateway/rights"
	"terminalproxy/protocol"
)

// Bounds of memory and time.
const (
	maxSessions   = 1024 // unless Bound says something else
	maxPerProxy   = 64   // running sessions of one connection
	maxTombstones = 256
	maxPast       = 32 << 20 // bytes of history of all ended sessions together
	maxOpen       = 64       // requests of one participant that wait for their answer
	maxAskers     = 256
	lostFor       = 5 * time.Second  // how long a session without its proxy is kept
	tombstoneFor  = 30 * time.Minute // how long the last screen and the history of an ended program can be read
	lookAfter     = 3 * time.Second  // how long a proxy may be silent until it is looked whether it is stopped
	grace         = 10 * time.Second // what a proxy may take beyond the time limit of a request
)

// Why a participant's messages end; see [Peer.Next].
var (
	ErrLeft      = errors.New("the participant left")
	ErrForbidden = errors.New("this role may not send that message")
	ErrSlow      = errors.New("messages were not read in time")
	ErrClosed    = errors.New("the gateway is closing")
	ErrMoved     = errors.New("the session moved to another gateway")
)

// Role is what a participant is.
type Role = rights.Role

// The roles.
const (
	RoleProxy  = rights.RoleProxy
	RoleAgent  = rights.RoleAgent
	RoleViewer = rights.RoleViewer
	RoleOwner  = rights.RoleOwner
)

// Member is who joins, as the gateway knows it. Nothing of it comes from the participant's messages.
type Member struct {
	Role Role
	// ID is the agent's id. "" makes a random one.
	ID string
	// Name is what people read. With Named it stands in every message in place of what the agent calls itself.
	Name  string
	Named bool
	// Lasting: the identity outlives the connection, so that the end of the connection does not end control.
	Lasting bool
	// TokenID tells whose token it showed, "" for none; opaque.
	TokenID string
	// Local: a process of the user's own, on the user's own machine.
	Local bool
	// Rights are what it may do; where Can is 0, all that its role can, see [rights.Of].
	Rights rights.Set
	// Namespace separates: participants see the sessions of their own namespace, and no trace of others.
	Namespace string
	// Process is the member's, nil when it is not known.
	Process Process
	// Token is what the token store calls the token, "" for none: with it the participant reaches the sessions of other gateways, which
	// look it up themselves.
	Token string
	// Remote: it stands for a participant of another gateway, and sees and reaches what is here alone.
	Remote bool
}

// Process is a process on this machine.
type Process interface {
	// Stopped says that the process is stopped, as a sentence without its end, and "" when it is not known to be.
	Stopped() string
}

// Hub is the switchboard. All methods may be called from any goroutine.
type Hub struct {
	log       *slog.Logger
	directory Directory
	before    string // who should serve, and why it does not; "" for nobody
	most      int    // running sessions

	counters counters
	turns    turns

	mu         sync.Mutex
	closed     bool
	peers      map[*Peer]struct{}
	agents     map[key]map[*Peer]struct{} // by namespace and agent id
	sessions   map[key]*session
	hosts      map[hostKey]*Peer
	starting   map[key]started    // sessions that a host has started and that are not open yet
	endings    chan struct{}      // see Endings
	tombstones []*session         // ended sessions, oldest first
	boards     map[listKey]*board // lists that are watched
	held       held
	count      uint64 // of the messages that the hub makes itself
}

// key names a session or an agent within its namespace.
type key struct{ namespace, id string }

// New makes an empty switchboard; log may be nil.
func New(log *slog.Logger) *Hub {
	return &Hub{
		log: cmp.Or(log, slog.New(slog.DiscardHandler)), directory: alone{}, peers: make(map[*Peer]struct{}), agents: make(map[key]map[*Peer]struct{}), sessions: make(map[key]*session),
		most: maxSessions, hosts: make(map[hostKey]*Peer), starting: make(map[key]started), endings: make(chan struct{}, 1), boards: make(map[listKey]*board), held: make(held),
	}
}

// Succeed says in whose place this switchboard is: sessions that are missing may be with that process. It is called before
// anybody joins.
func (h *Hub) Succeed(say string) { h.before = say }

// Bound says how many sessions there may be at once. It is called before anybody joins.
func (h *Hub) Bound(sessions int) { h.most = sessions }

// Peer is one participant, from Join to Leave.
type Peer struct {
	hub    *Hub
	member Member
	out    *outbox
	grants atomic.Int32 // at other gateways

	// The following belong to the hub's lock.
	gone  bool
	idle  bool                  // has no request under way, and no connection either
	asked map[string]*pending   // of a proxy: requests it has to answer, by their id on the wire
	owns  map[*session]struct{} // of a proxy: its running sessions
	mine  map[*pending]struct{} // of an agent or viewer: requests of its own
	// doubts are requests that another gateway may have passed on, by id: what is to be added to a failure. nil for none.
	doubts map[string]string
}

// Join adds a participant. The caller must call Leave in the end, whatever Next returned.
func (h *Hub) Join(m Member) *Peer {
	if m.ID == "" {
		m.ID = newID(m.Role)
	}
	if m.Rights.Can == 0 {
		m.Rights.Who, m.Rights.Can = "role "+string(m.Role), rights.Of(m.Role, m.Local)
	}
	p := &Peer{hub: h, member: m, out: newOutbox(&h.counters), asked: make(map[string]*pending), owns: make(map[*session]struct{}), mine: make(map[*pending]struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		p.gone = true
		p.out.end(ErrClosed)
		return p
	}
	h.peers[p] = struct{}{}
	h.directory.Watch(p, Came)
	h.log.Info("joined", p.logged(), "local", m.Local)
	if m.Role == RoleAgent {
		k := key{m.Namespace, m.ID}
		if h.agents[k] == nil {
			h.agents[k] = make(map[*Peer]struct{})
		}
		h.agents[k][p] = struct{}{}
		if h.attendance(k) == 1 {
			h.present(k, true)
		}
	}
	return p
}

// newID is a random id, its first letter that of the role.
func newID(r Role) string { return string(r[:1]) + "-" + strings.ToLower(rand.Text()[:8]) }

// ID is the participant's id: for an agent the one that proxies know it by.
func (p *Peer) ID() string { return p.member.ID }

// Next is the next message for the participant. It waits for one until done is closed. After the participant's end it gives
// what was still to be said, and then the reason of the end (ErrLeft, ErrForbidden, ErrSlow, ErrClosed, or that of End or Cut).
// One goroutine may call it.
func (p *Peer) Next(done <-chan struct{}) (protocol.Message, error) {
	for {
		m, err := p.out.next(done)
		if records, ok := m.(*protocol.ChatRecords); ok {
			p.heard(records)
		}
		if !errors.Is(err, errBehind) {
			return m, err
		}
		p.catchUp()
	}
}

// Cut ends the participant for a reason; what is in its queue is dropped.
func (p *Peer) Cut(reason error) { p.out.cut(reason) }

// End ends the participant for a reason, after what is in its queue.
func (p *Peer) End(reason error) { p.out.end(reason) }

// Refuse answers a frame that was no message.
func (p *Peer) Refuse(e *protocol.Error) { p.out.put(e) }

// Leave removes the participant: what it asked is forgotten, the sessions of a proxy are lost, control that an agent
// without a lasting identity holds is given back.
func (p *Peer) Leave() {
	h := p.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.gone {
		return
	}
	p.gone = true
	delete(h.peers, p)
	h.directory.Watch(p, Left)
	p.out.end(ErrLeft)
	h.log.Info("left", p.logged(), "cause", p.out.cause())
	k := key{p.member.Namespace, p.member.ID}
	left := p.member.Role == RoleAgent && !p.idle && h.attendance(k) == 1
	if p.member.Role == RoleAgent {
		delete(h.agents[k], p)
		if len(h.agents[k]) == 0 {
			delete(h.agents, k)
		}
	}
	for q := range p.mine {
		q.drop(p, &protocol.Cancel{Withdraw: true, Gone: true})
	}
	h.hostGone(p)
	h.unwatchList(p)
	for _, s := range h.sessions {
		s.unsubscribe(p)
		s.unwatch(p)
		s.unview(p)
		s.unhear(p)
		s.detach(p)
		if s.owner == p {
			h.lose(s)
		}
		if h.agents[k] == nil && !p.member.Lasting && s.askers[p.member.ID] && p.member.Role == RoleAgent {
			h.agentGone(s, p.member.ID)
		}
	}
	if left {
		h.present(k, false)
	}
}

// agentGone tells a proxy that an agent which asked for control, and may hold it, is no longer there.
func (h *Hub) agentGone(s *session, agentID string) {
	delete(s.askers, agentID)
	if s.owner != nil {
		s.owner.out.put(&protocol.ControlRelease{RequestID: h.nextID(), SessionID: s.key.id, AgentID: agentID, Gone: true})
	}
}

// ownIDs begin the ids of the hub's own messages.
const ownIDs = "gateway:"

// nextID names a message that the hub makes itself. No participant's request has such an id on the wire.
func (h *Hub) nextID() string {
	h.count++
	return ownIDs + strconv.FormatUint(h.count, 10)
}

// Close ends every participant with ErrClosed and forgets everything. Leave may still be called.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, s := range h.sessions {
		s.stopTimers()
	}
	for _, b := range h.boards {
		b.stop()
	}
	clear(h.boards)
	for p := range h.peers {
		p.gone = true
		for _, q := range p.asked {
			q.stop()
		}
		p.out.end(ErrClosed)
	}
	clear(h.peers)
	clear(h.agents)
	clear(h.sessions)
	clear(h.hosts)
	clear(h.starting)
	h.tombstones = nil
}
