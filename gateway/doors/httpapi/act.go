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

// typeInput types input. If it did not arrive whole, the request fails: its status says why, and
// the receipt stands beside the error.
func (a *API) typeInput(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	got, err := forwardBody[*protocol.Input, *protocol.InputResult](v, w, r)
	switch {
	case err != nil:
		return nil, err
	case got.Status == protocol.StatusRefused:
		message := text.Refusal(got.Reason, got.Message) + nextStep(got.Reason)
		return nil, failWith(got.Reason, message, got)
	case text.CutOff(got):
		message := fmt.Sprintf(
			"control ended while this was typed: %s; %d bytes reached the program, %d did not",
			text.EndedAs(got), got.WrittenBytes, got.DroppedBytes)
		return nil, failWith(protocol.CodeStaleEpoch, message, got)
	case got.Status == protocol.StatusDropped:
		message := fmt.Sprintf("%s; %d bytes reached the program, %d did not%s",
			text.Refusal(got.Reason, got.Message), got.WrittenBytes, got.DroppedBytes,
			nextStep(got.Reason))
		return nil, failWith(got.Reason, message, got)
	}
	return got, nil
}

// nextStep tells the caller what to do next.
func nextStep(code protocol.Code) string {
	switch code {
	case protocol.CodeNoGrant:
		return ": ask with POST control/request first"
	case protocol.CodeStaleEpoch, protocol.CodeScreenChanged, protocol.CodeUserTyping,
		protocol.CodeNotReading, protocol.CodeOtherProgram:
		return ": look with GET screen before you type again"
	default:
		return ""
	}
}

func (a *API) waitForFact(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return forwardBody[*protocol.Wait, *protocol.WaitResult](v, w, r)
}

// requestControl asks the user for control and waits a while for the answer; the request stays open
// longer.
func (a *API) requestControl(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	q := parseQuery(r, "timeoutMs")
	limit := q.readNumber("timeoutMs", 30_000, 0, protocol.MaxTimeoutMs)
	if q.err != nil {
		return nil, q.err
	}
	m, err := decode[*protocol.ControlRequest](v, w, r)
	if err != nil {
		return nil, err
	}
	timeout := time.Duration(limit) * time.Millisecond //nolint:gosec // bounded above
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	answer, err := v.Call(ctx, m)
	if errors.Is(err, context.DeadlineExceeded) && r.Context().Err() == nil {
		a.writeJSON(w, http.StatusAccepted, pendingRequest{m.RequestID, m.SessionID, "pending"})
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	switch answer := answer.(type) {
	case *protocol.ControlGrant:
		return answer, nil
	case *protocol.ControlRevoke:
		return nil, failWith(protocol.CodeNoGrant, "not granted: "+text.RefusalReason(answer),
			answer)
	}
	return nil, fmt.Errorf("a request for control was answered with a %s", protocol.KindOf(answer))
}

// pendingRequest is the answer while the user has not decided. POST wait with
// {"until":{"control":true}} waits for the decision.
type pendingRequest struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	Status    string `json:"status"`
}

// releaseControl releases control. Doing so twice changes nothing.
func (a *API) releaseControl(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	m, err := decode[*protocol.ControlRelease](v, w, r)
	if err != nil {
		return nil, err
	}
	_, err = v.Call(r.Context(), m)
	refused, ok := errors.AsType[*protocol.Error](err)
	if err != nil && (!ok || refused.Code != protocol.CodeNoGrant) {
		return nil, err
	}
	return &protocol.Done{RequestID: m.RequestID}, nil
}

// sendMessage sends an agent's message to the user, or an owner's to the agent.
func (a *API) sendMessage(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	from := protocol.FromUser
	if v.Role() == RoleAgent {
		from = protocol.FromAgent
	}
	field := pathField{"from", strconv.Quote(from), false}
	return forwardBody[*protocol.Note, *protocol.Done](v, w, r, field)
}
