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

// Terms are the rights of an opening's pages, their duration and their callbacks. Role, Expires and
// Dial are required.
type Terms struct {
	// Role is the role of the pages: RoleViewer or RoleOwner.
	Role auth.Role
	// Session is the only session that pages may see; "" means all.
	Session string
	// Expires is the end of the opening, by the wall clock.
	Expires time.Time
	// Secret determines the ids of the pages: with the same secret a key has the same id in every
	// opening. "" stands for a random one.
	Secret string
	// Dial connects to the gateway for one page.
	Dial func(context.Context) (Link, error)
	// Count counts a page's connection for its owner. The page shows its error, and connects again
	// later. It may be nil.
	Count func(*http.Request) error
	// Admit asks the user whether an owner's page may enter, until ctx ends, and registers its key
	// with the proxies. leave removes the key again; it is called once. Admit is called from a
	// goroutine of its own.
	Admit func(ctx context.Context, v Visitor) (leave func(), err error)
	// Records answers requests about recordings on one page's connection; it may be nil. Only
	// owners' pages send them.
	Records func() Records
	// Entered is called when a page has entered, and Left when one that entered has ended. They may
	// be nil.
	Entered, Left func(Visitor)
}

// Opening holds the links of one gateway open, one at a time, and the pages that entered by them.
// All methods may be called from any goroutine.
type Opening struct {
	door  *Door
	terms Terms
	ctx   context.Context // its cause is the reason of the end
	over  context.CancelCauseFunc

	// The rest is guarded by Door.mu.
	code     string // "" after its use
	codeEnds time.Time
	visitors map[string]*visitor
	sockets  int
}

// Open creates an opening, which has no link yet.
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

// Code returns the code of a new link. The previous code becomes invalid.
func (o *Opening) Code() string {
	o.door.mu.Lock()
	defer o.door.mu.Unlock()
	o.code, o.codeEnds = strings.ToLower(rand.Text()[:codeLength]), o.door.cfg.Now().Add(codeFor)
	return o.code
}

// Done is closed when the opening has ended: by EndOpening, with its door, or at Expires.
func (o *Opening) Done() <-chan struct{} { return o.ctx.Done() }

// Err returns the reason of the opening's end, or nil.
func (o *Opening) Err() error { return context.Cause(o.ctx) }

// EndOpening ends the opening for a reason. It tells every page, and their keys become invalid.
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

// endOnTime ends the opening at Expires.
func (o *Opening) endOnTime() {
	now := o.door.cfg.Now
	for {
		left := o.terms.Expires.Round(0).Sub(now().Round(0))
		if left <= 0 {
			o.EndOpening(errOver)
			return
		}
		if pace.Pause(o.ctx, min(left, o.door.cfg.Times.ClockCheck)) != nil {
			return
		}
	}
}

// errInvalidCode is the error of useCode.
var errInvalidCode = errors.New("no link has this code")

// useCode invalidates a code, and returns its opening. It compares all codes, each in constant
// time.
func (d *Door) useCode(code string) (*Opening, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found *Opening
	for o := range d.openings {
		valid := o.code != "" && d.cfg.Now().Before(o.codeEnds) && o.ctx.Err() == nil
		if subtle.ConstantTimeCompare([]byte(code), []byte(o.code)) == 1 && valid {
			found = o
		}
	}
	if found == nil {
		return nil, errInvalidCode
	}
	found.code = ""
	return found, nil
}
