package auth

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// Guard is the outermost handler of a server. It rejects requests that a foreign web page made a
// browser send. It checks the Host header, against DNS names that point at this machine (DNS
// rebinding), and the Origin header, if present, against foreign pages. Both also apply to
// WebSocket upgrades, which browsers allow across origins.
type Guard struct {
	// Hosts are additional names of the server: NAME for any port, or NAME:PORT.
	Hosts []string
	// Origins are the origins, as browsers send them, whose pages may connect. If empty, no page
	// may.
	Origins []string
	// Own: the server serves pages, which may connect. Their origin is that of the request's Host,
	// once that is allowed. Without TLS the server expects http on this machine and https under
	// other names, because browsers require https for a page's keys.
	Own bool
}

// Handler wraps next with the guard.
func (g Guard) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !g.hostAllowed(r.Host):
			http.Error(w, "unknown host name: add it to the allowed hosts", http.StatusForbidden)
		case !g.OriginAllowed(r):
			http.Error(w, "pages of that origin may not connect: add it to the allowed origins",
				http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// loopback lists the names of this machine.
var loopback = []string{"localhost", "127.0.0.1", "::1"}

// hostAllowed checks a Host header. Loopback names are allowed with any port: a browser sends them
// only to this machine, and the port may be forwarded to the server, as by ssh -L.
func (g Guard) hostAllowed(host string) bool {
	name, port := splitHost(host)
	if slices.Contains(loopback, name) && port != "" {
		return true
	}
	return slices.ContainsFunc(g.Hosts, func(allowed string) bool {
		n, p := splitHost(strings.ToLower(allowed))
		return name != "" && n == name && (p == "" || p == port)
	})
}

// splitHost splits "name", "name:port", "[v6]" and "[v6]:port".
func splitHost(host string) (name, port string) {
	host = strings.ToLower(host)
	if name, port, err := net.SplitHostPort(host); err == nil {
		return name, port
	}
	return strings.Trim(host, "[]"), ""
}

// OriginAllowed reports whether the request has no Origin header, or exactly one with an allowed
// origin, compared to the letter.
func (g Guard) OriginAllowed(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	switch len(origins) {
	case 0:
		return true
	case 1:
		return slices.Contains(g.Origins, origins[0]) ||
			g.Own && g.hostAllowed(r.Host) && origins[0] == ownOrigin(r)
	}
	return false
}

// ownOrigin returns the origin of the pages that are served under a request's Host.
func ownOrigin(r *http.Request) string {
	host := strings.ToLower(r.Host)
	if name, _ := splitHost(host); r.TLS == nil && slices.Contains(loopback, name) {
		return "http://" + host
	}
	return "https://" + host
}
