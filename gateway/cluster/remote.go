package cluster

import (
	"errors"
	"regexp"
	"sync"
	"time"

	"terminalproxy/gateway/hub"
	"terminalproxy/gateway/rights"
	"terminalproxy/protocol"
)

// Bounds of one letter to a participant, and of all stand-ins.
const (
	batchMessages = 32
	batchBytes    = 64 << 10
	maxRemotes    = 20000
	pollEvery     = 50 * time.Millisecond
)

type remoteKey struct{ from, link string }

// remote stands in this switchboard for a participant of another gateway on its route to one
// session.
type remote struct {
	cluster *Cluster
	key     remoteKey
	space   string // its namespace
	session string // "" for a list, or for programs to start
	seat    Seat
	done    chan struct{}
	ending  sync.Once

	taken uint64 // number of the last letter; owned by the goroutine that takes letters
}

// serveLetter handles a letter that asks something of this gateway.
func (c *Cluster) serveLetter(l *letter) reply {
	switch l.Op {
	case opHost:
		return reply{Yes: c.cfg.Hub.HasHost(l.Namespace, l.Host)}
	case opMoved:
		c.enqueueJob(func() { c.checkMoved(sessionKey{l.Namespace, l.Session}) })
		return reply{}
	}
	c.mu.Lock()
	r, closed := c.remotes[remoteKey{l.From, l.Link}], c.closed
	c.mu.Unlock()
	switch {
	case closed:
		return reply{Lost: true}
	case r == nil && l.N == 1 && (l.Op == opList || l.Op == opSay && l.Member != nil):
		var refusal reply
		if r, refusal = c.admitRemote(l); r == nil {
			if !refusal.Lost {
				c.logRefusal(l.From, refusal.Wrong)
			}
			return refusal
		}
	case r == nil:
		return reply{Lost: true}
	}
	return r.takeLetter(l)
}

// takeLetter handles the next letter, and ignores a repeated one.
func (r *remote) takeLetter(l *letter) reply {
	switch {
	case l.N <= r.taken:
		return reply{}
	case l.N != r.taken+1:
		return reply{Lost: true}
	}
	r.taken = l.N
	switch l.Op {
	case opLeave:
		r.close()
	case opWork:
		r.seat.MarkBusy()
	case opRest:
		r.seat.MarkIdle()
	}
	for _, m := range l.messages {
		if id := protocol.SessionID(m); id != r.session {
			r.cluster.logRefusal(
				l.From,
				"a message for session "+token(id)+" on the way to another",
			)
			return reply{Wrong: "this way leads to one session", Code: protocol.CodeForbidden}
		}
		if l.Again {
			r.seat.HandleRepeat(m)
		} else {
			r.seat.Handle(m)
		}
	}
	return reply{}
}

// idForm matches participants' ids, which begin with the letter of their role.
var idForm = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`^[avo]-[a-z0-9]{1,32}$`) },
)

// admitRemote lets a participant of another gateway in, or says why not.
func (c *Cluster) admitRemote(l *letter) (*remote, reply) {
	r := &remote{
		cluster: c,
		key:     remoteKey{l.From, l.Link},
		space:   l.Namespace,
		session: l.Session,
		done:    make(chan struct{}),
	}
	c.mu.Lock()
	known, many := c.peers[l.From] != nil, len(c.remotes) >= maxRemotes
	c.mu.Unlock()
	switch {
	case !known:
		return nil, reply{Lost: true, Wrong: "no heartbeat of that gateway came here"}
	case many:
		return nil, reply{Code: protocol.CodeBusy, Wrong: "too many participants of other gateways"}
	}
	if l.Op == opList {
		r.seat = c.cfg.Hub.Join(hub.Member{
			Role:      hub.RoleViewer,
			Name:      l.From,
			Namespace: l.Namespace,
			Remote:    true,
			Rights:    rights.Set{Who: "a gateway", Can: rights.List},
		})
		r.seat.Handle(&protocol.SessionsWatch{RequestID: "list"})
	} else {
		seat, refusal := c.admitMember(l)
		if seat == nil {
			return nil, refusal
		}
		r.seat = seat
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		go r.seat.Leave() // it may wait for the switchboard
		return nil, reply{Lost: true}
	}
	c.remotes[r.key] = r
	c.wg.Go(r.sendMessages) // ends with close, or the participant's end
	return r, reply{}
}

// admitMember joins a member to the switchboard if it is plausible and its token grants what it
// says.
func (c *Cluster) admitMember(l *letter) (Seat, reply) {
	m := l.Member
	forged := func(why string) (Seat, reply) {
		return nil, reply{Code: protocol.CodeForbidden, Wrong: "forged member: " + why}
	}
	switch {
	case m.Role != hub.RoleAgent && m.Role != hub.RoleViewer && m.Role != hub.RoleOwner:
		return forged("role " + token(string(m.Role)) + " may not join other gateways")
	case !idForm().MatchString(m.ID) || m.ID[0] != m.Role[0]:
		return forged("its id does not fit that role")
	case m.Token == "":
		return forged("it has no token")
	}
	joining := hub.Member{
		Role:      m.Role,
		ID:        m.ID,
		Lasting:   m.Lasting && m.Role == hub.RoleAgent,
		Namespace: m.Namespace,
		Token:     m.Token,
		Remote:    true,
		Rights: rights.Set{
			Who:     "role " + string(m.Role),
			Can:     m.Can & rights.OfRole(m.Role, false),
			Session: l.Session,
			Until:   m.rightsEnd(),
		},
	}
	if joining.Rights.Can == 0 {
		return forged("it has no rights")
	}
	seat, err := c.cfg.Admit(joining)
	if err != nil {
		return nil, reply{Code: protocol.CodeForbidden, Wrong: err.Error()}
	}
	return seat, reply{}
}

// close ends the participant's stay.
func (r *remote) close() {
	r.ending.Do(func() {
		c := r.cluster
		c.mu.Lock()
		delete(c.remotes, r.key)
		c.mu.Unlock()
		close(r.done)
		r.seat.Leave()
	})
}

// sendMessages brings the participant's messages to its gateway, until either ends.
func (r *remote) sendMessages() {
	defer r.close()
	for n := uint64(1); ; n++ {
		l := &letter{Op: opSay, Link: r.key.link, N: n}
		err := r.fillLetter(l)
		if err != nil {
			l.End = err.Error()
		}
		if len(l.frames) > 0 || err != nil && !r.isClosed() {
			if said, failed := r.sendLetter(l); failed != nil || said.Lost || said.Wrong != "" {
				return
			} else if said.Full && err == nil && !r.waitForRoom(&n) {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// sendLetter sends a letter to the participant's gateway. A gateway that does not take it would
// miss messages unknowingly: it is dropped, so that both start again.
func (r *remote) sendLetter(l *letter) (reply, error) {
	c := r.cluster
	said, err := c.callPeer(c.ctx, r.key.from, answers, l)
	if err != nil && c.ctx.Err() == nil && c.isHeard(r.key.from) {
		c.dropPeer(r.key.from, "it accepts no messages")
	}
	return said, err
}

// waitForRoom waits until the participant takes messages again.
func (r *remote) waitForRoom(n *uint64) bool {
	for {
		select {
		case <-r.done:
			return false
		case <-time.After(pollEvery):
		}
		*n++
		said, err := r.sendLetter(&letter{Op: opSay, Link: r.key.link, N: *n})
		if err != nil || said.Lost || said.Wrong != "" {
			return false
		}
		if !said.Full {
			return true
		}
	}
}

func (r *remote) isClosed() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// atOnce is a closed done channel: Next does not wait with it.
var atOnce = func() chan struct{} { ch := make(chan struct{}); close(ch); return ch }()

// fillLetter fills a letter with the participant's messages; it waits for the first one.
func (r *remote) fillLetter(l *letter) error {
	for size, wait := 0, r.done; len(l.frames) < batchMessages && size < batchBytes; wait = atOnce {
		m, err := r.seat.Next(wait)
		switch {
		case errors.Is(err, hub.ErrLeft) && len(l.frames) > 0:
			return nil // the queue is empty; if the participant left, the next call says so
		case err != nil:
			return err
		}
		if id := protocol.SessionID(m); id != "" && id != r.session && r.session != "" {
			continue // the route to that session brings it
		}
		size += r.addMessage(l, m)
	}
	return nil
}

// addMessage adds a message to a letter and returns its size. An answer that cannot be encoded
// becomes an error.
func (r *remote) addMessage(l *letter, m protocol.Message) int {
	frame, err := protocol.Encode(m)
	if err != nil {
		r.cluster.log.Warn("cluster: message that cannot be sent",
			"type", protocol.KindOf(m), "error", err)
		id := protocol.RequestID(m)
		if id == "" {
			return 0
		}
		if frame, err = protocol.Encode(&protocol.Error{
			RequestID: id,
			Code:      protocol.CodeUnavailable,
			Message:   "the answer cannot be sent: " + err.Error(),
		}); err != nil {
			return 0
		}
	}
	if list, ok := m.(*protocol.SessionsChanged); ok {
		r.cluster.addGenerations(r.space, list, l)
	}
	l.frames = append(l.frames, frame)
	return len(frame)
}
