package gateway

import (
	"net/http"

	"terminalproxy/gateway/httpapi"
)

// newAPI makes the door for plain HTTP.
func (s *Server) newAPI() *httpapi.Door {
	return httpapi.New(httpapi.Config{
		Log: s.log, Draw: s.cfg.Draw, Version: s.cfg.Version, Local: overSocket,
		Admit: func(r *http.Request, own bool) (httpapi.Visitor, error) {
			v, err := s.visitors.admit(r, own)
			if err != nil {
				return nil, err // not a *visitor that is nil
			}
			return v, nil
		},
		Stats: func() httpapi.Stats {
			stats := s.hub.Stats()
			out := httpapi.Stats{Sessions: stats.Sessions, Participants: make(map[string]int), Waiting: stats.Waiting}
			for role, n := range stats.Participants {
				out.Participants[string(role)] = n
			}
			return out
		},
	})
}
