package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
	"terminalproxy/protocol/pace"
)

const (
	// noteEvery is the least time between two notes about a resource.
	noteEvery = 200 * time.Millisecond
	// pollEvery is the default of Config.PollEvery.
	pollEvery = time.Second
)

// watches holds the resources that clients subscribe to: one watch each, however many subscribe.
type watches struct {
	terminals Terminals
	log       *slog.Logger
	pollEvery time.Duration // see Config.PollEvery
	// send sends a note to the subscribers of its resource.
	send func(context.Context, *mcp.ResourceUpdatedNotificationParams) error

	mu   sync.Mutex
	open map[string]*watch // by URI
	wg   sync.WaitGroup
	// awaited are the sessions of the older revisions whose end a goroutine waits for: they end
	// without unsubscribing.
	awaited map[*mcp.ServerSession]bool
}

// newWatches makes the watches of a server, which sets send before it serves its first client.
func newWatches(cfg Config) *watches {
	return &watches{
		terminals: cfg.Terminals, log: cfg.Log, pollEvery: cfg.PollEvery,
		open: make(map[string]*watch), awaited: make(map[*mcp.ServerSession]bool),
	}
}

type watch struct {
	stop        context.CancelFunc
	subscribers map[*mcp.ServerSession]int
}

// maxWatches bounds the watches of one server's clients.
const maxWatches = 64

// subscribeTo subscribes a client to a resource, and starts to watch it if needed.
func (w *watches) subscribeTo(ctx context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	terminal, view, ok := parseResource(uri)
	if !ok || view != "sessions" && isMissing(ctx, w.terminals, terminal) {
		return mcp.ResourceNotFoundError(uri)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.open[uri]
	if at == nil {
		if len(w.open) >= maxWatches {
			return fmt.Errorf("you already watch %d resources: unsubscribe from some first",
				maxWatches)
		}
		ctx, stop := context.WithCancel(context.Background())
		at = &watch{stop: stop, subscribers: make(map[*mcp.ServerSession]int)}
		w.open[uri] = at
		w.wg.Go(func() { // ends with stop, when the last subscriber has left
			if view == "sessions" {
				w.watchSessions(ctx)
			} else {
				w.watchTerminal(ctx, uri, terminal)
			}
		})
	}
	at.subscribers[req.Session]++
	if !w.awaited[req.Session] {
		w.awaited[req.Session] = true
		w.wg.Go(func() { // ends with the client's session
			_ = req.Session.Wait()
			w.forgetSession(req.Session)
		})
	}
	return nil
}

// unsubscribeFrom removes one subscription.
func (w *watches) unsubscribeFrom(_ context.Context, req *mcp.UnsubscribeRequest) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at := w.open[req.Params.URI]; at != nil && at.subscribers[req.Session] > 0 {
		at.subscribers[req.Session]--
		w.endUnusedLocked(req.Params.URI, req.Session)
	}
	return nil
}

// forgetSession removes all subscriptions of a session that ended.
func (w *watches) forgetSession(session *mcp.ServerSession) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.awaited, session)
	for uri, at := range w.open {
		delete(at.subscribers, session)
		w.endUnusedLocked(uri, session)
	}
}

// endUnusedLocked ends the watch of a resource without subscribers.
func (w *watches) endUnusedLocked(uri string, session *mcp.ServerSession) {
	at := w.open[uri]
	if at.subscribers[session] == 0 {
		delete(at.subscribers, session)
	}
	if len(at.subscribers) == 0 {
		at.stop()
		delete(w.open, uri)
	}
}

// stopAll ends all watches and waits for them. The caller has ended the clients' sessions.
func (w *watches) stopAll() {
	w.mu.Lock()
	for uri, at := range w.open {
		at.stop()
		delete(w.open, uri)
	}
	w.mu.Unlock()
	w.wg.Wait()
}

// watchTerminal notifies the subscribers of changes to a terminal: its screen, its keyboard,
// whether it is hidden, its end. Changes that come faster than notes may follow share one note.
func (w *watches) watchTerminal(ctx context.Context, uri, terminal string) {
	stream, err := w.terminals.Subscribe(ctx, terminal, noteEvery)
	if err != nil {
		w.log.Debug("watch ended", "uri", uri, "error", err)
		return
	}
	defer func() {
		for range stream { // drained until ctx ends it, because its writer must not block
		}
	}()
	if pace.Pause(ctx, noteEvery) != nil {
		return // the first note must not overtake the answer to the subscription
	}
	for open, news := true, false; open || news; {
		if !news {
			select {
			case _, open = <-stream: // the end of the stream is news, too
			case <-ctx.Done():
				return
			}
		}
		w.sendNote(ctx, uri)
		if pace.Pause(ctx, noteEvery) != nil {
			return
		}
		open, news = drain(stream, open)
	}
}

// drain reads the queued messages of a stream.
func drain(stream <-chan protocol.Message, open bool) (stillOpen, news bool) {
	for open {
		select {
		case _, open = <-stream:
			news = true
		default:
			return open, news
		}
	}
	return open, news
}

// watchSessions polls the list of terminals.
func (w *watches) watchSessions(ctx context.Context) {
	before, first := "", true
	for {
		sessions, err := w.terminals.Sessions(ctx)
		if now := digest(sessions); err == nil && (first || now != before) {
			if !first {
				w.sendNote(ctx, sessionsURI)
			}
			before, first = now, false
		}
		if pace.Pause(ctx, w.pollEvery) != nil {
			return
		}
	}
}

// digest returns the parts of a list of terminals whose change is worth a note, without durations.
func digest(sessions []protocol.SessionInfo) string {
	var b strings.Builder
	for _, info := range sessions {
		k := info.Keyboard
		fmt.Fprintf(&b, "%s %s %dx%d %s %s %s %t\n", info.SessionID, text.State(info), info.Cols,
			info.Rows, k.Holder, k.AgentID, k.Asking, k.Paused)
	}
	return b.String()
}

func (w *watches) sendNote(ctx context.Context, uri string) {
	note := &mcp.ResourceUpdatedNotificationParams{URI: uri}
	if err := w.send(ctx, note); err != nil {
		w.log.Debug("note not sent", "uri", uri, "error", err)
	}
}
