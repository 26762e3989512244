package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// mesh tracks the other gateways by their heartbeats, and exchanges letters with them. Its lock is
// taken after those of the directory and of the relay, and before those of routes and of remotes.
type mesh struct {
	self   beat // what each heartbeat says about this gateway
	log    *slog.Logger
	bus    bus
	parts  parts
	stats  counters
	events meshEvents
	ctx    context.Context // ends with Close

	sending sync.Mutex    // keeps heartbeats in order
	numbers atomic.Uint64 // of receivers

	mu        sync.Mutex
	closed    bool
	peers     map[string]*peer    // other gateways, by name
	odd       map[string]bool     // gateways of another version, already logged
	bonds     uint64              // the last number of a bond
	receivers map[string]receiver // of letters for participants here, by number
}

// meshEvents follows the other gateways.
type meshEvents interface {
	// onHeartbeat follows each heartbeat. fresh: the gateway was not known.
	onHeartbeat(b beat, fresh bool)
	// peerGone reports a gateway that fell silent, and peerClosed one that closed.
	peerGone(last peer)
	peerClosed(name string)
	// remotesOf returns the participants of a gateway that are here. The mesh is locked.
	remotesOf(name string) []*remote
	// peersChanged wakes those who seek a session.
	peersChanged()
}

// receiver takes the letters that other gateways send for participants here.
type receiver interface {
	ownerName() string
	takeLetter(l *letter) reply
	ownerLost()
}

// peer is another gateway.
type peer struct {
	beat   beat
	at     time.Time // of the last heartbeat
	came   time.Time // when the present bond began
	bond   uint64    // this gateway's number for the peer's arrival
	theirs uint64    // the peer's number for this gateway's arrival; 0 until it is known
}

// beat is a heartbeat.
type beat struct {
	Wire    int    `json:"wire"`
	From    string `json:"from"`
	Address string `json:"address,omitempty"`
	Version string `json:"version,omitempty"`
	// Bonds are the gateways that the sender hears, with a number for the arrival of each: another
	// number ends everything that was between the two.
	Bonds map[string]uint64 `json:"bonds,omitempty"`
	// Bond is the highest number given so far.
	Bond uint64 `json:"bond,omitempty"`
	Bye  bool   `json:"bye,omitempty"`
}

func newMesh(ctx context.Context, cfg Config, b bus, events meshEvents) *mesh {
	return &mesh{
		self: beat{
			Wire:    wireVersion,
			From:    cfg.Name,
			Address: cfg.Address,
			Version: cfg.Version,
		},
		log:       cfg.Log,
		bus:       b,
		events:    events,
		ctx:       ctx,
		peers:     make(map[string]*peer),
		odd:       make(map[string]bool),
		receivers: make(map[string]receiver),
	}
}

// name returns this gateway's name.
func (m *mesh) name() string { return m.self.From }

// close ends the handling of heartbeats.
func (m *mesh) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
}

// sendHeartbeat announces this gateway, or that it closes.
func (m *mesh) sendHeartbeat(bye bool) {
	m.sending.Lock()
	defer m.sending.Unlock()
	b := m.self
	b.Bonds, b.Bye = make(map[string]uint64), bye
	m.mu.Lock()
	b.Bond = m.bonds
	for name, p := range m.peers {
		b.Bonds[name] = p.bond
	}
	m.mu.Unlock()
	data, err := json.Marshal(b)
	if err == nil {
		err = m.bus.publish(heartbeats, data)
	}
	if err != nil && !errors.Is(err, errOffline) {
		m.log.Debug("cluster: heartbeat", "error", err)
	}
}

// takeHeartbeat handles the heartbeat of another gateway.
func (m *mesh) takeHeartbeat(data []byte, _ func([]byte)) {
	var b beat
	if err := json.Unmarshal(data, &b); err != nil || b.From == "" || b.From == m.name() {
		return
	}
	m.mu.Lock()
	if m.closed || m.hasOtherVersionLocked(b) {
		m.mu.Unlock()
		return
	}
	if b.Bye {
		m.mu.Unlock()
		m.dropPeer(b.From, "it closed")
		m.events.peerClosed(b.From)
		return
	}
	p, known := m.peers[b.From]
	if !known {
		m.bonds++
		p = &peer{bond: m.bonds, came: time.Now()}
		m.peers[b.From] = p
		m.log.Info("cluster: a gateway joined",
			"gateway", b.From, "address", b.Address, "version", b.Version)
	}
	p.beat, p.at = b, time.Now()
	part := func() {}
	if b.Bond >= p.theirs { // else a letter overtook the heartbeat
		part = m.startBondLocked(b.From, p, b.Bonds[m.name()])
	}
	m.mu.Unlock()
	part()
	if !known {
		m.sendHeartbeat(false) // tells it of this gateway at once
	}
	m.events.onHeartbeat(b, !known)
}

// startBondLocked takes the number that a gateway has for this one. If the number has changed, that
// gateway lost this one meanwhile: part ends everything that was between the two. This gateway
// keeps its own number for the other: with a new one the other would lose it in turn, and both
// would go on for ever.
func (m *mesh) startBondLocked(name string, p *peer, theirs uint64) (part func()) {
	part = func() {}
	if p.theirs != 0 && p.theirs != theirs {
		part, p.came = m.detachPeerLocked(name), time.Now()
	}
	p.theirs = theirs
	return part
}

// bondOf returns the number of another gateway's arrival, 0 for one that is not heard.
func (m *mesh) bondOf(name string) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.peers[name]; p != nil {
		return p.bond
	}
	return 0
}

// inCurrentBond reports whether a letter belongs to the present bond of the two gateways. A letter
// that overtook its sender's heartbeat starts the new bond.
func (m *mesh) inCurrentBond(l *letter) bool {
	m.mu.Lock()
	p := m.peers[l.From]
	if p == nil || l.Bond == 0 || l.Bond == p.theirs {
		m.mu.Unlock()
		return true
	}
	if l.Bond < p.theirs {
		m.mu.Unlock()
		return false
	}
	part := m.startBondLocked(l.From, p, l.Bond)
	m.mu.Unlock()
	part()
	return true
}

// hasOtherVersionLocked reports whether a gateway speaks another version, and logs that once.
func (m *mesh) hasOtherVersionLocked(b beat) bool {
	if b.Wire == wireVersion {
		return false
	}
	if !m.odd[b.From] {
		m.odd[b.From] = true
		m.log.Error("cluster: ignoring a gateway that speaks another version of the wire",
			"gateway", b.From, "address", b.Address, "wire", b.Wire, "own", wireVersion)
	}
	return true
}

// dropSilentPeers drops the gateways that have been silent too long.
func (m *mesh) dropSilentPeers() {
	var silent []string
	m.mu.Lock()
	for name, p := range m.peers {
		if time.Since(p.at) > silentFor {
			silent = append(silent, name)
		}
	}
	m.mu.Unlock()
	for _, name := range silent {
		m.dropPeer(name, "it is silent")
	}
}

// dropPeer forgets another gateway and everything shared with it. It comes back with its next
// heartbeat.
func (m *mesh) dropPeer(name, why string) {
	m.mu.Lock()
	p := m.peers[name]
	delete(m.peers, name)
	delete(m.odd, name)
	part := m.detachPeerLocked(name)
	m.mu.Unlock()
	if p != nil {
		m.events.peerGone(*p)
		m.log.Warn("cluster: lost a gateway",
			"gateway", name, "address", p.beat.Address, "cause", why)
	}
	part()
}

// detachPeerLocked collects everything this gateway shares with another one. Call the result after
// unlocking m.mu: it closes exactly what existed at this moment, and not what the two set up
// afterwards.
func (m *mesh) detachPeerLocked(name string) (part func()) {
	gone := m.events.remotesOf(name)
	var lost []receiver
	for _, t := range m.receivers {
		if t.ownerName() == name {
			lost = append(lost, t)
		}
	}
	return func() {
		m.events.peersChanged()
		for _, r := range gone {
			r.close()
		}
		for _, t := range lost {
			t.ownerLost()
		}
	}
}

// isKnown reports whether a gateway sends heartbeats.
func (m *mesh) isKnown(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.peers[name] != nil
}

// arrivals returns the gateways that are heard, and when the bond with each began.
func (m *mesh) arrivals() map[string]time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[string]time.Time, len(m.peers))
	for name, p := range m.peers {
		all[name] = p.came
	}
	return all
}

// countPeers returns the number of other gateways.
func (m *mesh) countPeers() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.peers)
}

// newNumber returns a number for a receiver, which no other gateway gives.
func (m *mesh) newNumber() string { return fmt.Sprintf("%s.%d", m.name(), m.numbers.Add(1)) }

// addReceiver adds the receiver of the letters with a number.
func (m *mesh) addReceiver(number string, t receiver) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.receivers[number] = t
}

// removeReceiver removes a receiver. The sender of the next letter learns it from the answer.
func (m *mesh) removeReceiver(number string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.receivers, number)
}

// deliverLetter takes a letter for a participant of this gateway.
func (m *mesh) deliverLetter(l *letter) reply {
	m.mu.Lock()
	t := m.receivers[l.Link]
	m.mu.Unlock()
	if t == nil {
		return reply{Lost: true}
	}
	return t.takeLetter(l)
}

// signal puts a token into a channel that holds one.
func signal(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// counters count the letters and bytes that cross.
type counters struct {
	sent, got, sentBytes, gotBytes, refused atomic.Uint64
}
