package handshake

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"
)

// Doors holds the equivalent gateways of one address. If one gives no answer (a refused connection,
// a timeout, a server that cannot serve now), the next one is tried. Any answer ends the search,
// even a refusal: a revoked token must not find the one gateway that has not learned of the
// revocation. A gateway with a wrong certificate has received and answered nothing, so the next one
// is tried, but passed is always called. All methods are safe for concurrent use.
type Doors struct {
	urls   []string
	passed func(door string, why error)

	mu sync.Mutex
	at int // the first door to try
}

// shortestTry is the least time for each of several doors in the first round. It doubles with each
// round: over a slow network the first round could connect to none.
const shortestTry = time.Second

// NewDoors returns the doors of these URLs. passed is called for doors that were skipped because of
// their certificates; it may be nil.
func NewDoors(urls []string, passed func(door string, why error)) *Doors {
	return &Doors{urls: urls, passed: passed}
}

// Try tries each door once, until one opens. refused reports whether an error is an answer. round
// counts, from 0, the earlier calls that found no open door.
func (d *Doors) Try(
	ctx context.Context, round int, refused func(error) bool,
	knock func(ctx context.Context, door int) error,
) error {
	if len(d.urls) == 1 {
		return Worded(knock(ctx, 0))
	}
	d.mu.Lock()
	first := d.at
	d.mu.Unlock()
	var all error
	for i := range d.urls {
		door := (first + i) % len(d.urls)
		short, cancel := context.WithTimeout(ctx, shortestTry<<min(round, 4))
		err := knock(short, door)
		cancel()
		switch {
		case err == nil:
			d.mu.Lock()
			defer d.mu.Unlock()
			d.at = door
			return nil
		case refused(err):
			return fmt.Errorf("%s: %w", d.Name(door), err)
		case ctx.Err() != nil:
			return err
		}
		if bad, ok := errors.AsType[*tls.CertificateVerificationError](err); ok && d.passed != nil {
			d.passed(d.Name(door), Worded(bad))
		}
		all = joinErrors(all, fmt.Errorf("%s: %w", d.Name(door), Worded(err)))
	}
	return all
}

// joinErrors joins two errors in one line.
func joinErrors(one, other error) error {
	if one == nil {
		return other
	}
	return fmt.Errorf("%w; %w", one, other)
}

// NoteLost notes that a connection through a door was lost. The next door is tried first.
func (d *Doors) NoteLost(door int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at == door {
		d.at = (door + 1) % len(d.urls)
	}
}

// Several reports whether there is more than one.
func (d *Doors) Several() bool { return len(d.urls) > 1 }

// Name returns a door as users write it.
func (d *Doors) Name(door int) string {
	u, err := url.Parse(d.urls[door])
	if err != nil {
		return d.urls[door]
	}
	return u.Scheme + "://" + u.Host
}
