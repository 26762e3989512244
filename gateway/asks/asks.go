// Package asks tells which agents wait for a person while nobody looks. It is a client of the gateway like others: it watches the
// list of sessions, and asks for it anew before it tells. It knows neither how the gateway is reached nor how people are told.
package asks

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"

	"terminalproxy/protocol"
)

// Link is a connection to the gateway. Send and Next are called from one goroutine each, Close from any; Close ends both.
type Link interface {
	Send(m protocol.Message) error
	// Next is the next frame of the gateway. An error is the end.
	Next() ([]byte, error)
	Close()
}

// Ask is an agent that waits for a person.
type Ask struct {
	SessionID string
	Agent     string // its name, as people read it: a short line of printable characters
	// Held: the agent has the keyboard, and waits with its input or at a prompt for a password; else it asks for the keyboard.
	Held bool
	// Chat: the session's coding agent wants an approval or an answer; the keyboard is another matter.
	Chat bool
	// Epoch is the session's while it waits, 0 with Chat.
	Epoch uint64
}

// Text is an ask in words: who and where, and nothing of the screen or of the agent's own words.
func (a Ask) Text() string {
	if a.Held {
		return a.Agent + " waits in " + a.SessionID
	}
	return a.Agent + " asks in " + a.SessionID
}

// Config is what [Run] needs. Dial, After and Tell are required.
type Config struct {
	Dial func(context.Context) (Link, error)
	// Session is the only one to look at, "" for all.
	Session string
	// After is how long an agent waits, and nobody types or looks in that time, before it is told.
	After time.Duration
	// Tell is told of each ask once. It returns at once.
	Tell func(Ask)
	Log  *slog.Logger // nil discards
}

// Pauses between connections.
const (
	firstPause = 500 * time.Millisecond
	mostPause  = 30 * time.Second
)

// Run tells until ctx ends. Without a gateway it tries again.
func Run(ctx context.Context, conf Config) {
	conf.Log = cmp.Or(conf.Log, slog.New(slog.DiscardHandler))
	w := &watch{conf: conf, open: make(map[string]*waiting)}
	for pause := firstPause; ; pause = min(pause*2, mostPause) {
		heard, err := w.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		conf.Log.Debug("the list of sessions is not watched for now", "error", err)
		if heard {
			pause = firstPause
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return
		}
	}
}

// watch is what is known of who waits. It belongs to the goroutine of Run.
type watch struct {
	conf    Config
	open    map[string]*waiting    // by session
	asking  bool                   // for the list
	listing string                 // the id of that request
	pages   []protocol.SessionInfo // what it has brought so far
	parts   []protocol.SessionInfo // of a list that comes in several messages
	whole   bool                   // which is all of it
	lacks   *protocol.Incomplete   // of the list, nil for nothing
}

// waiting is one ask that has no answer yet.
type waiting struct {
	ask    Ask
	number uint64            // of the coding agent's request
	key    protocol.Keyboard // what tells it from another of the same agent
	asked  time.Time
	looked time.Time // when somebody did, as far as is known
	told   bool
}

// due is when to look whether to tell.
func (w *waiting) due(after time.Duration) time.Time {
	since := w.asked
	if w.looked.After(since) {
		since = w.looked
	}
	return since.Add(after)
}

var errOver = errors.New("the gateway ended the connection")

// follow watches the list on one connection. heard says that the gateway answered.
func (w *watch) follow(ctx context.Context) (heard bool, err error) {
	link, err := w.conf.Dial(ctx)
	if err != nil {
		return false, err
	}
	frames, done := make(chan []byte), make(chan struct{})
	go func() { // ends with the link
		defer close(frames)
		for {
			frame, err := link.Next()
			if err != nil {
				return
			}
			select {
			case frames <- frame:
			case <-done:
				return
			}
		}
	}()
	defer func() {
		close(done)
		link.Close()
		for range frames { // until the reader is gone
			continue
		}
	}()
	w.asking = false
	if err := link.Send(&protocol.SessionsWatch{RequestID: protocol.NewID()}); err != nil {
		return false, err
	}
	return w.carry(ctx, link, frames)
}

// carry takes frames, and looks when something is due.
func (w *watch) carry(ctx context.Context, link Link, frames <-chan []byte) (heard bool, err error) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(w.rest())
		select {
		case <-ctx.Done():
			return heard, ctx.Err()
		case frame, ok := <-frames:
			if !ok {
				return heard, errOver
			}
			heard = true
			if next := w.take(frame); next != "" {
				err = w.list(link, next)
			}
		case <-timer.C:
			if w.isDue(time.Now()) {
				w.pages = nil
				err = w.list(link, "")
			}
		}
		if err != nil {
			return heard, err
		}
	}
}

// list asks for a page of the list, the one after another one.
func (w *watch) list(link Link, after string) error {
	w.asking, w.listing = true, protocol.NewID()
	return link.Send(&protocol.SessionsList{RequestID: w.listing, Paged: true, After: after})
}

// rest is how long nothing is due.
func (w *watch) rest() time.Duration {
	rest := time.Hour
	for _, o := range w.open {
		if !o.told && !w.asking {
			rest = min(rest, time.Until(o.due(w.conf.After)))
		}
	}
	return max(0, rest)
}

func (w *watch) isDue(now time.Time) bool {
	for _, o := range w.open {
		if !o.told && !w.asking && !now.Before(o.due(w.conf.After)) {
			return true
		}
	}
	return false
}

// take takes a frame of the gateway's. next is the page of the list that is to be asked for, "" for none.
func (w *watch) take(frame []byte) (next string) {
	m, err := protocol.Decode(frame, protocol.MaxMessage)
	if err != nil {
		return "" // of a newer gateway
	}
	now := time.Now()
	switch m := m.(type) {
	case *protocol.SessionsChanged:
		w.noteLacks(m.Incomplete)
		w.changed(now, m)
		for _, id := range m.Gone {
			delete(w.open, id)
		}
	case *protocol.SessionsListResult:
		if m.RequestID != w.listing {
			break
		}
		if w.pages = append(w.pages, m.Sessions...); m.Next != "" {
			return m.Next
		}
		w.update(now, w.pages, true)
		w.pages, w.asking = nil, false
		w.tell(now)
	case *protocol.Error:
		if m.RequestID == w.listing { // it is asked again when the next thing is due
			w.asking = false
			for _, o := range w.open {
				o.looked = now
			}
		}
	}
	return ""
}

// noteLacks logs that questions may be missed, and that they are no longer.
func (w *watch) noteLacks(now *protocol.Incomplete) {
	switch {
	case now != nil && w.lacks == nil:
		w.conf.Log.Warn("notices: agents that wait at other gateways may be missed", "cause", now.Why)
	case now == nil && w.lacks != nil:
		w.conf.Log.Info("notices: all gateways are reached again")
	}
	w.lacks = now
}

// changed takes a change of the list, or a part of all of it.
func (w *watch) changed(now time.Time, m *protocol.SessionsChanged) {
	if m.Full {
		w.parts = nil
	}
	switch w.parts = append(w.parts, m.Sessions...); {
	case m.More && (m.Full || w.whole):
		w.whole = true
	default:
		w.update(now, w.parts, m.Full || w.whole)
		w.parts, w.whole = nil, false
	}
}

// update takes what sessions are now; with all, there are no others.
func (w *watch) update(now time.Time, sessions []protocol.SessionInfo, all bool) {
	there := make(map[string]bool)
	for _, s := range sessions {
		there[s.SessionID] = true
		ask, ok := w.waits(s)
		if !ok {
			delete(w.open, s.SessionID)
			continue
		}
		o := w.open[s.SessionID]
		key, number := question(ask, s.Keyboard), uint64(0)
		if ask.Chat {
			number = s.Chat.Oldest
		}
		if o == nil || o.ask != ask || o.key != key || o.number != number {
			o = &waiting{ask: ask, key: key, number: number, asked: now}
			w.open[s.SessionID] = o
		}
		used := time.UnixMilli(s.UsedAt)
		if s.Viewed || used.After(now) { // another clock
			used = now
		}
		if used.After(o.looked) {
			o.looked = used
		}
	}
	for id := range w.open {
		if all && !there[id] {
			delete(w.open, id)
		}
	}
}

// question is what an agent waits for at the keyboard, apart from the time that it has and from what the user types.
func question(a Ask, k protocol.Keyboard) protocol.Keyboard {
	if a.Chat {
		return protocol.Keyboard{}
	}
	k.ExpiresAt, k.Paused, k.HeldLine = 0, false, ""
	return k
}

// waits is who waits for a person in a session.
func (w *watch) waits(s protocol.SessionInfo) (Ask, bool) {
	k := s.Keyboard
	ask := Ask{SessionID: s.SessionID, Agent: name(k.Asking), Epoch: k.Epoch}
	switch {
	case s.State != protocol.StateRunning || w.conf.Session != "" && s.SessionID != w.conf.Session:
		return Ask{}, false
	case k.Asking != "":
		return ask, true
	case s.Chat != nil && s.Chat.Open > 0:
		return Ask{SessionID: s.SessionID, Agent: name(s.Chat.Agent), Chat: true}, true
	case k.Holder == protocol.HolderAgent && (k.Held || s.Blackout != nil && s.Blackout.Unattended):
		ask.Agent, ask.Held = name(k.AgentName), true
		return ask, true
	}
	return Ask{}, false
}

// nameMost is the most that is told of a name, in characters.
const nameMost = 40

// name is an agent's name on one line. A gateway does not believe what proxies say.
func name(raw string) string {
	text := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, protocol.Visible(raw))
	if runes := []rune(text); len(runes) > nameMost {
		text = string(runes[:nameMost]) + "…"
	}
	return cmp.Or(strings.TrimSpace(text), "an agent")
}

// tell tells of all that is due.
func (w *watch) tell(now time.Time) {
	for _, o := range w.open {
		if !o.told && !now.Before(o.due(w.conf.After)) {
			o.told = true
			w.conf.Tell(o.ask)
		}
	}
}
