package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// readChat returns the conversation with the session's coding agent after a record's number. It
// waits a while for the first record.
func (a *API) readChat(v Caller, _ http.ResponseWriter, r *http.Request) (any, error) {
	q := parseQuery(r, "after", "timeoutMs")
	after := q.readNumber("after", 0, 0, 1<<63-1)
	limit := q.readNumber("timeoutMs", 10_000, 1, protocol.MaxWaitMs)
	if q.err != nil {
		return nil, q.err
	}
	info, err := a.findSession(v, r)
	switch {
	case err != nil:
		return nil, err
	case info.Blackout.ByUser():
		return nil, failWith(protocol.CodeBlackout, text.Hidden(info.Blackout), nil)
	}
	timeout := time.Duration(limit) * time.Millisecond //nolint:gosec // bounded above
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	records, lost, err := v.Records(ctx, info.SessionID, after)
	if errors.Is(err, context.DeadlineExceeded) && r.Context().Err() == nil {
		records, lost, err = nil, 0, nil // the conversation has no new records
	}
	if records == nil {
		records = []protocol.ChatRecord{}
	}
	return &protocol.ChatRecords{SessionID: info.SessionID, Records: records, Lost: lost}, err
}

// chatSend sends a message to the coding agent.
func (a *API) chatSend(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return forwardBody[*protocol.ChatSend, *protocol.Done](v, w, r)
}

// chatAnswer answers a request of the coding agent.
func (a *API) chatAnswer(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return forwardBody[*protocol.ChatAnswer, *protocol.Done](v, w, r)
}

// chatInterrupt ends the coding agent's turn.
func (a *API) chatInterrupt(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return forwardBody[*protocol.ChatInterrupt, *protocol.Done](v, w, r)
}
