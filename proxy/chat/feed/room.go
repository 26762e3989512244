package feed

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
)

const (
	// batchSize is the approximate size of a message, in bytes; one record may be larger.
	batchSize = 64 << 10
	// pause is the least time between two messages: text comes in pieces of a few characters.
	pause = 50 * time.Millisecond
	// patience is how long Close waits for the last records to leave.
	patience = time.Second
	// mostHidden bounds the remembered spans in which the user hid the screen. The oldest are
	// merged.
	mostHidden = 64
)

// Link sends messages to the gateway. Send queues and never blocks.
type Link interface{ Send(m protocol.Message) }

// Config plugs a [Room].
type Config struct {
	SessionID string
	Chat      *chat.Session
	// Redact masks the secrets in a text. It may be called from any goroutine.
	Redact func(text string) string
	Link   Link
	Log    *slog.Logger
}

// Room serves one conversation to its followers. Its methods may be called from any goroutine.
// Without a conversation it is nil, and Start, Close, SendState, SetHidden, Unsubscribe and
// WhyEnded do nothing.
type Room struct {
	Config
	ctx    context.Context //nolint:containedctx // for the room's goroutines
	cancel context.CancelFunc
	parts  sync.WaitGroup

	// sending orders the states that are sent. It is locked before mu, and while the
	// conversation may wait for the disk. mu is not, because the pump's goroutine locks it.
	sending sync.Mutex

	mu     sync.Mutex
	why    string // of the state
	told   *protocol.ChatStatus
	hidden []span             // when the user hid the screen; the last one may not have ended
	leave  context.CancelFunc // ends the stream; nil without one
	shown  chan struct{}      // closed at the end of hiding; nil while nothing is hidden
}

// span is a time from one moment to another; to is zero until the span ends.
type span struct{ from, to time.Time }

func (s span) contains(t time.Time) bool {
	return !t.Before(s.from) && (s.to.IsZero() || !t.After(s.to))
}

// New makes a room. Nothing runs before Start.
func New(conf Config) *Room {
	ctx, cancel := context.WithCancel(context.Background())
	return &Room{Config: conf, ctx: ctx, cancel: cancel}
}

// Start starts the agent and sends its state from then on, even if it did not start.
func (r *Room) Start() {
	if r == nil {
		return
	}
	if err := r.Chat.Start(); err != nil {
		r.Log.Warn("the conversation did not start", "error", err)
	}
	r.parts.Go(r.followState)
}

// Close ends the agent. It returns when the end of the conversation has been sent, or after
// patience. SetHidden must not be called after it.
func (r *Room) Close() {
	if r == nil {
		return
	}
	defer r.cancel()
	enough := time.AfterFunc(patience, r.cancel)
	defer enough.Stop()
	if err := r.Chat.Close(); err != nil {
		r.Log.Info("the conversation's end", "error", err)
	}
	r.mu.Lock()
	if r.shown != nil {
		r.cancel()
	}
	r.mu.Unlock()
	r.parts.Wait()
}

// followState sends every change of the state until the conversation has ended.
func (r *Room) followState() {
	last := uint64(0)
	for {
		records, _, err := r.Chat.Records(r.ctx, last)
		if err != nil || len(records) == 0 {
			return
		}
		last = records[len(records)-1].Number
		r.mu.Lock()
		for _, record := range records {
			if record.State != "" {
				r.why = record.Why
			}
		}
		r.mu.Unlock()
		r.sendState(false)
	}
}

// sendState sends the state, if it changed or is to be repeated, and the screen is not hidden.
func (r *Room) sendState(repeat bool) {
	r.sending.Lock()
	defer r.sending.Unlock()
	now := r.stateMessage()
	r.mu.Lock()
	defer r.mu.Unlock()
	now.Why = protocol.Clip(r.Redact(r.why), protocol.MaxText)
	if repeat {
		r.told = nil
	}
	if r.shown == nil && (r.told == nil || *r.told != *now) {
		r.told = now
		r.Link.Send(now)
	}
}

// stateMessage returns the state without its reason.
func (r *Room) stateMessage() *protocol.ChatStatus {
	open, oldest := r.Chat.OpenRequests(), uint64(0)
	if len(open) > 0 {
		oldest = open[0].Number()
	}
	return &protocol.ChatStatus{
		SessionID: r.SessionID,
		Agent:     r.Chat.Agent(),
		State:     r.Chat.State(),
		Open:      len(open),
		Oldest:    oldest,
		Mode:      protocol.Clip(r.Redact(r.Chat.Mode()), protocol.MaxName),
	}
}

// SendState sends the state over a new connection, whose other end does not know it yet.
func (r *Room) SendState() {
	if r == nil {
		return
	}
	r.sendState(true)
}

// SetHidden notes that the user hides or shows the screen. After hiding, when it returns, nothing
// of the conversation leaves the proxy.
func (r *Room) SetHidden(now time.Time, on bool) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case on == (r.shown != nil):
	case on:
		r.shown = make(chan struct{})
		if len(r.hidden) == mostHidden {
			r.hidden[1].from = r.hidden[0].from
			r.hidden = slices.Delete(r.hidden, 0, 1)
		}
		r.hidden = append(r.hidden, span{from: now.Truncate(time.Millisecond)}) // the precision of records on the wire
	default:
		close(r.shown)
		r.shown = nil
		r.hidden[len(r.hidden)-1].to = now
		r.parts.Go(func() { r.sendState(false) })
	}
}

// Subscribe begins to send the records with higher numbers. It replaces the former stream.
func (r *Room) Subscribe(after uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endStream()
	ctx, cancel := context.WithCancel(r.ctx)
	r.leave = cancel
	r.parts.Go(func() {
		defer cancel()
		(&stream{room: r, after: after, texts: map[string]*partialText{}}).run(ctx)
	})
}

// Unsubscribe ends the stream.
func (r *Room) Unsubscribe() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endStream()
}

func (r *Room) endStream() {
	if r.leave != nil {
		r.leave()
		r.leave = nil
	}
}

// wasHiddenAt reports whether the screen was hidden at that time. The caller must hold r.mu.
func (r *Room) wasHiddenAt(at time.Time) bool {
	return slices.ContainsFunc(r.hidden, func(s span) bool { return s.contains(at) })
}

// Send, Answer and Interrupt are those of the conversation.

// Send says something to the agent for a person.
func (r *Room) Send(by, text string) error { return r.Chat.Send(by, text) }

// SendForAgent says something to the agent for another agent.
func (r *Room) SendForAgent(by, text string, mayAct chat.MayAct) error {
	return r.Chat.SendForAgent(by, text, mayAct)
}

// WaitReason is what a prompt would wait for now.
func (r *Room) WaitReason() protocol.Waiting { return protocol.Waiting(r.Chat.WaitReason()) }

// Interrupt ends the turn.
func (r *Room) Interrupt(by string) error { return r.Chat.Interrupt(by) }

// InterruptForAgent ends the turn for another agent.
func (r *Room) InterruptForAgent(by string, mayAct chat.MayAct) error {
	return r.Chat.InterruptForAgent(by, mayAct)
}

// Answer answers a request.
func (r *Room) Answer(id, by string, a protocol.ChatReply) error {
	if len(a.Replies) == 0 {
		a.Replies = nil // an empty map answers no question
	}
	if err := r.checkOffered(id, a); err != nil {
		return err
	}
	return r.Chat.Answer(id, by, a)
}

// WhyEnded is why the agent ended, "" where it ended as it should.
func (r *Room) WhyEnded() string {
	if r == nil {
		return ""
	}
	return r.Chat.WhyEnded()
}

// OpenRequests are the ids of the requests that wait for an answer, oldest first.
func (r *Room) OpenRequests() (ids []string) {
	for _, q := range r.Chat.OpenRequests() {
		ids = append(ids, q.ID)
	}
	return ids
}
