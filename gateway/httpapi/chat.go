package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// chat is the conversation of the session's coding agent, behind the record with a number; it waits a while for the first one.
func (a *API) chat(v Caller, _ http.ResponseWriter, r *http.Request) (any, error) {
	q := query(r, "after", "timeoutMs")
	after, limit := q.number("after", 0, 0, 1<<63-1), q.number("timeoutMs", 10_000, 1, protocol.MaxWaitMs)
	if q.err != nil {
		return nil, q.err
	}
	info, err := a.find(v, r)
	switch {
	case err != nil:
		return nil, err
	case info.Blackout.ByUser():
		return nil, fail(protocol.CodeBlackout, text.Hidden(info.Blackout), nil)
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(limit)*time.Millisecond) //nolint:gosec // bounded above
	defer cancel()
	records, lost, err := v.Records(ctx, info.SessionID, after)
	if errors.Is(err, context.DeadlineExceeded) && r.Context().Err() == nil {
		records, lost, err = nil, 0, nil // nothing new was said
	}
	if records == nil {
		records = []protocol.ChatRecord{}
	}
	return &protocol.ChatRecords{SessionID: info.SessionID, Records: records, Lost: lost}, err
}

// chatSend says something to the coding agent.
func (a *API) chatSend(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return pass[*protocol.ChatSend, *protocol.Done](v, w, r)
}

// chatImage takes a part of an image for a prompt.
func (a *API) chatImage(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return pass[*protocol.ChatImage, *protocol.Done](v, w, r)
}

// chatAnswer answers what the coding agent asks.
func (a *API) chatAnswer(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return pass[*protocol.ChatAnswer, *protocol.Done](v, w, r)
}

// chatInterrupt ends the coding agent's turn.
func (a *API) chatInterrupt(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	return pass[*protocol.ChatInterrupt, *protocol.Done](v, w, r)
}
