package gateway

import (
	"encoding/json"
	"errors"
	"fmt"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/hub"
	"terminalproxy/gateway/metrics"
	"terminalproxy/protocol"
)

// Others are the other gateways of a cluster, as this one describes them.
type Others interface {
	// ConnectionState reports whether this gateway is connected to others, and to how many.
	ConnectionState() (online bool, gateways int)
	// Problem returns a fault in the connection to them, and the remedy; "" without a fault.
	Problem() (message, do string)
	// Stats returns metrics.
	Stats() []metrics.Family
}

// Switchboard returns the server's switchboard, for a cluster that extends it. See also
// [Server.Admit].
func (s *Server) Switchboard() *hub.Hub { return s.hub }

// SetOthers adds other gateways to the server's answers. Call it before the server listens.
func (s *Server) SetOthers(others Others) { s.others = others }

// Admitted is a participant that another gateway admitted.
type Admitted interface {
	client.Peer
	HandleRepeat(m protocol.Message)
	MarkBusy()
	MarkIdle()
}

// Admit adds a participant that another gateway describes. Its token must be valid here, too, and
// match the member; an error goes to that gateway. The participant leaves when the token is
// revoked.
func (s *Server) Admit(m hub.Member) (Admitted, error) {
	if s.cfg.Tokens == nil {
		return nil, errors.New("this gateway has no tokens")
	}
	identity, err := s.cfg.Tokens.Identity(m.Token)
	switch {
	case errors.Is(err, auth.ErrUnknownToken):
		return nil, errors.New(
			"the token is not known at the session's gateway: gateways of one cluster need the " +
				"same tokens, see --tokens",
		)
	case err != nil:
		s.log.Error("token file", "error", err)
		return nil, errors.New(tokenFileMessage)
	case identity.Role != m.Role || identity.Namespace != m.Namespace:
		return nil, fmt.Errorf("forged member: the token %s has another role or namespace",
			identity.Name)
	}
	known := memberOf(identity, nil)
	m.Name, m.Named, m.TokenID = known.Name, known.Named, known.TokenID
	return s.joinHub(m, identity), nil
}

// clusterHealth returns the other gateways' part of a health check, as part of a JSON object, or ""
// without a cluster. Problem names servers and files, so it is shown on this machine only.
func (s *Server) clusterHealth(local bool) string {
	if s.others == nil {
		return ""
	}
	var health struct {
		Connected bool   `json:"connected"`
		Gateways  int    `json:"gateways"`
		Trouble   string `json:"trouble,omitempty"`
		Do        string `json:"do,omitempty"`
	}
	health.Connected, health.Gateways = s.others.ConnectionState()
	if local {
		health.Trouble, health.Do = s.others.Problem()
	}
	text, _ := json.Marshal(health) // of plain fields
	return `,"cluster":` + string(text)
}
