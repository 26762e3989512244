package page

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"strconv"
	"strings"
	"time"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// Visitor is a page that has entered, or asks to.
type Visitor struct {
	ID    string
	Role  auth.Role
	Key   ed25519.PublicKey
	Words []string // see [Words]
}

// visitor is a page that used a code. A page that comes with the same key again is the same
// visitor.
type visitor struct {
	Visitor
	opening *Opening
	ctx     context.Context // its cause is the reason of the page's end
	end     context.CancelCauseFunc

	// The rest is guarded by Door.mu.
	pending bool      // the user has not answered, or was not asked
	leave   func()    // removes the key from the proxies; nil if it was not registered
	sockets int       // open
	seen    time.Time // when it entered, or last had a connection
	moments map[int64]time.Time
}

// ticket opens one WebSocket.
type ticket struct {
	owner *visitor
	ends  time.Time
}

// ID returns the id of a page with a key, in an opening with a secret.
func ID(secret string, key ed25519.PublicKey) string {
	sum := sha256.Sum256(append([]byte(secret+"\n"), key...))
	return "p-" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:10]
}

// newVisitor returns the page of a key, not registered yet.
func (o *Opening) newVisitor(key ed25519.PublicKey, words []string) *visitor {
	return &visitor{
		Visitor: Visitor{ID: ID(o.terms.Secret, key), Role: o.terms.Role, Key: key, Words: words},
		opening: o,
		pending: o.terms.Role == auth.RoleOwner,
		seen:    o.door.cfg.Now(),
		moments: make(map[int64]time.Time),
	}
}

// admitKey returns the page of a key, and registers a new one.
func (o *Opening) admitKey(key ed25519.PublicKey, words []string) (*visitor, error) {
	d, v := o.door, o.newVisitor(key, words)
	d.mu.Lock()
	if o.ctx.Err() != nil {
		d.mu.Unlock()
		return nil, context.Cause(o.ctx)
	}
	if known := o.visitors[v.ID]; known != nil {
		d.mu.Unlock()
		return known, nil
	}
	afterUnlock := o.evictIdleLocked()
	if len(o.visitors) == maxPages {
		d.mu.Unlock()
		return nil, errFull
	}
	o.registerLocked(v)
	if v.pending {
		d.wg.Go(func() { o.askUser(v) }) // ends with the answer, or with the page
	}
	d.mu.Unlock()
	afterUnlock()
	return v, nil
}

// registerLocked registers a page.
func (o *Opening) registerLocked(v *visitor) {
	v.ctx, v.end = context.WithCancelCause(o.ctx)
	o.visitors[v.ID], o.door.visitors[v.ID] = v, v
}

// evictIdleLocked makes room if needed: it ends the page that has been without a connection for the
// longest time. Call the result without the lock. A page that the user is being asked about stays.
func (o *Opening) evictIdleLocked() (then func()) {
	if len(o.visitors) < maxPages {
		return func() {}
	}
	var idle []*visitor
	for _, v := range o.visitors {
		if v.sockets == 0 && !v.pending {
			idle = append(idle, v)
		}
	}
	if len(idle) == 0 {
		return func() {}
	}
	return o.door.removeLocked(
		slices.MinFunc(idle, func(x, y *visitor) int { return x.seen.Compare(y.seen) }),
		errEvicted,
	)
}

// removeLocked ends a page. Call the result without the lock; it removes the page's key.
func (d *Door) removeLocked(v *visitor, why error) (then func()) {
	delete(v.opening.visitors, v.ID)
	delete(d.visitors, v.ID)
	v.end(why)
	leave, left := v.leave, v.opening.terms.Left
	v.leave = nil
	return func() {
		if leave != nil {
			leave()
		}
		if left != nil {
			left(v.Visitor)
		}
	}
}

// askUser asks the user about an owner's page.
func (o *Opening) askUser(v *visitor) {
	d := o.door
	ctx, cancel := context.WithTimeout(v.ctx, d.cfg.Times.Ask)
	defer cancel()
	leave, err := o.terms.Admit(ctx, v.Visitor)
	d.mu.Lock()
	then := func() {}
	switch {
	case v.ctx.Err() != nil: // it has ended meanwhile
		if err == nil {
			then = leave
		}
	case err != nil:
		d.cfg.Log.Info("a page was not admitted", "page", v.ID, "error", err)
		then = d.removeLocked(v, errRefused)
	default:
		v.pending, v.leave = false, leave
	}
	d.mu.Unlock()
	then()
	if err == nil {
		o.reportEntered(v)
	}
}

func (o *Opening) reportEntered(v *visitor) {
	if o.terms.Entered != nil && v.ctx.Err() == nil {
		o.terms.Entered(v.Visitor)
	}
}

// TicketBytes returns the bytes that a page signs for a ticket; at is its time in Unix
// milliseconds.
func TicketBytes(pageID string, at int64) []byte {
	return []byte(protocol.Version + " ticket\n" + pageID + "\n" + strconv.FormatInt(at, 10) + "\n")
}

// issueTicket returns a ticket for a signature, which is valid once, and only about now.
func (d *Door) issueTicket(pageID string, at int64, signature []byte) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, now := d.visitors[pageID], d.cfg.Now()
	switch {
	case v == nil && now.Before(d.cfg.GathersUntil):
		return "", errGathering
	case v == nil || v.ctx.Err() != nil:
		return "", errUnknownPage
	}
	if !ed25519.Verify(v.Key, TicketBytes(pageID, at), signature) {
		return "", errSignature
	}
	if age := now.Sub(time.UnixMilli(at)); age > clockSpan || age < -clockSpan {
		return "", errMoment
	}
	for moment, ends := range v.moments {
		if now.After(ends) {
			delete(v.moments, moment)
		}
	}
	if _, used := v.moments[at]; used {
		return "", errMoment
	}
	if len(v.moments) == maxMoments {
		return "", errOften
	}
	v.moments[at] = time.UnixMilli(at).Add(clockSpan)
	if v.pending {
		return "", errPending
	}
	d.forgetTickets(v, now)
	name := strings.ToLower(rand.Text())
	d.tickets[name] = ticket{v, now.Add(ticketFor)}
	return name, nil
}

// forgetTickets removes invalid tickets, and the oldest of a page that has its maximum.
func (d *Door) forgetTickets(v *visitor, now time.Time) {
	type named struct {
		name string
		ends time.Time
	}
	var own []named
	for name, t := range d.tickets {
		switch {
		case now.After(t.ends) || t.owner.ctx.Err() != nil:
			delete(d.tickets, name)
		case t.owner == v:
			own = append(own, named{name, t.ends})
		}
	}
	if len(own) >= maxTickets {
		oldest := slices.MinFunc(own, func(x, y named) int {
			return cmp.Compare(x.ends.UnixNano(), y.ends.UnixNano())
		})
		delete(d.tickets, oldest.name)
	}
}

// useTicket returns the page that a ticket was issued to, and reserves a slot for its connection
// until free is called.
func (d *Door) useTicket(name string) (v *visitor, free func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t, known := d.tickets[name]
	delete(d.tickets, name)
	switch {
	case !known || d.cfg.Now().After(t.ends):
		d.refused.Add(1)
		return nil, nil, errTicket
	case t.owner.ctx.Err() != nil:
		return nil, nil, closedError{context.Cause(t.owner.ctx)}
	case t.owner.opening.sockets == maxSockets:
		return nil, nil, errConnections
	}
	v = t.owner
	v.opening.sockets++
	v.sockets++
	return v, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		v.opening.sockets--
		v.sockets--
		v.seen = d.cfg.Now()
	}, nil
}
