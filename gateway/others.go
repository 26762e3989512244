package gateway

import (
	"encoding/json"
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
	// Trouble is what is wrong with the way to them, and what to do; "" where nothing is.
	Trouble() (say, do string)
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

// clustered is what a health check says of the other gateways, as a part of a JSON object; "" without any. What is wrong with the way to
// them names servers and files, and is told on this machine only.
func (s *Server) clustered(local bool) string {
	if s.others == nil {
		return ""
	}
	var say struct {
		Connected bool   `json:"connected"`
		Gateways  int    `json:"gateways"`
		Trouble   string `json:"trouble,omitempty"`
		Do        string `json:"do,omitempty"`
	}
	say.Connected, say.Gateways = s.others.Connected()
	if local {
		say.Trouble, say.Do = s.others.Trouble()
	}
	text, _ := json.Marshal(say) // of plain fields
	return `,"cluster":` + string(text)
}
