package gateway

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/place"
	"terminalproxy/protocol"
)

// maxProof bounds a body of the exchange of proofs, in bytes.
const maxProof = 4 << 10

// connection is what the server knows of one connection. Requests of one connection come one after the other.
type connection struct {
	// owns reports whether who dialled this local socket would come here now; nil for a TCP connection.
	owns    func() bool
	process place.Process // at the other end of a local socket
	claim   *claim        // of a TCP connection; nil where a trusted proxy is at the other end

	// The following say whose a TCP connection is, once its peer has proven that.
	mu        sync.Mutex
	challenge auth.Challenge // that waits for its answer; zero for none
	who       *auth.Identity
}

type connectionKey struct{}

func connectionOf(r *http.Request) *connection {
	c, _ := r.Context().Value(connectionKey{}).(*connection)
	return c
}

// local reports whether it is one of the user's own socket.
func (c *connection) local() bool { return c.owns != nil }

// identity is who the peer of the connection has proven to be, nil for nobody.
func (c *connection) identity() *auth.Identity {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.who
}

// proof serves protocol.PathProof: a client that does not know whether this is its gateway asks for a proof first, gives
// its own second, and the connection is that token's from then on. So no token is on the wire.
func (s *Server) proof(w http.ResponseWriter, r *http.Request) {
	c := connectionOf(r)
	if c.local() {
		http.Error(w, "on this socket nobody has to prove anything", http.StatusNotFound)
		return
	}
	// A body that does not come must not hold the connection; the server sets its own time for what follows.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(headerTimeout))
	var ask protocol.Proof
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxProof))
	if err == nil {
		err = json.Unmarshal(body, &ask)
	}
	if err != nil || ask.Token == "" || len(ask.Answer) == 0 && !auth.ValidNonce(ask.Nonce) {
		http.Error(w, `the body is {"token":REF,"nonce":64 hex digits}, and then {"token":REF,"answer":BASE64}`, http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var answer protocol.Proof
	if len(ask.Answer) == 0 {
		answer, err = s.challenge(c, ask)
	} else {
		answer, err = s.answered(c, ask)
	}
	if err != nil {
		s.disprove(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(answer)
}

// challenge proves that this is a server which knows the token.
func (s *Server) challenge(c *connection, ask protocol.Proof) (protocol.Proof, error) {
	next := auth.Challenge{Ref: ask.Token, ClientNonce: ask.Nonce, ServerNonce: auth.Nonce()}
	proof, err := s.cfg.Tokens.Prove(next)
	if err != nil {
		return protocol.Proof{}, err
	}
	c.challenge = next
	return protocol.Proof{Nonce: next.ServerNonce, Answer: proof}, nil
}

// answered takes the client's proof. A challenge is good for one answer.
func (s *Server) answered(c *connection, ask protocol.Proof) (protocol.Proof, error) {
	open := c.challenge
	c.challenge = auth.Challenge{}
	if open.Ref == "" || open.Ref != ask.Token {
		return protocol.Proof{}, auth.ErrUnknownToken
	}
	who, err := s.cfg.Tokens.Answered(open, ask.Answer)
	if err != nil {
		return protocol.Proof{}, err
	}
	c.who = &who
	_ = c.claim.of(who.TokenID) // where there is no room the next request says so
	return protocol.Proof{Token: open.Ref, Role: string(who.Role), Name: who.Name}, nil
}

func (s *Server) disprove(w http.ResponseWriter, r *http.Request, err error) {
	if !errors.Is(err, auth.ErrUnknownToken) {
		s.log.Error("token file", "error", err)
		http.Error(w, sayTokenFile, http.StatusInternalServerError)
		return
	}
	s.log.Warn("refused", "address", r.RemoteAddr, "route", r.Pattern)
	s.slowDown(r)
	http.Error(w, err.Error(), http.StatusUnauthorized)
}
