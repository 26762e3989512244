package gateway

import (
	"net/http"

	"terminalproxy/gateway/doors/httpapi"
)

// newAPI makes the interface for plain HTTP.
func (s *Server) newAPI() *httpapi.API {
	return httpapi.New(httpapi.Config{
		Log:     s.log,
		Draw:    s.cfg.Draw,
		Version: s.cfg.Version,
		Local:   func(r *http.Request) bool { return connectionOf(r).isLocal() },
		Authenticate: func(r *http.Request, own bool) (httpapi.Caller, error) {
			v, err := s.callers.authenticateRequest(r, own)
			if err != nil {
				return nil, err // not a *caller that is nil
			}
			return v, nil
		},
		Stats: s.metricFamilies,
	})
}
