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

// Gateways holds the equivalent gateways of one address. If one gives no answer (a refused
// connection, a timeout, a server that cannot serve now), the next one is tried. Any answer ends
// the search, even a refusal: a revoked token must not find the one gateway that has not learned of
// the revocation. A gateway with a wrong certificate has received and answered nothing, so it is
// passed over like one without an answer, but always reported to skipped. All methods are safe for
// concurrent use.
type Gateways struct {
	urls    []string
	skipped func(gateway string, why error)

	mu    sync.Mutex
	first int // the index of the first gateway to try
}

// minTry is the time for each of several gateways in the first round. It doubles with each round,
// in case the network is slow.
const minTry = time.Second

// NewGateways returns the gateways with these URLs. skipped is called for each gateway that was
// passed over because of its certificate; it may be nil.
func NewGateways(urls []string, skipped func(gateway string, why error)) *Gateways {
	return &Gateways{urls: urls, skipped: skipped}
}

// Try dials each gateway once, until dial succeeds. refused reports whether an error is an answer.
// round counts, from 0, the earlier calls that failed.
func (g *Gateways) Try(
	ctx context.Context, round int, refused func(error) bool,
	dial func(ctx context.Context, gateway int) error,
) error {
	if len(g.urls) == 1 {
		return ExplainError(dial(ctx, 0))
	}
	g.mu.Lock()
	first := g.first
	g.mu.Unlock()
	var all error
	for i := range g.urls {
		gateway := (first + i) % len(g.urls)
		short, cancel := context.WithTimeout(ctx, minTry<<min(round, 4))
		err := dial(short, gateway)
		cancel()
		switch {
		case err == nil:
			g.mu.Lock()
			defer g.mu.Unlock()
			g.first = gateway
			return nil
		case refused(err):
			return fmt.Errorf("%s: %w", g.Name(gateway), err)
		case ctx.Err() != nil:
			return err
		}
		if bad, ok := errors.AsType[*tls.CertificateVerificationError](err); ok && g.skipped != nil {
			g.skipped(g.Name(gateway), ExplainError(bad))
		}
		all = joinErrors(all, fmt.Errorf("%s: %w", g.Name(gateway), ExplainError(err)))
	}
	return all
}

// joinErrors joins two errors on one line. one may be nil.
func joinErrors(one, other error) error {
	if one == nil {
		return other
	}
	return fmt.Errorf("%w; %w", one, other)
}

// NoteLost notes that the connection to a gateway was lost. The next gateway is tried first.
func (g *Gateways) NoteLost(gateway int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.first == gateway {
		g.first = (gateway + 1) % len(g.urls)
	}
}

// HasSeveral reports whether there is more than one gateway.
func (g *Gateways) HasSeveral() bool { return len(g.urls) > 1 }

// Name returns the address of a gateway as users write it.
func (g *Gateways) Name(gateway int) string {
	u, err := url.Parse(g.urls[gateway])
	if err != nil {
		return g.urls[gateway]
	}
	return u.Scheme + "://" + u.Host
}
