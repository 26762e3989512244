package httpapi

import (
	"net/http"
	"slices"

	"terminalproxy/protocol"
)

// grantControl gives the keyboard to the agent that asks, or to the next one that does. It takes
// effect only if the session's proxy accepts the owner.
func (a *API) grantControl(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return a.decideForOwner(v, w, r, pathField{"grant", "true", false})
}

// reclaimControl takes the keyboard back. After its answer, no further byte of an agent's input
// reaches the program.
func (a *API) reclaimControl(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return a.decideForOwner(v, w, r, pathField{"grant", "false", false})
}

// hideSession hides the session from agents, or shows it again.
func (a *API) hideSession(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return a.decideForOwner(v, w, r,
		pathField{"grant", "false", false}, pathField{hideField, `"` + protocol.HideOn + `"`, true})
}

// refuseRequest refuses an agent's request; the holder of the keyboard keeps it.
func (a *API) refuseRequest(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return a.decideForOwner(v, w, r,
		pathField{"grant", "false", false}, pathField{refuseField, "true", false})
}

// muteAgent keeps an agent from asking and writing, or ends that.
func (a *API) muteAgent(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return a.decideForOwner(v, w, r,
		pathField{"grant", "false", false}, pathField{muteField, `"` + protocol.MuteOn + `"`, true})
}

const (
	hideField   = "hide"
	muteField   = "mute"
	refuseField = "refuse"
)

func (a *API) decideForOwner(
	v Caller, w http.ResponseWriter, r *http.Request, path ...pathField,
) (any, error) {
	path = append(path, pathField{"by", `"` + v.Role() + `"`, true})
	m, err := decode[*protocol.ControlDecide](v, w, r, path...)
	if err != nil {
		return nil, err
	}
	fields := map[string]bool{
		hideField: m.Hide != "", muteField: m.Mute != "", refuseField: m.Refuse,
	}
	for field, isSet := range fields {
		if isSet && !slices.ContainsFunc(path, func(f pathField) bool { return f.name == field }) {
			return nil, badField(field, "it belongs to POST control/"+field+": leave it out")
		}
	}
	return callFor[*protocol.Done](r.Context(), v, m)
}
