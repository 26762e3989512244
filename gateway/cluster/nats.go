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
)

// Bounds of the connection to NATS.
const (
	dialTime     = time.Second
	redialWait   = 250 * time.Millisecond
	pingEvery    = 500 * time.Millisecond // two without an answer: the server is gone
	pendingBytes = 64 << 20               // what may wait here for a handler; each sender waits for its answer, so that it is little
	claimTime    = time.Hour              // how long the claim of a gateway stands that does not renew it
)

// natsBus is NATS: core, and one bucket.
type natsBus struct {
	conn *nats.Conn
	log  *slog.Logger
	cfg  Config

	ctx  context.Context // ends with close
	stop context.CancelFunc
	wg   sync.WaitGroup
	wake chan struct{} // holds a token when servers have to be looked at

	mu       sync.Mutex
	made     string // when the bucket was, "" while that is not known
	troubles Troubles
}

// dialNATS connects. Servers that are not there now are tried again for ever; where none will ever be of use it is an error.
func dialNATS(cfg Config, changed func()) (*natsBus, error) {
	b := &natsBus{log: cfg.Log, cfg: cfg, wake: make(chan struct{}, 1)}
	options, err := cfg.options(b, changed)
	if err != nil {
		return nil, err
	}
	b.ctx, b.stop = context.WithCancel(context.Background())
	if b.conn, err = nats.Connect(strings.Join(cfg.Servers, ","), append(options, nats.RetryOnFailedConnect(true))...); err != nil {
		b.stop()
		return nil, fmt.Errorf("--cluster: %w", err)
	}
	if err := b.begin(); err != nil {
		b.stop()
		b.conn.Close()
		return nil, fmt.Errorf("--cluster: %w", err)
	}
	signal(b.wake)
	b.wg.Go(b.watch) // ends with ctx
	return b, nil
}

// begin looks at the servers when none answers: it is an error where none will ever be of use.
func (b *natsBus) begin() error {
	if b.online() {
		return nil
	}
	all, err := Check(b.ctx, b.cfg)
	if err != nil {
		return err
	}
	b.note(all)
	switch {
	case b.cfg.Hopeless(all):
		return Troubles(all)
	case !b.online():
		b.log.Warn("cluster: not reached yet: this gateway goes on with its own sessions")
	}
	return nil
}

// The rhythm in which servers are looked at in which something is wrong.
const (
	troublePause = 10 * time.Second
	troubleEvery = time.Minute
)

// watch looks at the servers at the start, when one was lost, and as long as something is wrong with one, until close.
func (b *natsBus) watch() {
	for {
		again := make(<-chan time.Time)
		if len(b.wrong()) > 0 {
			again = time.After(troubleEvery)
		}
		select {
		case <-b.ctx.Done():
			return
		case <-b.wake:
		case <-again:
		}
		if all, err := Check(b.ctx, b.cfg); err == nil && b.ctx.Err() == nil {
			b.note(all)
		}
		select {
		case <-b.ctx.Done():
			return
		case <-time.After(troublePause):
		}
	}
}

// wrong is what was wrong when the servers were looked at last.
func (b *natsBus) wrong() Troubles {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.troubles
}

// note keeps what is wrong with servers, and logs what is new.
func (b *natsBus) note(all []*Trouble) {
	b.mu.Lock()
	before := b.troubles
	b.troubles = all
	b.mu.Unlock()
	for _, t := range all {
		if !slices.ContainsFunc(before, func(o *Trouble) bool { return o.Server == t.Server && o.Say == t.Say }) {
			b.log.Warn("cluster: something is wrong with a NATS server", "server", t.Server, "why", t.Say, "do", t.Do)
		}
	}
	for _, o := range before {
		if !slices.ContainsFunc(all, func(t *Trouble) bool { return o.Server == t.Server }) {
			b.log.Info("cluster: nothing is wrong with that NATS server any more", "server", o.Server)
		}
	}
}

func (c Config) options(b *natsBus, changed func()) ([]nats.Option, error) {
	out := []nats.Option{
		nats.Name("terminalproxy gateway " + c.Name), nats.Timeout(dialTime), nats.ReconnectWait(redialWait), nats.MaxReconnects(-1),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2), nats.NoEcho(),
		nats.ReconnectBufSize(-1), // what cannot be sent now is an error now
		nats.IgnoreAuthErrorAbort(),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // else it was never there
				b.log.Warn("cluster: not reached: this gateway goes on with its own sessions", "error", err)
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
			if !errors.Is(err, nats.ErrPermissionViolation) { // the look at the servers says it once, and not with each heartbeat
				b.log.Error("cluster", "error", err)
			}
		}),
	}
	identity, err := c.identity()
	return append(out, identity...), err
}

// identity is how a gateway and the servers know each other. An error names the file.
func (c Config) identity() (out []nats.Option, err error) {
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
			return nil, &BadFile{authoritySetting, fmt.Errorf("%s holds no certificate (-----BEGIN CERTIFICATE-----)", c.CA)}
		}
		out = append(out, nats.RootCAs(c.CA))
	}
	return out, nil
}

// credentials are those of a file: a JWT with its key, or the seed of an NKey.
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
		return nil, &BadFile{credentialsSetting, fmt.Errorf("%s %s", path, worth(string(text)))}
	}
	return option, nil
}

func (b *natsBus) request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	answer, err := b.conn.RequestWithContext(ctx, subject, data)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil, errNobody
	case err != nil:
		return nil, b.worded(err)
	}
	return answer.Data, nil
}

func (b *natsBus) publish(subject string, data []byte) error {
	return b.worded(b.conn.Publish(subject, data))
}

func (b *natsBus) listen(subject string, take func(data []byte, answer func([]byte))) error {
	sub, err := b.conn.Subscribe(subject, func(m *nats.Msg) {
		take(m.Data, func(data []byte) {
			if m.Reply != "" {
				_ = b.conn.Publish(m.Reply, data) // who asked hears of no answer by its deadline
			}
		})
	})
	if err != nil {
		return fmt.Errorf("cluster: listen to %s: %w", subject, err)
	}
	return sub.SetPendingLimits(-1, pendingBytes)
}

func (b *natsBus) worded(err error) error {
	if err != nil && !b.online() {
		return fmt.Errorf("%w: %w", errOffline, err)
	}
	return err
}

func (b *natsBus) online() bool { return b.conn.IsConnected() }

func (b *natsBus) largest() int { return int(b.conn.MaxPayload()) }

func (b *natsBus) close() {
	b.stop()
	b.conn.Close()
	b.wg.Wait()
}
