package gateway

import (
	"net/http"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/access/rights"
	"terminalproxy/gateway/access/secrets"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/hub"
)

// newBroker returns the broker that puts programs' questions for secrets to the user.
func (s *Server) newBroker() *secrets.Broker {
	return secrets.New(secrets.Config{
		Log: s.log,
		Join: func() *client.Client {
			m := hub.Member{
				Role: hub.RoleViewer, Local: true, Remote: true, // it reaches no other gateway
				Rights: rights.Set{Who: "a program that asks", Can: rights.OfAsker()},
			}
			return client.NewInProcess(func() client.Peer { return s.joinHub(m, auth.Identity{}) })
		},
		Clients: func() map[int]secrets.Client {
			all := make(map[int]secrets.Client)
			for pid, m := range s.hub.LocalAgents() {
				all[pid] = secrets.Client{ID: m.ID, Name: m.Name, TokenID: m.TokenID}
			}
			return all
		},
	})
}

// serveSecretHello serves [secrets.PathHello].
func (s *Server) serveSecretHello(w http.ResponseWriter, r *http.Request) {
	c := connectionOf(r)
	if c.socket == nil {
		s.api.RejectPath(w, r)
		return
	}
	c.asker = s.broker.ServeHello(w, r, c.socket)
}

// serveSecretAsk serves [secrets.PathAsk].
func (s *Server) serveSecretAsk(w http.ResponseWriter, r *http.Request) {
	c := connectionOf(r)
	if c.socket == nil {
		s.api.RejectPath(w, r)
		return
	}
	asker := c.asker
	c.asker = nil
	s.broker.ServeAsk(w, r, asker)
}
