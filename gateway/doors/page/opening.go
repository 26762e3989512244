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

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol/pace"
)

// Terms say what the pages of an opening may do, until when, and for whom. Role, Expires and Dial
// are required.
type Terms struct {
	// Role is the role of the pages: RoleViewer or RoleOwner.
	Role auth.Role
	// Session is the session that pages are limited to, or "".
	Session string
	// Expires is the end of the opening, by the clock on the wall.
	Expires time.Time
	// Secret makes the ids of the pages: with the same secret a key has the same id in every
	// opening. "" makes a random one.
	Secret string
	// Dial connects to the gateway for one page.
	Dial func(context.Context) (Link, error)
	// NotifyAfter is how long an agent waits, without a viewer, before pages that want to be
	// notified are; default 10 s.
	NotifyAfter time.Duration
	// Count counts a page's connection with its owner. A page reads its error, and comes back
	// later. It may be nil.
	Count func(*http.Request) error
	// Admit asks the user whether an owner's page may come in, until ctx ends, and makes its key
	// one that proxies believe. leave takes that back and is called once. Admit is called from a
	// goroutine of its own.
	Admit func(ctx context.Context, v Visitor) (leave func(), err error)
	// Records answers one page's connection about recordings; it may be nil. Only owners' pages
	// ask.
	Records func() Records
	// Entered is called for every page that has come in, and Left for every one of them that is
	// over. They may be nil.
	Entered, Left func(Visitor)
}

// Opening holds the links of one gateway open, one after the other, and the pages that came in by
// them. All methods may be called from any goroutine.
type Opening struct {
	door  *Door
	terms Terms
	ctx   context.Context // its cause says why it is over
	over  context.CancelCauseFunc

	// The rest is guarded by Door.mu.
	code     string // "" when it was used
	codeEnds time.Time
	visitors map[string]*visitor
	sockets  int
	watched  bool // for agents that wait
}

// Open makes an opening, which has no link yet.
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
	d.wg.Go(o.endOnTime) // ends with the opening
	return o, nil
}

// Code makes the code of a new link. The code before it becomes invalid.
func (o *Opening) Code() string {
	o.door.mu.Lock()
	defer o.door.mu.Unlock()
	o.code, o.codeEnds = strings.ToLower(rand.Text()[:codeLength]), o.door.cfg.Now().Add(codeFor)
	return o.code
}

// Done is closed when the opening is over: by EndOpening, with its door, or because its time is
// over.
func (o *Opening) Done() <-chan struct{} { return o.ctx.Done() }

// Err returns the reason why the opening is over, or nil.
func (o *Opening) Err() error { return context.Cause(o.ctx) }

// EndOpening ends the opening for a reason. Every page is told, and their keys become invalid.
func (o *Opening) EndOpening(why error) {
	o.over(why)
	d := o.door
	d.mu.Lock()
	delete(d.openings, o)
	var left []func()
	for _, v := range o.visitors {
		left = append(left, d.removeLocked(v, context.Cause(o.ctx)))
	}
	d.mu.Unlock()
	for _, leave := range left {
		leave()
	}
}

// endOnTime ends the opening when its time is over.
func (o *Opening) endOnTime() {
	now := o.door.cfg.Now
	for {
		left := o.terms.Expires.Round(0).Sub(now().Round(0))
		if left <= 0 {
			o.EndOpening(errOver)
			return
		}
		if pace.Pause(o.ctx, min(left, o.door.cfg.Times.Look)) != nil {
			return
		}
	}
}

// errUnspent is the answer to an invalid code.
var errUnspent = errors.New("no link has this code")

// useCode uses a code up, and returns its opening. It compares all codes, each in constant time.
func (d *Door) useCode(code string) (*Opening, error) {
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
