package gateway

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/access/secrets"
	"terminalproxy/gateway/place"
	"terminalproxy/protocol"
)

// connection holds the state of one connection. Its requests are handled one at a time.
type connection struct {
	// owns reports whether a dial of this local socket would come here now; nil for a TCP
	// connection.
	owns    func() bool
	process place.Process // at the other end of a local socket
	socket  *net.UnixConn // the local socket, nil for TCP
	// asker is the helper that has identified itself on this connection, or nil. Owned by its
	// requests.
	asker *secrets.Asker
	claim *claim // of a TCP connection; nil if a trusted proxy is at the other end

	// The following identify the owner of a TCP connection, once its peer has proven its token.
	mu        sync.Mutex
	challenge auth.Challenge // the open one, or zero
	proven    *auth.Identity
}

type connectionKey struct{}

func connectionOf(r *http.Request) *connection {
	c, _ := r.Context().Value(connectionKey{}).(*connection)
	return c
}

// isLocal reports whether the connection came over the user's own socket.
func (c *connection) isLocal() bool { return c.owns != nil }

// provenIdentity returns the identity that the connection's peer has proven, or nil.
func (c *connection) provenIdentity() *auth.Identity {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.proven
}

// serveProof serves protocol.PathProof. A client that cannot be sure that this is its gateway first
// asks for a proof and then gives its own. From then on the connection belongs to that token, which
// is never sent.
func (s *Server) serveProof(w http.ResponseWriter, r *http.Request) {
	c := connectionOf(r)
	if c.isLocal() {
		http.Error(w, "this socket needs no proof", http.StatusNotFound)
		return
	}
	// A body that does not arrive must not block the connection. The server sets its own deadline
	// for the rest.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(headerTimeout))
	var ask protocol.Proof
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, protocol.MaxProof))
	if err == nil {
		err = json.Unmarshal(body, &ask)
	}
	if err != nil || ask.Token == "" || len(ask.Answer) == 0 && !auth.ValidNonce(ask.Nonce) {
		http.Error(
			w,
			`the body is {"token":REF,"nonce":64 hex digits}, and then {"token":REF,"answer":BASE64}`,
			http.StatusBadRequest,
		)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var answer protocol.Proof
	if len(ask.Answer) == 0 {
		answer, err = s.proveServer(c, ask)
	} else {
		answer, err = s.verifyClient(c, ask)
	}
	if err != nil {
		s.rejectProof(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(answer)
}

// proveServer proves that this server knows the token.
func (s *Server) proveServer(c *connection, ask protocol.Proof) (protocol.Proof, error) {
	next := auth.Challenge{Ref: ask.Token, ClientNonce: ask.Nonce, ServerNonce: auth.Nonce()}
	proof, err := s.cfg.Tokens.ProveServer(next)
	if err != nil {
		return protocol.Proof{}, err
	}
	c.challenge = next
	return protocol.Proof{Nonce: next.ServerNonce, Answer: proof}, nil
}

// verifyClient checks the client's proof. A challenge is valid for one answer.
func (s *Server) verifyClient(c *connection, ask protocol.Proof) (protocol.Proof, error) {
	open := c.challenge
	c.challenge = auth.Challenge{}
	if open.Ref == "" || open.Ref != ask.Token {
		return protocol.Proof{}, auth.ErrUnknownToken
	}
	identity, err := s.cfg.Tokens.VerifyAnswer(open, ask.Answer)
	if err != nil {
		return protocol.Proof{}, err
	}
	c.proven = &identity
	_ = c.claim.countToken(identity.TokenID) // if there is no room, the next request fails
	return protocol.Proof{Token: open.Ref, Role: string(identity.Role), Name: identity.Name}, nil
}

func (s *Server) rejectProof(w http.ResponseWriter, r *http.Request, err error) {
	if !errors.Is(err, auth.ErrUnknownToken) {
		s.log.Error("token file", "error", err)
		http.Error(w, tokenFileMessage, http.StatusInternalServerError)
		return
	}
	s.log.Warn("refused", "address", r.RemoteAddr, "route", r.Pattern)
	s.delayGuess(r)
	http.Error(w, err.Error(), http.StatusUnauthorized)
}
