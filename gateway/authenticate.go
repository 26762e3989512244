package gateway

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/gorilla/websocket"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/doors/ws"
	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
	"terminalproxy/protocol/pace"
)

var errRevoked = errors.New("the token was revoked or has expired")

// tokenFileMessage is the message to a peer; the log has the cause.
const tokenFileMessage = "the gateway cannot read its token file"

// errTokenFile ends peers when the token file that admitted them becomes unreadable. They are not
// revoked: they may try another gateway.
var errTokenFile = errors.New(tokenFileMessage)

// socketRoutes maps a path to the roles that may use it and the longest frame, in bytes. A local
// peer gets the first role.
var socketRoutes = map[string]struct {
	roles []auth.Role
	limit int
}{
	protocol.PathProxy: {[]auth.Role{auth.RoleProxy}, protocol.MaxMessage},
	protocol.PathAgent: {[]auth.Role{auth.RoleAgent}, protocol.MaxAgentMessage},
	protocol.PathView:  {[]auth.Role{auth.RoleViewer, auth.RoleOwner}, protocol.MaxAgentMessage},
	protocol.PathLinks: {[]auth.Role{auth.RoleViewer, auth.RoleOwner}, maxLinksMessage},
}

// authorizeSocket decides about a request for a socket. Only the socket or the token identifies the
// peer.
func (s *Server) authorizeSocket(r *http.Request) (ws.Access, error) {
	route, ok := socketRoutes[r.URL.Path]
	if !ok {
		return ws.Access{}, &auth.Refusal{Status: http.StatusNotFound, Say: "unknown path"}
	}
	c := connectionOf(r)
	if r.URL.Path == protocol.PathLinks && (c.isLocal() || s.cfg.Pages == nil) {
		return ws.Access{}, &auth.Refusal{
			Status: http.StatusNotFound,
			Say:    "this gateway serves no web pages: start it with gateway serve --page",
		}
	}
	identity := auth.Identity{Role: route.roles[0]}
	if !c.isLocal() {
		var err error
		if identity, err = s.identifyRole(r, route.roles); err != nil {
			return ws.Access{}, err
		}
	}
	// a request from a trusted proxy is counted until its handler returns
	stays := c.claim == nil && claimOf(r) != nil
	if r.URL.Path == protocol.PathLinks {
		return ws.Access{
			Limit: route.limit,
			Stays: stays,
			Join:  func() ws.Peer { return s.cfg.Pages.AcceptOpener(identity, s) },
		}, nil
	}
	member := memberOf(identity, r.Header)
	access := ws.Access{
		Limit: route.limit,
		Stays: stays,
		Join:  func() ws.Peer { return s.joinHub(member, identity) },
	}
	if c.isLocal() {
		member.Local, member.Process, access.Owns = true, c, c.owns
	}
	return access, nil
}

// identifyRole identifies a caller, which must have one of the roles.
func (s *Server) identifyRole(r *http.Request, roles []auth.Role) (auth.Identity, error) {
	identity, err := s.identifyCaller(r)
	if err != nil || slices.Contains(roles, identity.Role) {
		return identity, err
	}
	s.log.Info("refused",
		"route", r.Pattern,
		"role", string(identity.Role),
		"token", identity.Name,
		"code", protocol.CodeForbidden,
	)
	return identity, &auth.Refusal{
		Status: http.StatusForbidden,
		Say:    "role " + string(identity.Role) + " may not use " + r.URL.Path,
	}
}

// StopReason implements hub.Process.
func (c *connection) StopReason() string {
	if !c.process.Stopped() {
		return ""
	}
	return fmt.Sprintf("%s is stopped %s", c.process, c.process.Resume())
}

// ProcessID implements hub.Process.
func (c *connection) ProcessID() int { return c.process.Pid }

// identifyCaller returns the identity of the token that the connection has proven, or that the
// request has in the Authorization header. A token elsewhere would end up in a log.
func (s *Server) identifyCaller(r *http.Request) (auth.Identity, error) {
	if identity := connectionOf(r).provenIdentity(); identity != nil &&
		s.cfg.Tokens.IsValid(identity.TokenID) {
		// the client has proven its token without sending it
		return *identity, claimOf(r).countToken(identity.TokenID)
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	identity, err := auth.Identity{}, auth.ErrUnknownToken
	if ok {
		identity, err = s.cfg.Tokens.Verify(token)
	}
	if err == nil {
		return identity, claimOf(r).countToken(identity.TokenID)
	}
	message := "a token is required: Authorization: Bearer TOKEN"
	switch {
	case !errors.Is(err, auth.ErrUnknownToken):
		s.log.Error("token file", "error", err)
		return identity, &auth.Refusal{
			Status: http.StatusInternalServerError,
			Code:   protocol.CodeUnavailable,
			Say:    tokenFileMessage,
		}
	case ok:
		message = err.Error()
	}
	s.log.Warn("refused", "address", r.RemoteAddr, "route", r.Pattern)
	s.delayGuess(r)
	return identity, &auth.Refusal{
		Status: http.StatusUnauthorized,
		Code:   protocol.CodeUnauthorized,
		Say:    message,
	}
}

// delayGuess delays the answer to a peer that guesses tokens.
func (s *Server) delayGuess(r *http.Request) {
	s.refused.Add(1)
	if wait := s.failures.NoteFailure(auth.Address(r.RemoteAddr)); wait > 0 {
		_ = pace.Pause(r.Context(), wait)
	}
}

// memberOf returns the participant of an identity. The headers may suggest a name, and carry the
// secret of a lasting identity: only its holder can get the agent's id.
func memberOf(identity auth.Identity, header http.Header) hub.Member {
	m := hub.Member{
		Role:      identity.Role,
		Name:      identity.Name,
		Named:     identity.Name != "",
		Namespace: identity.Namespace,
		Token:     identity.TokenID,
	}
	if m.Name == "" {
		m.Name = printableName(header.Get(client.HeaderName))
	}
	if identity.TokenID != "" {
		m.TokenID = digest("token\x00"+identity.TokenID, 16)
	}
	if key := header.Get(client.HeaderKey); key != "" && identity.Role == auth.RoleAgent {
		// The token is part of the id, so that the same key under another token is another agent.
		m.ID = "a-" + digest(identity.TokenID+key, 12)
		m.Lasting = header.Get(client.HeaderPassing) == ""
	}
	return m
}

// digest returns n characters that identify a secret without revealing it.
func digest(secret string, n int) string {
	sum := sha256.Sum256([]byte(secret))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:n])
}

// printableName returns a name that may be shown to the user: printable, and short.
func printableName(name string) string {
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

// peer is a participant that ends when its token is revoked.
type peer struct {
	*hub.Peer
	server *Server
}

func (s *Server) joinHub(m hub.Member, identity auth.Identity) peer {
	p := peer{Peer: s.hub.Join(m), server: s}
	if identity.TokenID != "" {
		s.mu.Lock()
		s.live[p.Peer] = identity.TokenID
		s.mu.Unlock()
	}
	return p
}

// IsGathering implements client.Peer: a caller over HTTP waits for sessions that are still
// connecting.
func (p peer) IsGathering() bool { return p.server.isGathering() }

// Leave removes the participant from both lists.
func (p peer) Leave() {
	p.server.mu.Lock()
	delete(p.server.live, p.Peer)
	p.server.mu.Unlock()
	p.Peer.Leave()
}

// closeCode returns the close code (RFC 6455) and the reason for a participant's end.
func closeCode(err error, local bool) (int, string) {
	switch {
	case errors.Is(err, hub.ErrClosed) && local:
		return websocket.CloseGoingAway, hub.ErrClosed.Error() // another process takes over at once
	case errors.Is(err, hub.ErrClosed):
		return websocket.CloseServiceRestart, hub.ErrClosed.Error() + ": connect again"
	case errors.Is(err, hub.ErrMoved):
		return websocket.CloseServiceRestart, hub.ErrMoved.Error() + ": connect again"
	case errors.Is(err, hub.ErrForbidden):
		return websocket.ClosePolicyViolation, hub.ErrForbidden.Error()
	case errors.Is(err, hub.ErrSlow), errors.Is(err, hub.ErrHeavy):
		return websocket.CloseTryAgainLater, err.Error()
	case errors.Is(err, errRevoked):
		return websocket.ClosePolicyViolation, errRevoked.Error()
	case errors.Is(err, errTokenFile):
		return websocket.CloseTryAgainLater, tokenFileMessage
	}
	if worded, ok := errors.AsType[interface {
		error
		CloseCode() int
	}](err); ok {
		return worded.CloseCode(), err.Error()
	}
	return websocket.CloseNormalClosure, ""
}
