package httpapi

import (
	"net/http"
	"strconv"

	"terminalproxy/protocol"
)

// message writes to the user for an agent, and for an owner to the agent.
func (a *API) message(v Caller, w http.ResponseWriter, r *http.Request) error {
	from := protocol.FromUser
	if v.Role() == RoleAgent {
		from = protocol.FromAgent
	}
	m, err := decode[*protocol.Note](v, w, r, "terminal.message", said{"from", strconv.Quote(from), false})
	if err != nil {
		return err
	}
	done, err := ask[*protocol.Done](r.Context(), v, m)
	if err != nil {
		return err
	}
	a.write(w, http.StatusOK, done)
	return nil
}
