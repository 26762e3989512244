package push

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"
)

// maxEndpoint bounds the address of a subscription, in bytes. Browsers use less than 500.
const maxEndpoint = 2048

// A browser chooses where its messages go, and the page may belong to a guest of the user. So an
// address must not lead into the user's own network.
var (
	errEndpoint = errors.New(`field "endpoint": must be an https URL of a push service`)
	errPrivate  = errors.New("the push service has an address of a private network")
)

// checkEndpoint parses and checks the address of a subscription.
func checkEndpoint(raw string, private bool) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || len(raw) > maxEndpoint || u.Scheme != "https" || u.Hostname() == "" ||
		u.User != nil || u.Fragment != "" {
		return nil, errEndpoint
	}
	if port := u.Port(); port != "" && port != "443" && !private {
		return nil, errEndpoint
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && !private && !isPublic(ip) {
		return nil, errPrivate
	}
	return u, nil
}

// reserved are the networks that are not public, in addition to those that package netip knows (RFC
// 6890 and its registries), and those that lead to other networks: NAT64, 6to4 and Teredo.
var reserved = func() (all []netip.Prefix) {
	for _, p := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24",
		"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
		"240.0.0.0/4", "64:ff9b::/32", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16",
		"3fff::/20", "fec0::/10", "::/96",
	} {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}()

// isPublic reports whether an address is a public one of the Internet.
func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	return ip.IsGlobalUnicast() && !ip.IsPrivate() &&
		!slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// newClient returns a client that connects only to public addresses and does not follow redirects.
// It checks the address itself, after the name was resolved. If roots is nil, the system's are
// used.
func newClient(private bool, roots *x509.CertPool) *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if !private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil || !isPublic(to.Addr()) {
				return errPrivate
			}
			return nil
		}
	}
	return &http.Client{
		Timeout: 20 * time.Second,
		Transport: &http.Transport{ // no proxy: it would resolve and connect itself
			DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second,
			ForceAttemptHTTP2: true, MaxIdleConns: 8,
			IdleConnTimeout: 30 * time.Second,
			TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}
