package auth

import (
	"net"
	"net/netip"
)

// Address returns the part of "host:port" by which limits per address count: an IPv4 address, or
// the IPv6 network of 64 bits that one user controls.
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
	network, _ := addr.Prefix(64) // fails only if the prefix is too long
	return network.String()
}
