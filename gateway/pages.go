package gateway

import (
	"net/http"

	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/hub"
	"terminalproxy/gateway/rights"
	"terminalproxy/gateway/ws"
	"terminalproxy/protocol"
)

// Pages are the web pages of a server; see package page. What they answer is behind a guard of their own.
type Pages interface {
	http.Handler
	// Opener takes a connection of gateway open.
	Opener(who auth.Identity, s *Server) ws.Peer
	// Turn answers a request that there is no room for.
	Turn(w http.ResponseWriter, r *http.Request, why error)
	// Cut ends, for a reason, what tokens have opened that stand no more.
	Cut(stands func(tokenID string) bool, why error)
	// Stats counts the pages that are connected, and the codes and tickets that were refused.
	Stats() (connected int, refused uint64)
	// Close ends openers for a reason, and tells pages to come back.
	Close(why error)
}

// pagePaths are those of [Pages].
var pagePaths = []string{"GET /{$}", "/app/", "/v1/page", "/v1/page/", "/v1/tickets", "/v1/push", "GET /sw.js"}

// front is what stands before the routes of a listener: the bounds, and the pages.
func (s *Server) front(l listener, routes http.Handler) http.Handler {
	if l.limit == nil {
		return routes
	}
	if s.cfg.Pages == nil {
		return l.limit.handler(routes, turnAway)
	}
	mux := http.NewServeMux()
	mux.Handle("/", routes)
	for _, path := range pagePaths {
		mux.Handle(path, s.cfg.Pages)
	}
	return l.limit.handler(mux, s.cfg.Pages.Turn)
}

// PageSeat is a page's place in the switchboard.
type PageSeat interface {
	Handle(m protocol.Message)
	Next(done <-chan struct{}) (protocol.Message, error)
	Leave()
}

// JoinPage gives a page its place: of whoever opened its link, and with no more than the set of rights.
func (s *Server) JoinPage(who auth.Identity, set rights.Set) PageSeat {
	member := memberOf(who, nil)
	member.Rights = set
	return s.join(member, who)
}

// CountPage counts a page's connection with whoever opened its link.
func (s *Server) CountPage(r *http.Request, who auth.Identity) error {
	return claimOf(r).of(who.TokenID)
}

var _ PageSeat = (*hub.Peer)(nil)
