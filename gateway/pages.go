package gateway

import (
	"net/http"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/access/rights"
	"terminalproxy/gateway/doors/ws"
	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// Pages are the web pages of a server; see package page. They have a guard of their own.
type Pages interface {
	http.Handler
	// AcceptOpener accepts a connection of gateway open.
	AcceptOpener(identity auth.Identity, s *Server) ws.Peer
	// RejectRequest answers a request for which there is no room.
	RejectRequest(w http.ResponseWriter, r *http.Request, why error)
	// CutInvalid ends, for a reason, everything that invalid tokens have opened.
	CutInvalid(isValid func(tokenID string) bool, why error)
	// Stats counts the pages that are connected, and the codes and tickets that were refused.
	Stats() (connected int, refused uint64)
	// Close ends openers for a reason, and tells pages to connect again.
	Close(why error)
}

// pagePaths are the paths of [Pages].
var pagePaths = []string{
	"GET /{$}",
	"/app/",
	"/v1/page",
	"/v1/page/",
	"/v1/tickets",
}

// frontHandler puts the limits and the pages before the routes of a listener.
func (s *Server) frontHandler(l listener, routes http.Handler) http.Handler {
	if l.limit == nil {
		return routes
	}
	if s.cfg.Pages == nil {
		return l.limit.limitRequests(routes, rejectWithoutPages)
	}
	mux := http.NewServeMux()
	mux.Handle("/", routes)
	for _, path := range pagePaths {
		mux.Handle(path, s.cfg.Pages)
	}
	return l.limit.limitRequests(mux, s.cfg.Pages.RejectRequest)
}

// PageSeat is a page's participant in the switchboard.
type PageSeat interface {
	Handle(m protocol.Message)
	Next(done <-chan struct{}) (protocol.Message, error)
	Leave()
}

// JoinPage adds a page to the switchboard, under the identity that opened its link, limited to the
// set of rights.
func (s *Server) JoinPage(identity auth.Identity, set rights.Set) PageSeat {
	member := memberOf(identity, nil)
	member.Rights = set
	return s.joinHub(member, identity)
}

// CountPage counts a page's connection for the identity that opened its link.
func (s *Server) CountPage(r *http.Request, identity auth.Identity) error {
	return claimOf(r).countToken(identity.TokenID)
}

var _ PageSeat = (*hub.Peer)(nil)
