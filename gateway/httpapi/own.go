package httpapi

import (
	"net/http"
	"slices"

	"terminalproxy/protocol"
)

// grant gives the keyboard to the agent that asks, or to the next one: for an owner, and obeyed only where the session's
// proxy believes it.
func (a *API) grant(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return a.decide(v, w, r, said{"grant", "true", false})
}

// reclaim takes the keyboard back. When it is answered, no further byte of an agent's reaches the program.
func (a *API) reclaim(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return a.decide(v, w, r, said{"grant", "false", false})
}

// hide keeps agents from seeing the session, or lets them see it again.
func (a *API) hide(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return a.decide(v, w, r, said{"grant", "false", false}, said{hideField, `"` + protocol.HideOn + `"`, true})
}

const hideField = "hide"

func (a *API) decide(v Caller, w http.ResponseWriter, r *http.Request, path ...said) (any, error) {
	path = append(path, said{"by", `"` + v.Role() + `"`, true})
	m, err := decode[*protocol.ControlDecide](v, w, r, path...)
	if err != nil {
		return nil, err
	}
	hides := slices.ContainsFunc(path, func(f said) bool { return f.name == hideField })
	if m.Hide != "" && !hides {
		return nil, badField(hideField, "that is for POST control/hide: leave it out")
	}
	return ask[*protocol.Done](r.Context(), v, m)
}
