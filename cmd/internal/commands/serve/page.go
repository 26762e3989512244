package serve

import (
	"log/slog"
	"net/netip"
	"net/url"
	"strings"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/process/version"
	"terminalproxy/gateway"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/access/rights"
	"terminalproxy/gateway/doors/page"
	"terminalproxy/gateway/doors/ws"
)

// webPages makes the web pages of serve, nil without --page.
func (in serveOptions) webPages(log *slog.Logger) (gateway.Pages, error) {
	if !in.page {
		return nil, nil //nolint:nilnil // no pages are no failure
	}
	links, err := page.NewLinks(page.Config{Hosts: in.hosts, Version: version.String(), Log: log})
	if err != nil {
		return nil, err
	}
	return pages{links}, nil
}

// pages connects the pages and the server, which are independent of each other.
type pages struct{ *page.Links }

// AcceptOpener implements gateway.Pages.
func (p pages) AcceptOpener(opener auth.Identity, s *gateway.Server) ws.Peer {
	return p.Opener(opener, page.Port{
		Join: func(opener auth.Identity, set rights.Set) page.Seat {
			return s.JoinPage(opener, set)
		},
		Count: s.CountPage,
	})
}

// listing lets its holder watch the list of sessions, and nothing else.
var listing = rights.Set{Who: "the notifier", Can: rights.List}

// linkTo returns the address of a session on an open page, or "" without one that others reach.
func (in serveOptions) linkTo(session string) string {
	if !in.page || len(in.hosts) == 0 {
		return ""
	}
	return "https://" + in.hosts[0] + "/#s=" + url.QueryEscape(session)
}

// parseNetworks reads the values of --trust-proxy.
func parseNetworks(all []string) (list []netip.Prefix, err error) {
	for _, one := range all {
		network, err := netip.ParsePrefix(one)
		if err != nil && !strings.Contains(one, "/") {
			var addr netip.Addr
			if addr, err = netip.ParseAddr(one); err == nil {
				network = netip.PrefixFrom(addr, addr.BitLen())
			}
		}
		if err != nil {
			return nil, cli.Usage(
				"serve: --trust-proxy %.60q: write an address or a network, as 10.0.0.7 or "+
					"10.0.0.0/24", one)
		}
		list = append(list, network.Masked())
	}
	return list, nil
}
