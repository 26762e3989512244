// Package endpoint handles the address of a gateway: it parses the user's text, dials, and proves a
// token without sending it. It never serves.
package endpoint

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/place"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol/pace"
)

// Endpoint is the address of a gateway as a user writes it: "" for the local one, unix:PATH,
// ws://HOST:PORT on this machine, wss://HOST[:PORT] anywhere. It may list several of the last two,
// separated by commas; any of them is used. Make one with [Parse]; it is a value and may be shared.
type Endpoint struct {
	// "unix" or "tcp"; "" for the local gateway, whose directory is looked up when dialling
	network string
	address string // path, or host:port
	host    string // for the URL: as the user wrote it
	secure  bool
	others  []Endpoint // to try when this one does not answer

	// Token identifies the client; it may be "". Over TLS, where the server has proven its
	// identity, it is sent as a bearer token. Over plain TCP it is proven and not sent (see
	// proveToken). On a Unix socket the kernel identifies the client.
	Token string
	// TLS is the base of the TLS configuration of wss endpoints; nil uses the system's roots. The
	// version is at least TLS 1.3 in any case.
	TLS *tls.Config
	// Displaced is called with a sentence, without its end, when the process that serves the local
	// gateway did not answer and has lost its place. It may be nil.
	Displaced func(why string)
	// KeepsOwner lets such a process keep its place. Dialling fails with a
	// [*place.SilentOwnerError] instead.
	KeepsOwner bool
}

// maxEndpoints bounds the gateways of one address.
const maxEndpoints = 16

// Parse parses an address. Its errors are sentences for the user, and name the wrong one of
// several addresses.
func Parse(raw string) (Endpoint, error) {
	parts := strings.Split(raw, ",")
	if len(parts) == 1 {
		return parseOne(raw)
	}
	if len(parts) > maxEndpoints {
		return Endpoint{}, fmt.Errorf("gateway address: %d gateways, the limit is %d", len(parts),
			maxEndpoints)
	}
	all := make([]Endpoint, len(parts))
	for i, part := range parts {
		one, err := parseMember(strings.TrimSpace(part), i+1, len(parts))
		if err != nil {
			return Endpoint{}, err
		}
		if slices.ContainsFunc(all[:i], func(e Endpoint) bool { return e.address == one.address }) {
			return Endpoint{}, fmt.Errorf("gateway address %q, number %d of %d: it is listed twice",
				strings.TrimSpace(part), i+1, len(parts))
		}
		all[i] = one
	}
	first := all[0]
	first.others = all[1:]
	return first, nil
}

// parseMember parses one of several addresses; number counts from 1.
func parseMember(raw string, number, all int) (Endpoint, error) {
	if raw == "" {
		return Endpoint{}, fmt.Errorf(
			"gateway address: number %d of %d is empty: put one comma between two addresses",
			number, all,
		)
	}
	one, err := parseOne(raw)
	if err != nil {
		return Endpoint{}, fmt.Errorf("number %d of %d: %w", number, all, err)
	}
	if !one.Remote() {
		return Endpoint{}, fmt.Errorf(
			"gateway address %q, number %d of %d: a socket of this machine cannot be one of "+
				"several: write ws:// and wss:// addresses only", raw, number, all,
		)
	}
	return one, nil
}

// All returns the gateways of the address, each alone, in their order.
func (e Endpoint) All() []Endpoint {
	all := append([]Endpoint{e}, e.others...)
	all[0].others = nil
	for i := range all[1:] {
		all[i+1].Token, all[i+1].TLS = e.Token, e.TLS
	}
	return all
}

// parseOne parses the address of one gateway.
func parseOne(raw string) (Endpoint, error) {
	if raw == "" {
		return Endpoint{host: "localhost"}, nil
	}
	if path, ok := strings.CutPrefix(raw, "unix:"); ok {
		return parseSocketPath(raw, path)
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "ws" && u.Scheme != "wss" {
		return Endpoint{}, fmt.Errorf(
			"gateway address %q is not understood: write unix:/PATH, ws://127.0.0.1:PORT, "+
				"or wss://HOST", redactAddress(raw, u),
		)
	}
	switch {
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return Endpoint{}, fmt.Errorf(
			"gateway address %q: leave out user, query and fragment; a token goes into a file",
			redactAddress(raw, u),
		)
	case u.Path != "" && u.Path != "/":
		return Endpoint{}, fmt.Errorf("gateway address %q: leave out the path %q", raw, u.Path)
	case u.Scheme == "ws" && !isLoopbackName(u.Hostname()):
		return Endpoint{}, fmt.Errorf(
			"gateway address %q: ws:// is not encrypted and goes to this machine only "+
				"(127.0.0.1, [::1], localhost); use wss://", raw,
		)
	}
	return Endpoint{
		network: "tcp",
		address: hostPort(u),
		host:    u.Host,
		secure:  u.Scheme == "wss",
	}, nil
}

// parseSocketPath makes the endpoint of a path after unix: in a raw address.
func parseSocketPath(raw, path string) (Endpoint, error) {
	if !filepath.IsAbs(path) {
		return Endpoint{}, fmt.Errorf(
			"gateway address %q: the path after unix: must be absolute, as in "+
				"unix:/run/user/1000/terminalproxy/gateway.sock", raw,
		)
	}
	if err := userdirs.CheckSocketPath(path); err != nil {
		return Endpoint{}, fmt.Errorf("gateway address: %w", err)
	}
	return Endpoint{network: "unix", address: path, host: "localhost"}, nil
}

// redactAddress returns raw without the parts that may hold a secret.
func redactAddress(raw string, u *url.URL) string {
	if u == nil || u.User == nil && u.RawQuery == "" && u.Fragment == "" {
		return raw
	}
	return u.Scheme + "://" + u.Host
}

func hostPort(u *url.URL) string {
	return net.JoinHostPort(u.Hostname(),
		cmp.Or(u.Port(), map[string]string{"ws": "80", "wss": "443"}[u.Scheme]))
}

func isLoopbackName(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Local reports whether this is the user's local gateway, which package local can start if needed.
func (e Endpoint) Local() bool { return e.network == "" }

// Remote reports whether the gateway is reached over TCP. Its peers are identified by tokens and
// may belong to other users.
func (e Endpoint) Remote() bool { return e.network == "tcp" }

// String returns the address of all gateways, for people.
func (e Endpoint) String() string {
	switch {
	case e.Local():
		return "the local gateway"
	case e.network == "unix":
		return "unix:" + e.address
	}
	name := strings.TrimSuffix(e.URL(""), "/")
	for _, other := range e.others {
		name += ", " + other.String()
	}
	return name
}

// URL returns a WebSocket URL of the first gateway, for the handshake. path is one of the paths of
// package protocol.
func (e Endpoint) URL(path string) string {
	if e.secure {
		return "wss://" + e.host + path
	}
	return "ws://" + e.host + path
}

// Host returns the first gateway's host, with its port if the address names one.
func (e Endpoint) Host() string { return e.host }

// Header returns the headers of the handshake.
func (e Endpoint) Header() http.Header {
	h := http.Header{}
	if e.Token != "" && e.secure {
		h.Set("Authorization", "Bearer "+e.Token)
	}
	return h
}

// DialContext connects to the first gateway: a raw connection, or TLS after its handshake. It uses
// a Unix socket only if the process behind it runs as this user or as root (SAFETY: the server is
// verified before it receives anything).
func (e Endpoint) DialContext(ctx context.Context) (net.Conn, error) {
	if e.network == "tcp" {
		return e.dialTCP(ctx)
	}
	if e.network == "unix" {
		conn, err := DialSocket(ctx, e.address)
		if place.IsVacant(err) {
			err = &vacantSocketError{e.address, err}
		}
		return conn, err
	}
	dir, err := userdirs.Runtime()
	if err != nil {
		return nil, err
	}
	return e.dialLocal(ctx, filepath.Join(dir, place.Name))
}

// vacantSocketError says that no process serves the socket that the user named. Unlike the local
// gateway's, no session makes it.
type vacantSocketError struct {
	path  string
	cause error
}

// Error implements error.
func (e *vacantSocketError) Error() string { return "nothing serves the socket " + e.path }

// Unwrap returns the cause.
func (e *vacantSocketError) Unwrap() error { return e.cause }

// Hint returns what the user can do about it.
func (e *vacantSocketError) Hint() string {
	return "correct --gateway or PROXY_GATEWAY, or leave it out for the local gateway"
}

const (
	// successorPatience is how long another process may take to serve after one has lost its place.
	successorPatience = 3 * time.Second
	successorPause    = 20 * time.Millisecond
)

// dialLocal connects to the local gateway and never serves. A process that does not answer loses
// its place, and the user's proxies and agents that notice have another gateway at once.
func (e Endpoint) dialLocal(ctx context.Context, path string) (net.Conn, error) {
	var gone *place.SilentOwnerError
	var since time.Time
	for {
		conn, err := place.DialOwner(ctx, path, DialSocket)
		silent, isSilent := errors.AsType[*place.SilentOwnerError](err)
		switch {
		case err == nil:
			return conn, nil
		case isSilent && (e.KeepsOwner || silent.Full):
			return nil, silent
		case isSilent:
			if err := silent.RemoveName(); err != nil {
				return nil, errors.Join(silent, err)
			}
			gone, since = silent, time.Now()
			if e.Displaced != nil {
				e.Displaced(silent.Error())
			}
		case errors.Is(err, place.ErrReplaced):
		case gone == nil || !place.IsVacant(err):
			return nil, err
		case time.Since(since) > successorPatience || ctx.Err() != nil:
			return nil, fmt.Errorf("%w, and no other process serves it", gone)
		}
		if cause := pace.Pause(ctx, successorPause); cause != nil {
			return nil, errors.Join(cause, err)
		}
	}
}

func (e Endpoint) dialTCP(ctx context.Context) (net.Conn, error) {
	if !e.secure {
		return e.dialPlain(ctx)
	}
	cfg := &tls.Config{}
	if e.TLS != nil {
		cfg = e.TLS.Clone()
	}
	cfg.MinVersion = tls.VersionTLS13
	cfg.NextProtos = []string{"http/1.1"} // a WebSocket upgrade is HTTP/1.1
	return (&tls.Dialer{Config: cfg}).DialContext(ctx, "tcp", e.address)
}

// dialPlain connects to an address of this machine. Any process may listen there while the gateway
// does not.
func (e Endpoint) dialPlain(ctx context.Context) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", e.address)
	if err != nil || e.Token == "" {
		return conn, err
	}
	if err := e.proveToken(ctx, conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// DialSocket connects to a socket of this user, or of root. It verifies the peer before it sends
// anything.
func DialSocket(ctx context.Context, path string) (net.Conn, error) {
	return dialSocketAs(ctx, path, os.Getuid())
}

// dialSocketAs is DialSocket for another user.
func dialSocketAs(ctx context.Context, path string, user int) (net.Conn, error) {
	if err := userdirs.CheckSocketPath(path); err != nil {
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	uid, err := auth.PeerUID(conn)
	if err == nil && uid != user && uid != 0 {
		err = fmt.Errorf("the socket %s is served by user %d, not by you: it is not used", path,
			uid)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}
