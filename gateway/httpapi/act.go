package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// input types. An input that did not arrive whole is no success: its status says why, and the receipt stands beside the
// error.
func (a *API) input(v Caller, w http.ResponseWriter, r *http.Request) error {
	m, err := decode[*protocol.Input](v, w, r, "terminal.input")
	if err != nil {
		return err
	}
	got, err := ask[*protocol.InputResult](r.Context(), v, m)
	switch {
	case err != nil:
		return err
	case got.Status == protocol.StatusRefused:
		return fail(got.Reason, text.Refusal(got.Reason, got.Message)+hint(got.Reason), got)
	case text.CutOff(got):
		return fail(protocol.CodeStaleEpoch, fmt.Sprintf("control ended while this was typed: %s; %d bytes reached the program, %d did not",
			text.Ended(got.Ended), got.WrittenBytes, got.DroppedBytes), got)
	case got.Status == protocol.StatusDropped:
		return fail(got.Reason, fmt.Sprintf("%s; %d bytes reached the program, %d did not%s",
			text.Refusal(got.Reason, got.Message), got.WrittenBytes, got.DroppedBytes, hint(got.Reason)), got)
	}
	a.write(w, http.StatusOK, got)
	return nil
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

func (a *API) wait(v Caller, w http.ResponseWriter, r *http.Request) error {
	m, err := decode[*protocol.Wait](v, w, r, "terminal.wait")
	if err != nil {
		return err
	}
	got, err := ask[*protocol.WaitResult](r.Context(), v, m)
	if err != nil {
		return err
	}
	a.write(w, http.StatusOK, got)
	return nil
}

// request asks the user for control and waits for the answer for a while; the request outlasts that.
func (a *API) request(v Caller, w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "timeoutMs")
	if err != nil {
		return err
	}
	limit, err := number(q, "timeoutMs", 30_000, 0, protocol.MaxWaitMs)
	if err != nil {
		return err
	}
	m, err := decode[*protocol.ControlRequest](v, w, r, "terminal.control.request")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(limit)*time.Millisecond) //nolint:gosec // bounded above
	defer cancel()
	answer, err := v.Call(ctx, m)
	if errors.Is(err, context.DeadlineExceeded) && r.Context().Err() == nil {
		a.write(w, http.StatusAccepted, pending{m.RequestID, m.SessionID, "pending"})
		return nil
	}
	if err != nil {
		return err
	}
	switch answer := answer.(type) {
	case *protocol.ControlGrant:
		a.write(w, http.StatusOK, answer)
		return nil
	case *protocol.ControlRevoke:
		return fail(protocol.CodeNoGrant, "not granted: "+text.Ended(answer.Reason), answer)
	}
	return fmt.Errorf("a request for control was answered with a %s", protocol.KindOf(answer))
}

// pending is the answer while the user has not decided: POST wait with {"until":{"control":true}} waits on.
type pending struct {
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	Status    string `json:"status"`
}

// release gives control back. Doing so twice changes nothing.
func (a *API) release(v Caller, w http.ResponseWriter, r *http.Request) error {
	m, err := decode[*protocol.ControlRelease](v, w, r, "terminal.control.release")
	if err != nil {
		return err
	}
	_, err = v.Call(r.Context(), m)
	if refused, ok := errors.AsType[*protocol.Error](err); ok && refused.Code == protocol.CodeNoGrant {
		err = nil
	}
	if err != nil {
		return err
	}
	a.write(w, http.StatusOK, &protocol.Done{RequestID: m.RequestID})
	return nil
}
