package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"terminalproxy/protocol"
)

// eventTimeout bounds the time for sending one event; then the reader is disconnected.
const eventTimeout = 5 * time.Second

// streamEvents streams the events of one session, named after the types of their messages. A reader
// that falls behind gets the newest screen and not every one. The stream ends with the session. A
// reader that reconnects starts with the newest screen, so it has nothing to catch up on.
func (a *API) streamEvents(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	q := parseQuery(r, "everyMs", "changes")
	every := q.readNumber("everyMs", 0, 0, protocol.MaxWaitMs)
	changes := q.readWord("changes", "false", "true", "moves")
	if q.err != nil {
		return nil, q.err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stream, err := v.Stream(ctx, &protocol.SessionsSubscribe{
		SessionID: r.PathValue("id"),
		EveryMs:   int64(every), //nolint:gosec // bounded above
		Changes:   changes != "false",
		Moves:     changes == "moves",
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		cancel()
		for range stream { // until its writer has ended
		}
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	var beat <-chan time.Time
	if !a.cfg.Local(r) {
		tick := time.NewTicker(a.cfg.Heartbeat)
		defer tick.Stop()
		beat = tick.C
	}
	s := &eventWriter{w: w, control: http.NewResponseController(w)}
	a.writeEvents(ctx, v, s, stream, beat)
	return nil, nil
}

func (a *API) writeEvents(
	ctx context.Context, v Caller, s *eventWriter, stream <-chan protocol.Message,
	beat <-chan time.Time,
) {
	err := s.flush() // sends the header at once, so that the reader knows that it is connected
	for err == nil {
		select {
		case m, ok := <-stream:
			if !ok {
				return
			}
			err = s.writeMessage(m)
		case <-beat:
			err = s.writeComment()
		case <-v.Ended():
			return
		case <-ctx.Done():
			return
		}
	}
	a.log.Debug("event stream ended", "error", err)
}

// eventWriter writes server-sent events.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	b       bytes.Buffer
}

func (s *eventWriter) writeMessage(m protocol.Message) error {
	data, err := encodeJSON(m)
	if err != nil {
		return err
	}
	s.b.Reset()
	fmt.Fprintf(&s.b, "event: %s\n", protocol.KindOf(m))
	if snapshot, ok := m.(*protocol.Snapshot); ok {
		fmt.Fprintf(&s.b, "id: %d\n", snapshot.Seq)
	}
	fmt.Fprintf(&s.b, "data: %s\n", data) // data ends with a line feed, which makes the empty line
	return s.sendBuffer()
}

func (s *eventWriter) writeComment() error {
	s.b.Reset()
	s.b.WriteString(":\n\n")
	return s.sendBuffer()
}

func (s *eventWriter) sendBuffer() error {
	// fails only without deadlines; then a slow reader stalls only itself
	_ = s.control.SetWriteDeadline(time.Now().Add(eventTimeout))
	if _, err := s.w.Write(s.b.Bytes()); err != nil {
		return err
	}
	return s.flush()
}

func (s *eventWriter) flush() error {
	err := s.control.Flush()
	_ = s.control.SetWriteDeadline(time.Time{}) // a pending deadline would wake an idle process
	return err
}
