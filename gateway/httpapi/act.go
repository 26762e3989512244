package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// input types. An input that did not arrive whole is no success: its status says why, and the receipt stands beside the
// error.
func (a *API) input(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	got, err := pass[*protocol.Input, *protocol.InputResult](v, w, r)
	switch {
	case err != nil:
		return nil, err
	case got.Status == protocol.StatusRefused:
		return nil, fail(got.Reason, text.Refusal(got.Reason, got.Message)+hint(got.Reason), got)
	case text.CutOff(got):
		return nil, fail(protocol.CodeStaleEpoch, fmt.Sprintf("control ended while this was typed: %s; %d bytes reached the program, %d did not",
			text.EndedAs(got), got.WrittenBytes, got.DroppedBytes), got)
	case got.Status == protocol.StatusDropped:
		return nil, fail(got.Reason, fmt.Sprintf("%s; %d bytes reached the program, %d did not%s",
			text.Refusal(got.Reason, got.Message), got.WrittenBytes, got.DroppedBytes, hint(got.Reason)), got)
	}
	return got, nil
}

// hint says what to do next.
func hint(code protocol.Code) string {
	switch code {
	case protocol.CodeNoGrant:
		return ": ask with POST control/request first"
	case protocol.CodeStaleEpoch, protocol.CodeScreenChanged, protocol.CodeUserTyping, protocol.CodeNotReading, protocol.CodeOtherProgram:
		return ": look with GET screen before you type again"
	default:
		return ""
	}
}

func (a *API) wait(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return pass[*protocol.Wait, *protocol.WaitResult](v, w, r)
}

// request asks the user for control and waits for the answer for a while; the request outlasts that.
func (a *API) request(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	q := query(r, "timeoutMs")
	limit := q.number("timeoutMs", 30_000, 0, protocol.MaxWaitMs)
	if q.err != nil {
		return nil, q.err
	}
	m, err := decode[*protocol.ControlRequest](v, w, r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(limit)*time.Millisecond) //nolint:gosec // bounded above
	defer cancel()
	answer, err := v.Call(ctx, m)
	if errors.Is(err, context.DeadlineExceeded) && r.Context().Err() == nil {
		a.write(w, http.StatusAccepted, pending{m.RequestID, m.SessionID, "pending"})
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	switch answer := answer.(type) {
	case *protocol.ControlGrant:
		return answer, nil
	case *protocol.ControlRevoke:
		return nil, fail(protocol.CodeNoGrant, "not granted: "+text.Refused(answer), answer)
	}
	return nil, fmt.Errorf("a request for control was answered with a %s", protocol.KindOf(answer))
}

// pending is the answer while the user has not decided: POST wait with {"until":{"control":true}} waits on.
type pending struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	Status    string `json:"status"`
}

// release gives control back. Doing so twice changes nothing.
func (a *API) release(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	m, err := decode[*protocol.ControlRelease](v, w, r)
	if err != nil {
		return nil, err
	}
	_, err = v.Call(r.Context(), m)
	if refused, ok := errors.AsType[*protocol.Error](err); err != nil && (!ok || refused.Code != protocol.CodeNoGrant) {
		return nil, err
	}
	return &protocol.Done{RequestID: m.RequestID}, nil
}

// message writes to the user for an agent, and for an owner to the agent.
func (a *API) message(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	from := protocol.FromUser
	if v.Role() == RoleAgent {
		from = protocol.FromAgent
	}
	return pass[*protocol.Note, *protocol.Done](v, w, r, said{"from", strconv.Quote(from), false})
}
