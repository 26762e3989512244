package cluster

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"terminalproxy/protocol/pace"
)

// Bounds of the connection to NATS.
const (
	dialTime   = time.Second
	redialWait = 250 * time.Millisecond
	pingEvery  = 500 * time.Millisecond // after two unanswered pings the server is gone
	// bound on unhandled bytes; few wait, as each sender awaits its answer.
	pendingBytes = 64 << 20
	claimTime    = time.Hour // how long a claim lasts without renewal
)

// natsBus is the bus over NATS: core, and one bucket.
type natsBus struct {
	conn *nats.Conn
	log  *slog.Logger
	cfg  Config

	ctx  context.Context // ends with close
	stop context.CancelFunc
	wg   sync.WaitGroup
	wake chan struct{} // holds a token when the servers need a check

	mu       sync.Mutex
	made     string // when the bucket was made, "" if unknown
	troubles Troubles
}

// dialNATS connects. It retries unreachable servers for ever, and returns an error if retrying
// cannot help with any of them.
func dialNATS(cfg Config, changed func()) (*natsBus, error) {
	b := &natsBus{log: cfg.Log, cfg: cfg, wake: make(chan struct{}, 1)}
	options, err := cfg.connectOptions(b, changed)
	if err != nil {
		return nil, err
	}
	b.ctx, b.stop = context.WithCancel(context.Background())
	options = append(options, nats.RetryOnFailedConnect(true))
	if b.conn, err = nats.Connect(strings.Join(cfg.Servers, ","), options...); err != nil {
		b.stop()
		return nil, fmt.Errorf("--cluster: %w", err)
	}
	if err := b.checkAtStart(); err != nil {
		b.stop()
		b.conn.Close()
		return nil, fmt.Errorf("--cluster: %w", err)
	}
	signal(b.wake)
	b.wg.Go(b.watchServers) // ends with ctx
	return b, nil
}

// checkAtStart checks the servers if none answers, and returns an error if retrying cannot help.
func (b *natsBus) checkAtStart() error {
	if b.isOnline() {
		return nil
	}
	all, err := CheckServers(b.ctx, b.cfg)
	if err != nil {
		return err
	}
	b.recordTroubles(all)
	switch {
	case b.cfg.IsHopeless(all):
		return Troubles(all)
	case !b.isOnline():
		b.log.Warn("cluster: not reached yet: this gateway continues with its own sessions")
	}
	return nil
}

// The rhythm of checks on servers in trouble.
const (
	troublePause = 10 * time.Second
	troubleEvery = time.Minute
)

// watchServers checks the servers at the start, after a loss, and as long as one is in trouble,
// until close.
func (b *natsBus) watchServers() {
	for {
		again := make(<-chan time.Time)
		if len(b.knownTroubles()) > 0 {
			again = time.After(troubleEvery)
		}
		select {
		case <-b.ctx.Done():
			return
		case <-b.wake:
		case <-again:
		}
		if all, err := CheckServers(b.ctx, b.cfg); err == nil && b.ctx.Err() == nil {
			b.recordTroubles(all)
		}
		if pace.Pause(b.ctx, troublePause) != nil {
			return
		}
	}
}

// knownTroubles returns the result of the last check.
func (b *natsBus) knownTroubles() Troubles {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.troubles
}

// recordTroubles keeps the result of a check, and logs the changes.
func (b *natsBus) recordTroubles(all []*Trouble) {
	b.mu.Lock()
	before := b.troubles
	b.troubles = all
	b.mu.Unlock()
	for _, t := range all {
		isSame := func(o *Trouble) bool { return o.Server == t.Server && o.Say == t.Say }
		if !slices.ContainsFunc(before, isSame) {
			b.log.Warn("cluster: a NATS server cannot be used",
				"server", t.Server, "why", t.Say, "do", t.Do)
		}
	}
	for _, o := range before {
		if !slices.ContainsFunc(all, func(t *Trouble) bool { return o.Server == t.Server }) {
			b.log.Info("cluster: that NATS server works again", "server", o.Server)
		}
	}
}

func (c Config) connectOptions(b *natsBus, changed func()) ([]nats.Option, error) {
	out := []nats.Option{
		nats.Name("terminalproxy gateway " + c.Name),
		nats.Timeout(dialTime),
		nats.ReconnectWait(redialWait),
		nats.MaxReconnects(-1),
		nats.PingInterval(pingEvery),
		nats.MaxPingsOutstanding(2),
		nats.NoEcho(),
		nats.ReconnectBufSize(-1), // an offline publish fails at once
		nats.IgnoreAuthErrorAbort(),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // nil: it was never connected
				b.log.Warn("cluster: not reached: this gateway continues with its own sessions",
					"error", err)
			}
			signal(b.wake)
			changed()
		}),
		nats.ConnectHandler(func(conn *nats.Conn) {
			b.log.Info("cluster: connected", "server", conn.ConnectedUrlRedacted())
			changed()
		}),
		nats.ReconnectHandler(func(conn *nats.Conn) {
			b.log.Info("cluster: connected again", "server", conn.ConnectedUrlRedacted())
			signal(b.wake)
			changed()
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			signal(b.wake)
			// the check reports it once, not with each heartbeat
			if !errors.Is(err, nats.ErrPermissionViolation) {
				b.log.Error("cluster", "error", err)
			}
		}),
	}
	identity, err := c.identityOptions()
	return append(out, identity...), err
}

// identityOptions returns the options by which a gateway and the servers know each other. An error
// names the file.
func (c Config) identityOptions() (out []nats.Option, err error) {
	if c.Credentials != "" {
		credentials, err := credentials(c.Credentials)
		if err != nil {
			return nil, err
		}
		out = append(out, credentials)
	}
	if c.CA != "" {
		text, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, &BadFile{authoritySetting, err}
		}
		if !x509.NewCertPool().AppendCertsFromPEM(text) {
			return nil, &BadFile{
				authoritySetting,
				fmt.Errorf("%s holds no certificate (-----BEGIN CERTIFICATE-----)", c.CA),
			}
		}
		out = append(out, nats.RootCAs(c.CA))
	}
	return out, nil
}

// credentials reads them from a file: a JWT with its key, or the seed of an NKey.
func credentials(path string) (nats.Option, error) {
	text, err := os.ReadFile(path)
	switch {
	case err != nil:
		return nil, &BadFile{credentialsSetting, err}
	case strings.Contains(string(text), "-----BEGIN NATS USER JWT-----"):
		return nats.UserCredentials(path), nil
	}
	option, err := nats.NkeyOptionFromSeed(path)
	if err != nil {
		return nil, &BadFile{
			credentialsSetting,
			fmt.Errorf("%s %s", path, describeCredentials(string(text))),
		}
	}
	return option, nil
}

func (b *natsBus) request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	answer, err := b.conn.RequestWithContext(ctx, subject, data)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil, errNoListener
	case err != nil:
		return nil, b.markOffline(err)
	}
	return answer.Data, nil
}

func (b *natsBus) publish(subject string, data []byte) error {
	return b.markOffline(b.conn.Publish(subject, data))
}

func (b *natsBus) listen(subject string, take func(data []byte, answer func([]byte))) error {
	sub, err := b.conn.Subscribe(subject, func(m *nats.Msg) {
		take(m.Data, func(data []byte) {
			if m.Reply != "" {
				_ = b.conn.Publish(m.Reply, data) // the sender's deadline reveals a lost answer
			}
		})
	})
	if err != nil {
		return fmt.Errorf("cluster: listen to %s: %w", subject, err)
	}
	return sub.SetPendingLimits(-1, pendingBytes)
}

func (b *natsBus) markOffline(err error) error {
	if err != nil && !b.isOnline() {
		return fmt.Errorf("%w: %w", errOffline, err)
	}
	return err
}

func (b *natsBus) isOnline() bool { return b.conn.IsConnected() }

func (b *natsBus) maxMessageBytes() int { return int(b.conn.MaxPayload()) }

func (b *natsBus) close() {
	b.stop()
	b.conn.Close()
	b.wg.Wait()
}
