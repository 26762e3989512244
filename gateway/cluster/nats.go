package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Bounds of the connection to NATS.
const (
	dialTime     = 2 * time.Second
	redialWait   = 500 * time.Millisecond
	pingEvery    = time.Second // two without an answer: the server is gone
	pendingBytes = 64 << 20    // what may wait here for a handler; each sender waits for its answer, so that it is little
	claimTime    = time.Hour   // how long the claim of a gateway stands that does not renew it
)

// natsBus is NATS: core, and one bucket.
type natsBus struct {
	conn *nats.Conn
	log  *slog.Logger

	mu   sync.Mutex
	made bool // the bucket is there
}

// dialNATS connects. Servers that are not there now are tried again for ever; ones that refuse the credentials are an error.
func dialNATS(cfg Config, changed func()) (*natsBus, error) {
	b := &natsBus{log: cfg.Log}
	options, err := cfg.options(b, changed)
	if err != nil {
		return nil, err
	}
	servers := strings.Join(cfg.Servers, ",")
	conn, err := nats.Connect(servers, options...)
	switch {
	case err == nil:
	case final(err):
		return nil, fmt.Errorf("--cluster: %s: %w", servers, err)
	default:
		cfg.Log.Warn("cluster: no server answers yet: this gateway goes on alone", "servers", servers, "error", err)
		if conn, err = nats.Connect(servers, append(options, nats.RetryOnFailedConnect(true))...); err != nil {
			return nil, fmt.Errorf("--cluster: %s: %w", servers, err)
		}
	}
	b.conn = conn
	return b, nil
}

// final reports whether trying again is of no use.
func final(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || strings.Contains(err.Error(), "x509") ||
		strings.Contains(err.Error(), "tls:") || errors.Is(err, nats.ErrSecureConnRequired) || errors.Is(err, nats.ErrSecureConnWanted)
}

func (c Config) options(b *natsBus, changed func()) ([]nats.Option, error) {
	out := []nats.Option{
		nats.Name("terminalproxy gateway " + c.Name), nats.Timeout(dialTime), nats.ReconnectWait(redialWait), nats.MaxReconnects(-1),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2), nats.NoEcho(),
		nats.ReconnectBufSize(-1), // what cannot be sent now is an error now
		nats.IgnoreAuthErrorAbort(),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			b.log.Warn("cluster: not reached: this gateway goes on with its own sessions", "error", err)
			changed()
		}),
		nats.ConnectHandler(func(conn *nats.Conn) {
			b.log.Info("cluster: connected", "server", conn.ConnectedUrlRedacted())
			changed()
		}),
		nats.ReconnectHandler(func(conn *nats.Conn) {
			b.log.Info("cluster: connected again", "server", conn.ConnectedUrlRedacted())
			changed()
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { b.log.Error("cluster", "error", err) }),
	}
	if c.Credentials != "" {
		credentials, err := credentials(c.Credentials)
		if err != nil {
			return nil, err
		}
		out = append(out, credentials)
	}
	if c.CA != "" {
		out = append(out, nats.RootCAs(c.CA))
	}
	return out, nil
}

// credentials are those of a file: a JWT with its key, or the seed of an NKey.
func credentials(path string) (nats.Option, error) {
	text, err := os.ReadFile(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--cluster-creds: %w", err)
	case strings.Contains(string(text), "-----BEGIN NATS USER JWT-----"):
		return nats.UserCredentials(path), nil
	}
	option, err := nats.NkeyOptionFromSeed(path)
	if err != nil {
		return nil, fmt.Errorf("--cluster-creds: %s holds neither the credentials of a NATS user (nsc) nor the seed of an NKey (nk -gen user)", path)
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

func (b *natsBus) close() { b.conn.Close() }
