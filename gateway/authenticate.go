package gateway

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gorilla/websocket"

	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/hub"
	"terminalproxy/gateway/ws"
	"terminalproxy/protocol"
)

var errRevoked = errors.New("the token was revoked or has expired")

// sayTokenFile is for a peer: the cause is in the log.
const sayTokenFile = "the gateway cannot read its token file"

// errTokenFile ends who was let in by a file that cannot be read any more. It is no revocation: another gateway may be asked.
var errTokenFile = errors.New(sayTokenFile)

// socketRoutes says which roles a path serves, and how long a frame may be there. The first role is the one of a local peer.
var socketRoutes = map[string]struct {
	roles []auth.Role
	limit int
}{
	protocol.PathProxy: {[]auth.Role{auth.RoleProxy}, protocol.MaxMessage},
	protocol.PathAgent: {[]auth.Role{auth.RoleAgent}, protocol.MaxAgentMessage},
	protocol.PathView:  {[]auth.Role{auth.RoleViewer, auth.RoleOwner}, protocol.MaxAgentMessage},
	protocol.PathLinks: {[]auth.Role{auth.RoleViewer, auth.RoleOwner}, maxLinksMessage},
}

// authenticate decides about a request: who it is comes from the socket or the token alone.
func (s *Server) authenticate(r *http.Request) (ws.Access, error) {
	route, ok := socketRoutes[r.URL.Path]
	if !ok {
		return ws.Access{}, &auth.Refusal{Status: http.StatusNotFound, Say: "unknown path"}
	}
	who := auth.Identity{Role: route.roles[0]}
	c := connectionOf(r)
	if r.URL.Path == protocol.PathLinks && (c.local() || s.cfg.Pages == nil) {
		return ws.Access{}, &auth.Refusal{Status: http.StatusNotFound, Say: "this gateway serves no web pages: start it with gateway serve --page"}
	}
	if !c.local() {
		var err error
		if who, err = s.identify(r); err != nil {
			return ws.Access{}, err
		}
	}
	if !slices.Contains(route.roles, who.Role) {
		s.log.Info("refused", "route", r.Pattern, "role", string(who.Role), "token", who.Name, "code", protocol.CodeForbidden)
		return ws.Access{}, &auth.Refusal{Status: http.StatusForbidden, Say: "role " + string(who.Role) + " may not use " + r.URL.Path}
	}
	stays := c.claim == nil && claimOf(r) != nil // a request of a trusted proxy's is counted as long as its handler
	if r.URL.Path == protocol.PathLinks {
		return ws.Access{Limit: route.limit, Stays: stays, Join: func() ws.Peer { return s.cfg.Pages.Opener(who, s) }}, nil
	}
	member := memberOf(who, r.Header)
	access := ws.Access{Limit: route.limit, Stays: stays, Join: func() ws.Peer { return s.join(member, who) }}
	if c.local() {
		member.Local, member.Process, access.Owns = true, c, c.owns
	}
	return access, nil
}

// Stopped implements hub.Process.
func (c *connection) Stopped() string {
	if !c.process.Stopped() {
		return ""
	}
	return fmt.Sprintf("%s is stopped %s", c.process, c.process.Resume())
}

// identify looks the token up: the one that the connection has proven, or the one that the request shows. That is taken from the Authorization header only: elsewhere it would end in a log.
func (s *Server) identify(r *http.Request) (auth.Identity, error) {
	if who := connectionOf(r).identity(); who != nil && s.cfg.Tokens.Valid(who.TokenID) {
		return *who, claimOf(r).of(who.TokenID) // it has proven itself, without showing its token
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	who, err := auth.Identity{}, auth.ErrUnknownToken
	if ok {
		who, err = s.cfg.Tokens.Verify(token)
	}
	if err == nil {
		return who, claimOf(r).of(who.TokenID)
	}
	say := "a token is required: Authorization: Bearer TOKEN"
	switch {
	case !errors.Is(err, auth.ErrUnknownToken):
		s.log.Error("token file", "error", err)
		return who, &auth.Refusal{Status: http.StatusInternalServerError, Code: protocol.CodeUnavailable, Say: sayTokenFile}
	case ok:
		say = err.Error()
	}
	s.log.Warn("refused", "address", r.RemoteAddr, "route", r.Pattern)
	s.slowDown(r)
	return who, &auth.Refusal{Status: http.StatusUnauthorized, Code: protocol.CodeUnauthorized, Say: say}
}

// slowDown lets who guesses wait for its answer.
func (s *Server) slowDown(r *http.Request) {
	s.refused.Add(1)
	if wait := s.failures.Failed(auth.Address(r.RemoteAddr)); wait > 0 {
		select {
		case <-time.After(wait):
		case <-r.Context().Done():
		}
	}
}

// memberOf is the participant that an identity becomes. What the headers say is a wish for a name, and the secret of a
// lasting identity: an agent's id follows from it, and from nothing that anybody else could know.
func memberOf(who auth.Identity, header http.Header) hub.Member {
	m := hub.Member{Role: who.Role, Name: who.Name, Named: who.Name != "", Namespace: who.Namespace, Token: who.TokenID}
	if m.Name == "" {
		m.Name = readable(header.Get(client.HeaderName))
	}
	if who.TokenID != "" {
		m.TokenID = digest("token\x00"+who.TokenID, 16)
	}
	if key := header.Get(client.HeaderKey); key != "" && who.Role == auth.RoleAgent {
		// The token is part of it: one holder's key is not another's.
		m.ID = "a-" + digest(who.TokenID+key, 12)
		m.Lasting = header.Get(client.HeaderPassing) == ""
	}
	return m
}

// digest is a name of n characters for what may not be told.
func digest(secret string, n int) string {
	sum := sha256.Sum256([]byte(secret))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:n])
}

// readable is a name as it may stand before the user: printable, and short.
func readable(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if len(name) > protocol.MaxName {
		name = strings.ToValidUTF8(name[:protocol.MaxName], "")
	}
	return name
}

// peer is a participant whose token is watched.
type peer struct {
	*hub.Peer
	server *Server
}

func (s *Server) join(m hub.Member, who auth.Identity) peer {
	p := peer{Peer: s.hub.Join(m), server: s}
	if who.TokenID != "" {
		s.mu.Lock()
		s.live[p.Peer] = who.TokenID
		s.mu.Unlock()
	}
	return p
}

// Gathering implements client.Peer: who asks over HTTP waits for sessions that are on their way here.
func (p peer) Gathering() bool { return p.server.gathers() }

// Leave takes the participant out of both lists.
func (p peer) Leave() {
	p.server.mu.Lock()
	delete(p.server.live, p.Peer)
	p.server.mu.Unlock()
	p.Peer.Leave()
}

// closeCode words the end of a participant for RFC 6455.
func closeCode(err error, local bool) (int, string) {
	switch {
	case errors.Is(err, hub.ErrClosed) && local:
		return websocket.CloseGoingAway, hub.ErrClosed.Error() // another process takes over at once
	case errors.Is(err, hub.ErrClosed):
		return websocket.CloseServiceRestart, hub.ErrClosed.Error() + ": come back"
	case errors.Is(err, hub.ErrMoved):
		return websocket.CloseServiceRestart, hub.ErrMoved.Error() + ": come back"
	case errors.Is(err, hub.ErrForbidden):
		return websocket.ClosePolicyViolation, hub.ErrForbidden.Error()
	case errors.Is(err, hub.ErrSlow), errors.Is(err, hub.ErrHeavy):
		return websocket.CloseTryAgainLater, err.Error()
	case errors.Is(err, errRevoked):
		return websocket.ClosePolicyViolation, errRevoked.Error()
	case errors.Is(err, errTokenFile):
		return websocket.CloseTryAgainLater, sayTokenFile
	}
	if worded, ok := errors.AsType[interface {
		error
		CloseCode() int
	}](err); ok {
		return worded.CloseCode(), err.Error()
	}
	return websocket.CloseNormalClosure, ""
}
