package page

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/access/rights"
	"terminalproxy/protocol"
)

// Bounds of the links of a server.
const (
	maxOpenings         = 256
	maxOpeningsPerToken = 16
	longestOpening      = 7 * 24 * time.Hour
	// awayFor is how long pages stay after their opener's connection was lost.
	awayFor = 2 * time.Minute
	// gatherFor is how long after its start a server may not know pages yet whose opener is
	// reconnecting.
	gatherFor = 30 * time.Second
)

// Reasons for the end of an opening at a server.
var (
	errAway     = errors.New("the terminal that opened the page has been away for two minutes")
	errReplaced = errors.New("another connection has taken over this opening")
	errBehind   = errors.New("messages were not read in time")
	errLeft     = errors.New("the connection ended")
)

// Seat is a participant in a server's switchboard; package hub implements it.
type Seat interface {
	Handle(m protocol.Message)
	Next(done <-chan struct{}) (protocol.Message, error)
	Leave()
}

// Port gives links access to their server.
type Port struct {
	// Join adds a page to the switchboard, under the identity that opened its link, limited to the
	// set.
	Join func(identity auth.Identity, set rights.Set) Seat
	// Count counts a page's connection for the identity that opened its link. The page shows its
	// error, and connects again later.
	Count func(r *http.Request, identity auth.Identity) error
}

// Links holds the pages of a server, with the links that its users open by gateway open. All
// methods may be called from any goroutine.
type Links struct {
	door *Door
	away time.Duration

	mu      sync.Mutex
	closed  bool
	links   map[openingName]*hostedOpening
	openers map[*Opener]struct{}
}

// openingName identifies an opening when its opener reconnects.
type openingName struct{ token, secret string }

// NewLinks returns the pages of a server. The caller closes it.
func NewLinks(cfg Config) (*Links, error) {
	if cfg.GathersUntil.IsZero() {
		cfg.GathersUntil = time.Now().Add(gatherFor)
	}
	door, err := New(cfg)
	if err != nil {
		return nil, err
	}
	return &Links{
		door:    door,
		away:    awayFor,
		links:   make(map[openingName]*hostedOpening),
		openers: make(map[*Opener]struct{}),
	}, nil
}

// ServeHTTP implements http.Handler, for the paths of [Door].
func (l *Links) ServeHTTP(w http.ResponseWriter, r *http.Request) { l.door.ServeHTTP(w, r) }

// RejectRequest answers a request for which there is no room; see [Door.TurnAway].
func (l *Links) RejectRequest(w http.ResponseWriter, r *http.Request, why error) {
	l.door.TurnAway(w, r, why)
}

// CutInvalid ends, for a reason, everything that invalid tokens have opened.
func (l *Links) CutInvalid(isValid func(tokenID string) bool, why error) {
	l.mu.Lock()
	var over []*Opening
	var gone []*Opener
	for _, k := range l.links {
		if !isValid(k.identity.TokenID) {
			over = append(over, k.opening)
		}
	}
	for o := range l.openers {
		if !isValid(o.identity.TokenID) {
			gone = append(gone, o)
		}
	}
	l.mu.Unlock()
	for _, o := range over {
		o.EndOpening(why)
	}
	for _, o := range gone {
		o.End(finalError{why})
	}
}

// Close ends all openers for a reason. It tells the pages to connect again.
func (l *Links) Close(why error) {
	l.mu.Lock()
	l.closed = true
	for o := range l.openers {
		o.End(why)
	}
	for _, k := range l.links {
		k.endAfterLocked(nil)
	}
	l.mu.Unlock()
	l.door.CloseForMove()
}

// hostedOpening is an opening at a server. Links.mu guards the fields below the first four.
type hostedOpening struct {
	links    *Links
	name     openingName
	identity auth.Identity
	opening  *Opening

	opener  *Opener     // nil while disconnected
	ends    *time.Timer // ends the opening of an opener that stays away
	answers map[string]chan bool
}

// findOrOpen returns the opening that a message names, and creates it if needed.
func (l *Links) findOrOpen(
	identity auth.Identity,
	port Port,
	m *protocol.PageOpen,
) (*hostedOpening, *protocol.Error) {
	refuse := func(code protocol.Code, message string) (*hostedOpening, *protocol.Error) {
		return nil, &protocol.Error{RequestID: m.RequestID, Code: code, Message: message}
	}
	terms := Terms{
		Role:    auth.Role(m.Role),
		Session: m.SessionID,
		Secret:  m.Secret,
		Expires: l.expiryOf(identity, m),
	}
	if terms.Role == auth.RoleOwner && identity.Role != auth.RoleOwner {
		return refuse(protocol.CodeForbidden, "a token of role "+string(identity.Role)+
			" opens viewers' pages only: leave --role out, or use an owner's token")
	}
	name := openingName{identity.TokenID, m.Secret}
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.links[name]; known != nil && known.opening.ctx.Err() == nil {
		if known.opening.terms.Role != terms.Role || known.opening.terms.Session != terms.Session {
			return refuse(protocol.CodeForbidden,
				"this opening has another role, or another session")
		}
		return known, nil
	}
	own := 0
	for n := range l.links {
		if n.token == identity.TokenID {
			own++
		}
	}
	switch {
	case l.closed:
		return refuse(protocol.CodeUnavailable, "the gateway is closing")
	case own >= maxOpeningsPerToken || len(l.links) >= maxOpenings:
		return refuse(protocol.CodeBusy, "too many pages are open: end one that runs with Ctrl+C")
	}
	k := &hostedOpening{links: l, name: name, identity: identity, answers: make(map[string]chan bool)}
	terms.Dial = func(context.Context) (Link, error) { return k.joinHub(port) }
	terms.Count = func(r *http.Request) error { return port.Count(r, identity) }
	terms.Admit, terms.Entered, terms.Left = k.askOpener, k.reportEntered, k.reportLeft
	var err error
	if k.opening, err = l.door.Open(terms); err != nil {
		return refuse(protocol.CodeUnavailable, err.Error())
	}
	l.links[name] = k
	l.door.cfg.Log.Info("pages opened",
		"token", identity.Name,
		"role", m.Role,
		"session", m.SessionID,
	)
	l.door.wg.Go(k.forgetWhenOver) // ends with the opening
	return k, nil
}

// expiryOf returns the end of an opening, at most that of its token.
func (l *Links) expiryOf(identity auth.Identity, m *protocol.PageOpen) time.Time {
	end, most := time.UnixMilli(m.ExpiresAt), l.door.cfg.Now().Add(longestOpening)
	if end.After(most) {
		end = most
	}
	if !identity.Expires.IsZero() && end.After(identity.Expires) {
		end = identity.Expires
	}
	return end
}

// forgetWhenOver waits for the end of the opening, removes it, and tells its opener.
func (k *hostedOpening) forgetWhenOver() {
	<-k.opening.Done()
	k.links.door.cfg.Log.Info("pages closed", "token", k.identity.Name, "cause", k.opening.Err())
	k.links.mu.Lock()
	defer k.links.mu.Unlock()
	if k.links.links[k.name] == k {
		delete(k.links.links, k.name)
	}
	k.endAfterLocked(nil)
	if k.opener != nil && !k.links.closed {
		k.opener.End(finalError{k.opening.Err()})
	}
}

// endAfterLocked calls then when the opener has been away too long; nil cancels that.
func (k *hostedOpening) endAfterLocked(then func()) {
	if k.ends != nil {
		k.ends.Stop()
		k.ends = nil
	}
	if then != nil {
		k.ends = time.AfterFunc(k.links.away, then)
	}
}

// attachOpener gives the opening to an opener, and sends it the pages that are new to it.
func (k *hostedOpening) attachOpener(o *Opener, keys [][]byte) {
	k.links.mu.Lock()
	before := k.opener
	k.opener = o
	k.endAfterLocked(nil)
	k.links.mu.Unlock()
	if before != nil && before != o {
		before.End(finalError{errReplaced})
	}
	for _, key := range keys {
		k.opening.restoreVisitor(key)
	}
	for _, m := range k.opening.visitorNotices(keys) {
		o.enqueue(m)
	}
}

// detachOpener handles the loss of an opener's connection.
func (k *hostedOpening) detachOpener(o *Opener) {
	k.links.mu.Lock()
	defer k.links.mu.Unlock()
	if k.opener != o {
		return
	}
	k.opener = nil
	if k.opening.ctx.Err() == nil && !k.links.closed {
		k.endAfterLocked(func() { k.opening.EndOpening(errAway) })
	}
}

// sendOpener sends a message to the opener if it is connected. One that reconnects gets the missed
// pages.
func (k *hostedOpening) sendOpener(m protocol.Message) {
	k.links.mu.Lock()
	defer k.links.mu.Unlock()
	if k.opener != nil {
		k.opener.enqueue(m)
	}
}

func (k *hostedOpening) reportEntered(v Visitor) {
	k.links.door.cfg.Log.Info("page entered", "page", v.ID, "role", v.Role, "token", k.identity.Name)
	k.sendOpener(&protocol.PageKnock{PageID: v.ID, KeyB64: v.Key})
}

func (k *hostedOpening) reportLeft(v Visitor) {
	k.links.door.cfg.Log.Info("page ended", "page", v.ID, "token", k.identity.Name)
	k.sendOpener(&protocol.PageGone{KeyB64: v.Key})
}

// askOpener asks the opener's user about a page. The opener's machine registers the key with its
// proxies, and removes it at the end of the page.
func (k *hostedOpening) askOpener(ctx context.Context, v Visitor) (leave func(), err error) {
	answer := make(chan bool, 1)
	k.links.mu.Lock()
	k.answers[string(v.Key)] = answer
	k.links.mu.Unlock()
	defer func() {
		k.links.mu.Lock()
		defer k.links.mu.Unlock()
		delete(k.answers, string(v.Key))
	}()
	k.sendOpener(&protocol.PageKnock{PageID: v.ID, KeyB64: v.Key, Pending: true})
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

// applyAnswer applies the user's answer about a page. A yes about an unknown page admits it: the
// server has restarted since it asked.
func (k *hostedOpening) applyAnswer(m *protocol.PageAdmit) {
	k.links.mu.Lock()
	waiting := k.answers[string(m.KeyB64)]
	k.links.mu.Unlock()
	switch {
	case waiting != nil:
		select {
		case waiting <- m.Admit:
		default: // already answered
		}
	case m.Admit:
		k.opening.restoreVisitor(m.KeyB64)
	}
}

// joinHub adds a page to the switchboard.
func (k *hostedOpening) joinHub(port Port) (Link, error) {
	terms := k.opening.terms
	identity := k.identity
	identity.Role = terms.Role
	return NewSeatLink(port.Join(identity, termsRights(terms))), nil
}

// NewSeatLink returns the link of a participant in a switchboard of this process.
func NewSeatLink(seat Seat) Link { return &seated{seat: seat, done: make(chan struct{})} }

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
		if frame, err := protocol.Encode(m); err == nil { // an unencodable message is not for pages
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

// restoreVisitor admits a page that the user has admitted before, if there is room.
func (o *Opening) restoreVisitor(key ed25519.PublicKey) {
	v := o.newVisitor(key, nil)
	v.pending = false
	o.door.mu.Lock()
	defer o.door.mu.Unlock()
	if o.ctx.Err() == nil && o.visitors[v.ID] == nil && len(o.visitors) < maxPages {
		o.registerLocked(v)
	}
}

// visitorNotices returns a notice for each page, except admitted ones whose keys are known.
func (o *Opening) visitorNotices(known [][]byte) (all []protocol.Message) {
	o.door.mu.Lock()
	defer o.door.mu.Unlock()
	for _, v := range o.visitors {
		if v.pending ||
			!slices.ContainsFunc(known, func(key []byte) bool {
				return v.Key.Equal(ed25519.PublicKey(key))
			}) {
			all = append(all, &protocol.PageKnock{PageID: v.ID, KeyB64: v.Key, Pending: v.pending})
		}
	}
	return all
}
