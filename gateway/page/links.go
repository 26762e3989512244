package page

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/rights"
	"terminalproxy/protocol"
)

// Bounds of the links of a server.
const (
	maxOpenings         = 256
	maxOpeningsPerToken = 16
	longestOpening      = 7 * 24 * time.Hour
	// awayFor is how long pages stay without whoever opened them, whose connection was lost.
	awayFor = 2 * time.Minute
	// gatherFor is how long after its start a server may not know yet of pages whose opener is on its way back.
	gatherFor = 30 * time.Second
)

// Why an opening at a server ends.
var (
	errAway     = errors.New("the terminal that opened the page has been away for two minutes")
	errReplaced = errors.New("another connection has this opening now")
	errBehind   = errors.New("messages were not read in time")
	errLeft     = errors.New("the connection ended")
)

// Seat is a participant in the switchboard of a server, as package hub has it.
type Seat interface {
	Handle(m protocol.Message)
	Next(done <-chan struct{}) (protocol.Message, error)
	Leave()
}

// Port is what links need of their server.
type Port struct {
	// Join gives a page its seat: of whoever opened its link, with no more than the set.
	Join func(who auth.Identity, set rights.Set) Seat
	// Count counts a page's connection with whoever opened its link. A page reads its error, and comes back later.
	Count func(r *http.Request, who auth.Identity) error
}

// Links are the pages of a server, with the links that its users open by gateway open. All methods may be called from any goroutine.
type Links struct {
	door *Door
	away time.Duration

	mu      sync.Mutex
	closed  bool
	links   map[linkName]*link
	openers map[*Opener]struct{}
}

// linkName is what an opening is found by again.
type linkName struct{ token, secret string }

// NewLinks makes the pages of a server. Close it.
func NewLinks(cfg Config) (*Links, error) {
	if cfg.GathersUntil.IsZero() {
		cfg.GathersUntil = time.Now().Add(gatherFor)
	}
	door, err := New(cfg)
	if err != nil {
		return nil, err
	}
	return &Links{door: door, away: awayFor, links: make(map[linkName]*link), openers: make(map[*Opener]struct{})}, nil
}

// ServeHTTP implements http.Handler, for the paths of [Door].
func (l *Links) ServeHTTP(w http.ResponseWriter, r *http.Request) { l.door.ServeHTTP(w, r) }

// Turn answers a request that there is no room for; see [Door.Turn].
func (l *Links) Turn(w http.ResponseWriter, r *http.Request, why error) { l.door.Turn(w, r, why) }

// Cut ends, for a reason, what tokens have opened that stand no more.
func (l *Links) Cut(stands func(tokenID string) bool, why error) {
	l.mu.Lock()
	var over []*Opening
	var gone []*Opener
	for _, k := range l.links {
		if !stands(k.who.TokenID) {
			over = append(over, k.opening)
		}
	}
	for o := range l.openers {
		if !stands(o.who.TokenID) {
			gone = append(gone, o)
		}
	}
	l.mu.Unlock()
	for _, o := range over {
		o.End(why)
	}
	for _, o := range gone {
		o.End(final{why})
	}
}

// Close ends all openers for a reason. The pages are told to come back.
func (l *Links) Close(why error) {
	l.mu.Lock()
	l.closed = true
	for o := range l.openers {
		o.End(why)
	}
	for _, k := range l.links {
		k.wait(nil)
	}
	l.mu.Unlock()
	l.door.Leave()
}

// link is an opening with whoever opened it. Its fields but the first four are under Links.mu.
type link struct {
	all     *Links
	name    linkName
	who     auth.Identity
	opening *Opening

	opener  *Opener     // nil while it is away
	ends    *time.Timer // the opening, where the opener is away
	answers map[string]chan bool
}

// find is the opening that a message means, made if need be.
func (l *Links) find(who auth.Identity, port Port, m *protocol.PageOpen) (*link, *protocol.Error) {
	no := func(code protocol.Code, say string) (*link, *protocol.Error) {
		return nil, &protocol.Error{RequestID: m.RequestID, Code: code, Message: say}
	}
	terms := Terms{Role: auth.Role(m.Role), Session: m.SessionID, Secret: m.Secret, Expires: l.until(who, m)}
	if terms.Role == auth.RoleOwner && who.Role != auth.RoleOwner {
		return no(protocol.CodeForbidden, "a token of the role "+string(who.Role)+" opens pages that look: leave --role out, or use an owner's token")
	}
	name := linkName{who.TokenID, m.Secret}
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.links[name]; known != nil && known.opening.ctx.Err() == nil {
		if known.opening.terms.Role != terms.Role || known.opening.terms.Session != terms.Session {
			return no(protocol.CodeForbidden, "this opening has another role, or another session")
		}
		return known, nil
	}
	own := 0
	for n := range l.links {
		if n.token == who.TokenID {
			own++
		}
	}
	switch {
	case l.closed:
		return no(protocol.CodeUnavailable, "the gateway is closing")
	case own >= maxOpeningsPerToken || len(l.links) >= maxOpenings:
		return no(protocol.CodeBusy, "too many pages are open: end one that runs with Ctrl+C")
	}
	k := &link{all: l, name: name, who: who, answers: make(map[string]chan bool)}
	terms.Dial = func(context.Context) (Link, error) { return k.join(port) }
	terms.Count = func(r *http.Request) error { return port.Count(r, who) }
	terms.Admit, terms.Entered, terms.Left = k.admit, k.entered, k.left
	var err error
	if k.opening, err = l.door.Open(terms); err != nil {
		return no(protocol.CodeUnavailable, err.Error())
	}
	l.links[name] = k
	l.door.cfg.Log.Info("pages opened", "token", who.Name, "role", m.Role, "session", m.SessionID)
	l.door.wg.Go(k.watch) // ends with the opening
	return k, nil
}

// until is the end of an opening: not beyond that of its token.
func (l *Links) until(who auth.Identity, m *protocol.PageOpen) time.Time {
	end, most := time.UnixMilli(m.ExpiresAt), l.door.cfg.Now().Add(longestOpening)
	if end.After(most) {
		end = most
	}
	if !who.Expires.IsZero() && end.After(who.Expires) {
		end = who.Expires
	}
	return end
}

// watch forgets an opening that is over, and tells its opener.
func (k *link) watch() {
	<-k.opening.Done()
	k.all.door.cfg.Log.Info("pages closed", "token", k.who.Name, "cause", k.opening.Err())
	k.all.mu.Lock()
	defer k.all.mu.Unlock()
	if k.all.links[k.name] == k {
		delete(k.all.links, k.name)
	}
	k.wait(nil)
	if k.opener != nil && !k.all.closed {
		k.opener.End(final{k.opening.Err()})
	}
}

// wait ends the opening after a while, nil for never. It is called under Links.mu.
func (k *link) wait(then func()) {
	if k.ends != nil {
		k.ends.Stop()
		k.ends = nil
	}
	if then != nil {
		k.ends = time.AfterFunc(k.all.away, then)
	}
}

// take gives the opening to an opener, and what that one does not know: the pages that are there, and those that wait.
func (k *link) take(o *Opener, keys [][]byte) {
	k.all.mu.Lock()
	before := k.opener
	k.opener = o
	k.wait(nil)
	k.all.mu.Unlock()
	if before != nil && before != o {
		before.End(final{errReplaced})
	}
	for _, key := range keys {
		k.opening.restore(key)
	}
	for _, m := range k.opening.knocks(keys) {
		o.put(m)
	}
}

// leave notes that an opener's connection was lost.
func (k *link) leave(o *Opener) {
	k.all.mu.Lock()
	defer k.all.mu.Unlock()
	if k.opener != o {
		return
	}
	k.opener = nil
	if k.opening.ctx.Err() == nil && !k.all.closed {
		k.wait(func() { k.opening.End(errAway) })
	}
}

// tell tells the opener something, if it is there. What it misses it is told when it comes back.
func (k *link) tell(m protocol.Message) {
	k.all.mu.Lock()
	defer k.all.mu.Unlock()
	if k.opener != nil {
		k.opener.put(m)
	}
}

func (k *link) entered(v Visitor) {
	k.all.door.cfg.Log.Info("page came in", "page", v.ID, "role", v.Role, "token", k.who.Name)
	k.tell(&protocol.PageKnock{PageID: v.ID, KeyB64: v.Key})
}

func (k *link) left(v Visitor) {
	k.all.door.cfg.Log.Info("page is over", "page", v.ID, "token", k.who.Name)
	k.tell(&protocol.PageGone{KeyB64: v.Key})
}

// admit has the opener ask its user about a page. That one's machine makes the key known to its proxies, and takes it back when it
// is told that the page is over.
func (k *link) admit(ctx context.Context, v Visitor) (leave func(), err error) {
	answer := make(chan bool, 1)
	k.all.mu.Lock()
	k.answers[string(v.Key)] = answer
	k.all.mu.Unlock()
	defer func() {
		k.all.mu.Lock()
		defer k.all.mu.Unlock()
		delete(k.answers, string(v.Key))
	}()
	k.tell(&protocol.PageKnock{PageID: v.ID, KeyB64: v.Key, Pending: true})
	select {
	case yes := <-answer:
		if !yes {
			return nil, errRefused
		}
		return func() {}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// answer is the user's answer about a page. A yes about one that is not known lets it in: the server has been started anew since it
// asked.
func (k *link) answer(m *protocol.PageAdmit) {
	k.all.mu.Lock()
	waiting := k.answers[string(m.KeyB64)]
	k.all.mu.Unlock()
	switch {
	case waiting != nil:
		select {
		case waiting <- m.Admit:
		default: // it was answered
		}
	case m.Admit:
		k.opening.restore(m.KeyB64)
	}
}

// join is a page's connection to the switchboard.
func (k *link) join(port Port) (Link, error) {
	terms := k.opening.terms
	who := k.who
	who.Role = terms.Role
	return Seated(port.Join(who, termsRights(terms))), nil
}

// Seated is the link of a participant in a switchboard of this process.
func Seated(seat Seat) Link { return &seated{seat: seat, done: make(chan struct{})} }

// seated is a page's link to a switchboard in this process.
type seated struct {
	seat Seat
	done chan struct{}
	once sync.Once
}

// Send implements Link.
func (s *seated) Send(m protocol.Message) error {
	s.seat.Handle(m)
	return nil
}

// Next implements Link.
func (s *seated) Next() ([]byte, error) {
	for {
		m, err := s.seat.Next(s.done)
		if err != nil {
			return nil, err
		}
		if frame, err := protocol.Encode(m); err == nil { // what cannot be sent is not for pages
			return frame, nil
		}
	}
}

// Close implements Link.
func (s *seated) Close() {
	s.once.Do(func() {
		close(s.done)
		s.seat.Leave()
	})
}

// restore lets a page in that the user has let in before, unless there is no room for it.
func (o *Opening) restore(key ed25519.PublicKey) {
	v := o.visitor(key, nil)
	v.pending = false
	o.door.mu.Lock()
	defer o.door.mu.Unlock()
	if o.ctx.Err() == nil && o.visitors[v.ID] == nil && len(o.visitors) < maxPages {
		o.add(v)
	}
}

// knocks say which pages there are, but for those that have one of the keys and were let in.
func (o *Opening) knocks(known [][]byte) (all []protocol.Message) {
	o.door.mu.Lock()
	defer o.door.mu.Unlock()
	for _, v := range o.visitors {
		if v.pending || !slices.ContainsFunc(known, func(key []byte) bool { return v.Key.Equal(ed25519.PublicKey(key)) }) {
			all = append(all, &protocol.PageKnock{PageID: v.ID, KeyB64: v.Key, Pending: v.pending})
		}
	}
	return all
}
