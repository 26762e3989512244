// Package hub is the switchboard between proxies and all other participants. It keeps the sessions,
// the newest snapshot of each and the participants, and forwards every request to the proxy that
// owns the session. It makes no decisions about input, and nothing depends on its state surviving.
// It does not use HTTP or WebSocket: a transport calls Join, Handle, Next and Leave.
//
// All state has one lock. No foreign code runs under it: messages go into an outbox of the hub,
// from which the participant's transport fetches them at its own pace. So no participant can make
// the hub wait, and each gets its messages in the order of the events.
package hub

import (
	"cmp"
	"crypto/sha256"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

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
	probeAfter    = 3 * time.Second  // probe a proxy that has been silent this long
	grace         = 10 * time.Second // added to the time limit of a request
)

// Hub is the switchboard. All methods are safe for concurrent use.
type Hub struct {
	log          *slog.Logger
	directory    Directory
	relay        Relay
	predecessor  string // the process that did not hand over, and why, or ""
	sessionLimit int    // running sessions

	counters counters
	carrier  carrier

	mu       sync.Mutex
	closed   bool
	peers    map[*Peer]struct{}
	agents   agents
	sessions map[key]*session
	hosts    hosts
	past     past
	lists    lists
	// secretWatchers get programs' questions for secrets. Those questions go nowhere else.
	secretWatchers map[*Peer]struct{}
	heldScreens    held
	heldTalk       held
	idSource
}

// key names a session or an agent within its namespace.
type key struct{ namespace, id string }

// Peer is one participant, from Join to Leave.
type Peer struct {
	hub    *Hub
	member Member
	out    *outbox
	grants atomic.Int32 // at other gateways

	// The following fields are guarded by Hub.mu.
	gone        bool
	idle        bool                  // it has neither a request nor a connection
	unanswered  map[string]*pending   // of a proxy: its open requests, by their id on the wire
	ownSessions map[*session]struct{} // of a proxy: its running sessions
	ownRequests map[*pending]struct{} // of an agent or viewer: its own requests
	// uncertain holds, by request id, what to add to a failure because another gateway may have
	// forwarded it.
	uncertain map[string]string
}

// session is the hub's record of one session. Guarded by Hub.mu. The messages that it points to
// never change, because outboxes may hold them.
type session struct {
	key          key
	place        Place                // in the lists
	info         protocol.SessionInfo // State is one of the protocol's three
	owner        *Peer                // nil unless the program runs
	standIn      *Peer                // for an owner that may reconnect, or nil
	resume       [sha256.Size]byte    // of the resume key
	hasResumeKey bool

	newest   *protocol.Snapshot // complete, never a delta; nil before the first
	newestAt time.Time          // when newest arrived
	synced   bool               // the next snapshot may be a delta to newest
	current  datedCopy

	screenCharge charge // of newest, in Hub.heldScreens

	keyboard     protocol.Keyboard
	blackout     *protocol.Hidden // what the person hides, as of blackoutAt, or nil
	blackoutAt   time.Time
	askers       map[string]bool // ids of the agents that asked for control or wrote to the user
	subs         following[subscription]
	watchers     following[watcher]
	attached     map[*Peer]*protocol.Attach // the people attached to it
	rowStream    rowStream
	hasChat      bool // it has a conversation with a coding agent
	takesAsks    bool // other agents may ask its people
	conversation conversation
	starter      string         // id of the agent that started it, or ""
	past         *protocol.Past // of an ended session, or nil
	ended        time.Time      // time of the end
	timer        delayed        // forgets a lost or ended session
}

// pending is a request that was forwarded to a proxy and is not answered yet. Guarded by Hub.mu.
type pending struct {
	owner   *Peer    // the proxy that must answer
	session *session // nil for the start of one
	wireID  string
	number  uint64           // orders requests by age
	request protocol.Message // as forwarded
	waiting []waiter
	sent    time.Time   // time of the first send to the proxy, or zero
	resent  bool        // sent over more than one connection
	timer   *time.Timer // nil if a person decides
}

// waiter is a participant that gets the answer, under its own id. A repeated request has several.
type waiter struct {
	peer *Peer
	id   string
}

// New returns an empty hub. log may be nil.
func New(log *slog.Logger) *Hub {
	h := &Hub{
		log: cmp.Or(log, slog.New(slog.DiscardHandler)), directory: localDirectory{}, relay: noRelay{},
		peers: make(map[*Peer]struct{}), secretWatchers: make(map[*Peer]struct{}),
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
