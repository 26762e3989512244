package cluster

import (
	"maps"
	"regexp"
	"slices"
	"sync"

	"terminalproxy/gateway/access/rights"
	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// maxRemotes bounds the participants of other gateways here.
const maxRemotes = 20000

// remotes are the participants of other gateways that use sessions here: a remote for each session
// that one uses, and one for each list that a gateway follows.
type remotes struct {
	hub    *hub.Hub
	admit  func(m hub.Member) (Seat, error)
	mesh   *mesh
	claims generations
	wg     *sync.WaitGroup

	mu     sync.Mutex
	closed bool
	all    map[remoteKey]*remote
}

// generations knows the generations of the sessions here.
type generations interface {
	// addGenerations adds those of the sessions in a list to a letter.
	addGenerations(namespace string, list *protocol.SessionsChanged, l *letter)
}

func newRemotes(cfg Config, m *mesh, g generations, wg *sync.WaitGroup) *remotes {
	return &remotes{
		hub:    cfg.Hub,
		admit:  cfg.Admit,
		mesh:   m,
		claims: g,
		wg:     wg,
		all:    make(map[remoteKey]*remote),
	}
}

// close removes all participants, and rejects later ones.
func (s *remotes) close() {
	s.mu.Lock()
	s.closed = true
	all := slices.Collect(maps.Values(s.all))
	s.mu.Unlock()
	for _, r := range all {
		r.close()
	}
}

// ofGateway returns the participants of a gateway.
func (s *remotes) ofGateway(name string) (all []*remote) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, r := range s.all {
		if k.from == name {
			all = append(all, r)
		}
	}
	return all
}

func (s *remotes) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

func (s *remotes) remove(r *remote) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, r.key)
}

// serveLetter handles a letter of a participant elsewhere, and admits one that is new.
func (s *remotes) serveLetter(l *letter) reply {
	s.mu.Lock()
	r, closed := s.all[remoteKey{l.From, l.Link}], s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return reply{Lost: true}
	case r == nil && l.N == 1 && (l.Op == opList || l.Op == opSay && l.Member != nil):
		var refusal reply
		if r, refusal = s.admitRemote(l); r == nil {
			if !refusal.Lost {
				s.mesh.logRefusal(l.From, refusal.Wrong)
			}
			return refusal
		}
	case r == nil:
		return reply{Lost: true}
	}
	return r.takeLetter(l)
}

// idForm matches participants' ids, which begin with the letter of their role.
var idForm = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`^[avo]-[a-z0-9]{1,32}$`) },
)

// admitRemote admits a participant of another gateway, or returns the reason for refusing it.
func (s *remotes) admitRemote(l *letter) (*remote, reply) {
	switch {
	case !s.mesh.isKnown(l.From):
		return nil, reply{Lost: true, Wrong: "no heartbeat of that gateway has arrived here"}
	case s.count() >= maxRemotes:
		return nil, reply{Code: protocol.CodeBusy, Wrong: "too many participants of other gateways"}
	}
	admit := s.admitMember
	if l.Op == opList {
		admit = s.admitGateway
	}
	seat, refusal := admit(l)
	if seat == nil {
		return nil, refusal
	}
	r := &remote{
		remotes: s,
		key:     remoteKey{l.From, l.Link},
		space:   l.Namespace,
		session: l.Session,
		seat:    seat,
		done:    make(chan struct{}),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		go r.seat.Leave() // it may wait for the switchboard
		return nil, reply{Lost: true}
	}
	s.all[r.key] = r
	s.wg.Go(r.sendMessages) // ends with close, or the participant's end
	return r, reply{}
}

// admitGateway joins a gateway that follows the list of a namespace.
func (s *remotes) admitGateway(l *letter) (Seat, reply) {
	seat := s.hub.Join(hub.Member{
		Role:      hub.RoleViewer,
		Name:      l.From,
		Namespace: l.Namespace,
		Remote:    true,
		Rights:    rights.Set{Who: "a gateway", Can: rights.List},
	})
	seat.Handle(&protocol.SessionsWatch{RequestID: "list"})
	return seat, reply{}
}

// admitMember joins a member to the switchboard if it is plausible and its token grants what it
// says.
func (s *remotes) admitMember(l *letter) (Seat, reply) {
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
	seat, err := s.admit(joining)
	if err != nil {
		return nil, reply{Code: protocol.CodeForbidden, Wrong: err.Error()}
	}
	return seat, reply{}
}
