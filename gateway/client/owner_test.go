package client

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// If the connection is lost before the answer, a decision that takes away is repeated; one that
// grants is not.
func TestLostAnswerOfADecision(t *testing.T) {
	for name, c := range map[string]struct {
		m      protocol.ControlDecide
		repeat bool
	}{
		"take back": {protocol.ControlDecide{}, true}, "hide": {protocol.ControlDecide{Hide: protocol.HideOn}, true},
		"grant": {protocol.ControlDecide{Grant: true}, false}, "show": {protocol.ControlDecide{Hide: protocol.HideOff}, false},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, conns := gateway(t, func(n int64, m protocol.Message) protocol.Message {
				if n == 1 {
					return nil
				}
				return &protocol.Done{RequestID: protocol.RequestID(m)}
			})
			c.m.SessionID, c.m.By = "x", "me"
			err := start(t, cfg).Decide(fake.Within(t), &c.m)
			if c.repeat {
				require.NoError(t, err)
				require.Equal(t, int64(2), conns.Load())
				return
			}
			require.ErrorContains(t, err, "it is unknown whether the terminal.control.decide took effect")
			require.Equal(t, int64(1), conns.Load())
		})
	}
}

// The client tries the viewers' path only if the token may not use the agents'.
func TestTheOtherPath(t *testing.T) {
	var mu sync.Mutex
	var paths []string
	status := map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		paths = append(paths, r.URL.Path)
		http.Error(w, "because of "+r.URL.Path, status[r.URL.Path])
	}))
	defer s.Close()
	for _, tt := range []struct {
		agent, view int
		want        []string
	}{
		{403, 403, []string{protocol.PathAgent, protocol.PathView}},
		{401, 403, []string{protocol.PathAgent}},
		{400, 403, []string{protocol.PathAgent}},
	} {
		cfg := configFor(s)
		cfg.ViewURL = "ws://" + s.Listener.Addr().String() + protocol.PathView
		mu.Lock()
		paths, status = nil, map[string]int{protocol.PathAgent: tt.agent, protocol.PathView: tt.view}
		mu.Unlock()
		_, err := start(t, cfg).Sessions(fake.Within(t))
		require.ErrorContains(t, err, "because of "+protocol.PathAgent, "the first refusal is the one that says more")
		mu.Lock()
		require.Equal(t, tt.want, paths)
		mu.Unlock()
	}
}
