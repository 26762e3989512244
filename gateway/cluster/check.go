package cluster

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// CheckServers checks whether each server can be reached and admits this gateway, and whether its
// permissions suffice. It writes nothing. An error is about the files of the configuration.
func CheckServers(ctx context.Context, cfg Config) ([]*Trouble, error) {
	options, err := cfg.identityOptions()
	if err != nil {
		return nil, err
	}
	found := make([]*Trouble, len(cfg.Servers))
	var wg sync.WaitGroup
	for i, server := range cfg.Servers {
		wg.Go(func() { // bounded by checkTime and callTime, and by ctx
			if err := probeServer(ctx, server, options); err != nil && ctx.Err() == nil {
				found[i] = cfg.explainTrouble(server, err)
			}
		})
	}
	wg.Wait()
	var all []*Trouble
	for _, t := range found {
		if t != nil {
			all = append(all, t)
		}
	}
	return all, nil
}

// IsHopeless reports whether retrying cannot make any of the servers usable.
func (c Config) IsHopeless(all []*Trouble) bool {
	return len(all) == len(c.Servers) &&
		!slices.ContainsFunc(all, func(t *Trouble) bool { return !t.Final })
}

// checkTime bounds the connection of a check. A check has more time than a gateway that waits.
const checkTime = 3 * time.Second

// dialer remembers why it did not connect: the client calls every refusal "no servers". Its
// connection is closed with ctx.
type dialer struct {
	ctx context.Context
	err error
}

func (d *dialer) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(d.ctx, checkTime)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if d.err = err; err != nil {
		return nil, err
	}
	context.AfterFunc(d.ctx, func() { _ = conn.Close() })
	return conn, nil
}

// probeServer connects to one server and tries everything that a gateway does there.
func probeServer(ctx context.Context, server string, options []nats.Option) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := &dialer{ctx: ctx}
	conn, err := nats.Connect(server, append([]nats.Option{
		nats.Name("terminalproxy check"),
		nats.Timeout(checkTime),
		nats.NoReconnect(),
		nats.SetCustomDialer(d),
		nats.SkipHostLookup(),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}, options...)...)
	if d.err != nil {
		return d.err
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.SubscribeSync(heartbeats); err != nil {
		return err
	}
	if err := waitForPermission(ctx, conn); err != nil {
		return err
	}
	if err := conn.Publish(prefix+"check", nil); err != nil { // the subject has no listener
		return err
	}
	if err := waitForPermission(ctx, conn); err != nil {
		return err
	}
	return checkBucket(ctx, conn)
}

// waitForPermission waits until the server has judged the messages sent so far.
func waitForPermission(ctx context.Context, conn *nats.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if err := conn.FlushWithContext(ctx); err != nil {
		return err
	}
	if err := conn.LastError(); errors.Is(err, nats.ErrPermissionViolation) {
		return err
	}
	return nil
}

// checkBucket asks for the bucket, and sends it a write that it must reject.
func checkBucket(ctx context.Context, conn *nats.Conn) error {
	b := &natsBus{conn: conn}
	err := b.askJetStream(nats.NewMsg(api+"STREAM.INFO."+stream), callTime, nil)
	if denied := waitForPermission(ctx, conn); denied != nil {
		return denied
	}
	if isRefusedWith(err, codeNoStream) {
		return nil // the first gateway makes it
	}
	if err != nil {
		return err
	}
	m := nats.NewMsg(keySpace + "check")
	m.Header.Set(expectedSequence, "9007199254740991") // no entry has that number
	err = b.askJetStream(m, callTime, nil)
	if denied := waitForPermission(ctx, conn); denied != nil {
		return denied
	}
	if isRefusedWith(err, codeWrongLast, codeWrongLastIs) {
		return nil
	}
	return err
}

// publicKey returns the public half of the seed in a file, or "".
func publicKey(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	pair, err := nkeys.ParseDecoratedNKey(text)
	if err != nil {
		return ""
	}
	defer pair.Wipe()
	public, err := pair.PublicKey()
	if err != nil {
		return ""
	}
	return public
}

// Settings that name files.
const (
	credentialsSetting = "--cluster-creds"
	authoritySetting   = "--cluster-tls-ca"
)

// BadFile is the reason why a file that a setting names cannot be used.
type BadFile struct {
	Setting string
	Cause   error
}

func (b *BadFile) Error() string { return b.Setting + ": " + b.Cause.Error() }

// Hint returns the next step.
func (b *BadFile) Hint() string {
	if b.Setting == authoritySetting {
		return "name the certificate (PEM) of the authority that signed those of the NATS " +
			"servers, as ca.pem in docs/cluster.md"
	}
	return "name the file with this gateway's seed: nk -gen user > a.nk creates one, and nk -inkey " +
		"a.nk -pubout prints its public half for users in the settings of the NATS servers"
}

func (b *BadFile) Unwrap() error { return b.Cause }

// describeCredentials describes the content of a file that has no credentials.
func describeCredentials(text string) string {
	text = strings.TrimSpace(text)
	switch prefix := nkeys.Prefix(text); {
	case text == "":
		return "is empty"
	case nkeys.IsValidPublicKey(text):
		return "holds a public key: the seed begins with SU"
	case strings.HasPrefix(text, "SU"):
		return "holds a damaged seed: nk -gen user creates one"
	case prefix == nkeys.PrefixByteSeed:
		return "holds the seed of an account, an operator or a server: a gateway is a user, " +
			"whose seed begins with SU"
	}
	return "holds neither the seed of an NKey (nk -gen user) nor the credentials of a NATS user " +
		"(nsc)"
}
