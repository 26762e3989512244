package auth

import (
	"net"
	"net/netip"
)

// Address is what bounds on one address count by: that of "host:port", and for IPv6 the network of 64 bits, of which one user has
// all addresses.
func Address(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		return addr.String()
	}
	network, _ := addr.Prefix(64) // it fails for a prefix that is too long only
	return network.String()
}
