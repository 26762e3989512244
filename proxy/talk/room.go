package talk

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
	// batchSize is about how many bytes of records one message has; one record may be more.
	batchSize = 64 << 10
	// pause is the least time between two messages: text comes in pieces of a few characters.
	pause = 50 * time.Millisecond
	// patience is for the last records.
	patience = time.Second
	// mostHidden bounds the times that are remembered in which the user hid the screen. Older ones become one.
	mostHidden = 64
)

// Link is the way to the gateway. It never waits.
type Link interface{ Send(m protocol.Message) }

// Config plugs a [Room].
type Config struct {
	SessionID string
	Chat      *chat.Session
	// Redact is a text as those may see it who look from elsewhere. It may be called from any goroutine.
	Redact func(text string) string
	Link   Link
	Log    *slog.Logger
}

// Room is where a conversation is followed from elsewhere. Its methods may be called from any goroutine; without a conversation it is
// nil, and Start, Close, Reached, Hide, Unsubscribe and WhyEnded do nothing.
type Room struct {
	Config
	ctx    context.Context //nolint:containedctx // of the room's goroutines, which begin with calls that have none
	cancel context.CancelFunc
	parts  sync.WaitGroup

	mu     sync.Mutex
	why    string // of the state
	told   *protocol.ChatStatus
	hidden []span             // when the user hid the screen; the last one may not have ended
	leave  context.CancelFunc // ends the stream, nil for none
	shown  chan struct{}      // closed at the end of hiding; nil while nothing is hidden
}

// span is a time, without an end as long as that has not come.
type span struct{ from, to time.Time }

func (s span) holds(t time.Time) bool { return !t.Before(s.from) && (s.to.IsZero() || !t.After(s.to)) }

// New makes a room. Nothing runs before Start.
func New(conf Config) *Room {
	ctx, cancel := context.WithCancel(context.Background())
	return &Room{Config: conf, ctx: ctx, cancel: cancel}
}

// Start starts the agent and tells of its state from then on, also when it did not start.
func (r *Room) Start() {
	if r == nil {
		return
	}
	if err := r.Chat.Start(); err != nil {
		r.Log.Warn("the conversation did not start", "error", err)
	}
	r.parts.Go(r.follow)
}

// Close ends the agent, and returns when all has been told of the conversation's end, or after a moment. Hide must not be called any more.
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

// follow tells of every change of the state, until the conversation has ended.
func (r *Room) follow() {
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
		r.tell()
		r.mu.Unlock()
	}
}

// tell sends the state, if it is a new one and may be known. The caller holds the lock.
func (r *Room) tell() {
	if r.shown != nil {
		return
	}
	if now := r.status(); r.told == nil || *r.told != *now {
		r.told = now
		r.Link.Send(now)
	}
}

func (r *Room) status() *protocol.ChatStatus {
	open, oldest := r.Chat.Open(), uint64(0)
	if len(open) > 0 {
		oldest = open[0].Number()
	}
	return &protocol.ChatStatus{
		SessionID: r.SessionID, Agent: r.Chat.Agent(), State: r.Chat.State(), Open: len(open), Oldest: oldest,
		Mode: protocol.Clip(r.Redact(r.Chat.Mode()), protocol.MaxName),
		Why:  protocol.Clip(r.Redact(r.why), protocol.MaxText),
	}
}

// Reached says that there is a connection: who is there knows nothing yet.
func (r *Room) Reached() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = nil
	r.tell()
}

// Hide says that the user hides the screen now, or no longer. When it returns, nothing of the conversation is on its way any more.
func (r *Room) Hide(now time.Time, on bool) {
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
			r.hidden = slices.Replace(r.hidden, 0, 2, span{r.hidden[0].from, r.hidden[1].to})
		}
		r.hidden = append(r.hidden, span{from: now.Truncate(time.Millisecond)}) // as records tell the time on the wire
	default:
		close(r.shown)
		r.shown = nil
		r.hidden[len(r.hidden)-1].to = now
		r.tell()
	}
}

// Subscribe begins to send the records with higher numbers than that, in place of what was sent before.
func (r *Room) Subscribe(after uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unsubscribe()
	ctx, cancel := context.WithCancel(r.ctx)
	r.leave = cancel
	r.parts.Go(func() {
		defer cancel()
		(&stream{room: r, after: after, texts: map[string]*unfinished{}}).run(ctx)
	})
}

// Unsubscribe ends that.
func (r *Room) Unsubscribe() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unsubscribe()
}

func (r *Room) unsubscribe() {
	if r.leave != nil {
		r.leave()
		r.leave = nil
	}
}

// wasHidden reports whether the user hid the screen at that time. The caller holds the lock.
func (r *Room) wasHidden(at time.Time) bool {
	return slices.ContainsFunc(r.hidden, func(s span) bool { return s.holds(at) })
}

// Send, Answer and Interrupt are those of the conversation.

// Send says something to the agent for a person.
func (r *Room) Send(by, text string, images []chat.Image) error {
	return r.Chat.SendImages(by, text, images)
}

// ImageRefusal says why the agent takes no images, nil where it does.
func (r *Room) ImageRefusal() error { return r.Chat.ImageRefusal() }

// Pass says something to the agent for another agent.
func (r *Room) Pass(by, text string) error { return r.Chat.Pass(by, text) }

// Waits is what a prompt would wait for now.
func (r *Room) Waits() protocol.Waiting { return protocol.Waiting(r.Chat.Waits()) }

// Interrupt ends the turn.
func (r *Room) Interrupt(by string) error { return r.Chat.Interrupt(by) }

// Answer answers a request.
func (r *Room) Answer(id, by string, a protocol.ChatReply) error {
	if len(a.Replies) == 0 {
		a.Replies = nil // an answer to no question is none
	}
	if err := r.offered(id, a); err != nil {
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

// Open are the ids of the requests that wait for an answer, oldest first.
func (r *Room) Open() (ids []string) {
	for _, q := range r.Chat.Open() {
		ids = append(ids, q.ID)
	}
	return ids
}
