package page

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"time"

	"terminalproxy/gateway/auth"
)

// Terms are what the pages of an opening may be, until when, and who answers for them. Role, Expires and Dial are required.
type Terms struct {
	// Role is what pages may be: RoleViewer or RoleOwner.
	Role auth.Role
	// Session is the one that pages are limited to, "" for none.
	Session string
	// Expires is the end of the opening, by the clock on the wall.
	Expires time.Time
	// Secret makes the ids of the pages: with the same one a key has the same id, wherever the page comes in. "" makes a random one.
	Secret string
	// Dial connects to the gateway for one page.
	Dial func(context.Context) (Link, error)
	// NotifyAfter is how long an agent waits, and nobody looks, before pages that want to be notified are; default 10 s.
	NotifyAfter time.Duration
	// Count has a page's connection counted with whoever answers for it. A page reads its error, and comes back later. It may be nil.
	Count func(*http.Request) error
	// Admit asks the user whether an owner's page may come in, until ctx ends, and makes its key one that proxies believe. leave
	// takes that back and is called once. It is called from a goroutine of its own.
	Admit func(ctx context.Context, v Visitor) (leave func(), err error)
	// Records answers one page's connection about recordings; nil knows none. Only owners' pages ask.
	Records func() Records
	// Entered is told of every page that has come in, Left of every one of them that is over. They may be nil.
	Entered, Left func(Visitor)
}

// Opening is what a user who runs gateway open has opened: links, one after the other, and the pages that came in by them. All
// methods may be called from any goroutine.
type Opening struct {
	door  *Door
	terms Terms
	ctx   context.Context // its cause is why it is over
	over  context.CancelCauseFunc

	// The rest is under Door.mu.
	code     string // "" when it was used
	codeEnds time.Time
	visitors map[string]*visitor
	sockets  int
	watched  bool // for agents that wait
}

// Open makes an opening, for which there is no link yet.
func (d *Door) Open(t Terms) (*Opening, error) {
	t.Secret = cmp.Or(t.Secret, rand.Text())
	o := &Opening{door: d, terms: t, visitors: make(map[string]*visitor)}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx.Err() != nil {
		return nil, context.Cause(d.ctx)
	}
	o.ctx, o.over = context.WithCancelCause(d.ctx)
	d.openings[o] = struct{}{}
	d.wg.Go(o.clock) // ends with the opening
	return o, nil
}

// Code makes the code of a new link; the one before is worth nothing any more.
func (o *Opening) Code() string {
	o.door.mu.Lock()
	defer o.door.mu.Unlock()
	o.code, o.codeEnds = strings.ToLower(rand.Text()[:codeLength]), o.door.cfg.Now().Add(codeFor)
	return o.code
}

// Done is closed when the opening is over: by End, with its door, or because its time is over.
func (o *Opening) Done() <-chan struct{} { return o.ctx.Done() }

// Err is why the opening is over, nil before.
func (o *Opening) Err() error { return context.Cause(o.ctx) }

// End ends the opening for a reason: every page is told, and their keys are worth nothing any more.
func (o *Opening) End(why error) {
	o.over(why)
	d := o.door
	d.mu.Lock()
	delete(d.openings, o)
	var left []func()
	for _, v := range o.visitors {
		left = append(left, d.drop(v, context.Cause(o.ctx)))
	}
	d.mu.Unlock()
	for _, leave := range left {
		leave()
	}
}

// clock ends the opening when its time is over.
func (o *Opening) clock() {
	now := o.door.cfg.Now
	for {
		left := o.terms.Expires.Round(0).Sub(now().Round(0))
		if left <= 0 {
			o.End(errOver)
			return
		}
		select {
		case <-time.After(min(left, o.door.cfg.Times.Look)):
		case <-o.ctx.Done():
			return
		}
	}
}

// errUnspent is the answer to a code that opens nothing.
var errUnspent = errors.New("no link has this code")

// spend uses a code up, and says which opening it is of. All codes are compared, each in constant time.
func (d *Door) spend(code string) (*Opening, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found *Opening
	for o := range d.openings {
		good := o.code != "" && d.cfg.Now().Before(o.codeEnds) && o.ctx.Err() == nil
		if subtle.ConstantTimeCompare([]byte(code), []byte(o.code)) == 1 && good {
			found = o
		}
	}
	if found == nil {
		return nil, errUnspent
	}
	found.code = ""
	return found, nil
}
