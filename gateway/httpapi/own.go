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

// refuse refuses what an agent asks for; who has the keyboard keeps it.
func (a *API) refuse(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return a.decide(v, w, r, said{"grant", "false", false}, said{refuseField, "true", false})
}

// mute keeps an agent from asking and writing, or lets it speak again.
func (a *API) mute(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return a.decide(v, w, r, said{"grant", "false", false}, said{muteField, `"` + protocol.MuteOn + `"`, true})
}

const (
	hideField   = "hide"
	muteField   = "mute"
	refuseField = "refuse"
)

func (a *API) decide(v Caller, w http.ResponseWriter, r *http.Request, path ...said) (any, error) {
	path = append(path, said{"by", `"` + v.Role() + `"`, true})
	m, err := decode[*protocol.ControlDecide](v, w, r, path...)
	if err != nil {
		return nil, err
	}
	for field, is := range map[string]bool{hideField: m.Hide != "", muteField: m.Mute != "", refuseField: m.Refuse} {
		if is && !slices.ContainsFunc(path, func(f said) bool { return f.name == field }) {
			return nil, badField(field, "that is for POST control/"+field+": leave it out")
		}
	}
	return ask[*protocol.Done](r.Context(), v, m)
}
