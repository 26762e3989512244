package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"terminalproxy/protocol"
)

// slowReader is how long one event may take to be sent before the reader is cut off.
const slowReader = 5 * time.Second

// events streams what happens to one session: an event for every message, named after its type. A reader that falls
// behind gets the newest screen and not every one. The stream ends with the session; who connects again begins with the
// newest screen, so that there is nothing to catch up with.
func (a *API) events(v Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	q := query(r, "everyMs", "changes")
	every, changes := q.number("everyMs", 0, 0, protocol.MaxWaitMs), q.word("changes", "false", "true", "moves")
	if q.err != nil {
		return nil, q.err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stream, err := v.Stream(ctx, &protocol.SessionsSubscribe{
		SessionID: r.PathValue("id"), EveryMs: int64(every), Changes: changes != "false", Moves: changes == "moves", //nolint:gosec // bounded above
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		cancel()
		for range stream { // until who writes it has ended
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
	a.stream(ctx, v, s, stream, beat)
	return nil, nil
}

func (a *API) stream(ctx context.Context, v Caller, s *eventWriter, stream <-chan protocol.Message, beat <-chan time.Time) {
	err := s.flush() // the header, at once: the reader knows that it listens
	for err == nil {
		select {
		case m, ok := <-stream:
			if !ok {
				return
			}
			err = s.message(m)
		case <-beat:
			err = s.comment()
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

func (s *eventWriter) message(m protocol.Message) error {
	data, err := encode(m)
	if err != nil {
		return err
	}
	s.b.Reset()
	fmt.Fprintf(&s.b, "event: %s\n", protocol.KindOf(m))
	if snapshot, ok := m.(*protocol.Snapshot); ok {
		fmt.Fprintf(&s.b, "id: %d\n", snapshot.Seq)
	}
	fmt.Fprintf(&s.b, "data: %s\n", data) // data ends with a line feed, which makes the empty line
	return s.send()
}

func (s *eventWriter) comment() error {
	s.b.Reset()
	s.b.WriteString(":\n\n")
	return s.send()
}

func (s *eventWriter) send() error {
	_ = s.control.SetWriteDeadline(time.Now().Add(slowReader)) // where there are none, the reader only stalls itself
	if _, err := s.w.Write(s.b.Bytes()); err != nil {
		return err
	}
	return s.flush()
}

func (s *eventWriter) flush() error {
	err := s.control.Flush()
	_ = s.control.SetWriteDeadline(time.Time{}) // one left behind would wake an idle process
	return err
}
