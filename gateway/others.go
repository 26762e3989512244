package gateway

import (
	"errors"
	"fmt"

	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/httpapi"
	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// Others are the other gateways of a cluster, as far as this one tells of them.
type Others interface {
	// Connected reports whether they are reached, and how many of them.
	Connected() (online bool, gateways int)
	// Stats are for the metrics.
	Stats() []httpapi.Family
}

// Switchboard is the server's, for a cluster that extends it. See also [Server.Admit].
func (s *Server) Switchboard() *hub.Hub { return s.hub }

// Tell has the server tell of other gateways. It is called before it listens.
func (s *Server) Tell(of Others) { s.others = of }

// Admitted is the place of a participant that another gateway let in.
type Admitted interface {
	client.Peer
	Repeat(m protocol.Message)
	Work()
	Rest()
}

// Admit lets in a participant that another gateway describes. Its token must stand here, too, and be what the member says: the error
// is for its gateway. The stay ends when the token is revoked.
func (s *Server) Admit(m hub.Member) (Admitted, error) {
	if s.cfg.Tokens == nil {
		return nil, errors.New("this gateway knows no tokens")
	}
	who, err := s.cfg.Tokens.Identity(m.Token)
	switch {
	case errors.Is(err, auth.ErrUnknownToken):
		return nil, errors.New("the token is not known at the session's gateway: gateways of one cluster need the same tokens, see --tokens")
	case err != nil:
		s.log.Error("token file", "error", err)
		return nil, errors.New(sayTokenFile)
	case who.Role != m.Role || who.Namespace != m.Namespace:
		return nil, fmt.Errorf("forged member: the token %s has another role or namespace", who.Name)
	}
	known := memberOf(who, nil)
	m.Name, m.Named, m.TokenID = known.Name, known.Named, known.TokenID
	return s.join(m, who), nil
}

// clustered is what a health check says of the other gateways, as a part of a JSON object; "" without any.
func (s *Server) clustered() string {
	if s.others == nil {
		return ""
	}
	online, gateways := s.others.Connected()
	return fmt.Sprintf(`,"cluster":{"connected":%t,"gateways":%d}`, online, gateways)
}
