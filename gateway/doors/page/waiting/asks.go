// Package waiting reports agents that wait for a person who is not watching. It is an ordinary
// client of the gateway: it watches the list of sessions, and reads the list again before it
// reports. It depends neither on how the gateway is reached nor on how people are notified.
package waiting

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"terminalproxy/protocol"
	"terminalproxy/protocol/pace"
)

// Link is a connection to the gateway. One goroutine each calls Send and Next; any may call Close,
// which ends both.
type Link interface {
	Send(m protocol.Message) error
	// Next returns the next frame of the gateway. An error ends the link.
	Next() ([]byte, error)
	Close()
}

// Ask is an agent that waits for a person.
type Ask struct {
	SessionID string
	Agent     string // its name, as people read it: a short line of printable characters
	// Held: the agent has the keyboard and waits with its input or at a password prompt. Otherwise
	// it asks for the keyboard.
	Held bool
	// Chat: the session's coding agent needs an approval or an answer, independent of the keyboard.
	Chat bool
	// Secret is the kind of secret that a program asks for which the agent started elsewhere, or
	// "".
	Secret string
	// Epoch is the session's epoch while the agent waits, or 0 with Chat and Secret.
	Epoch uint64
}

// Text describes the ask by agent and session, without the screen or the agent's own text.
func (a Ask) Text() string {
	if a.Secret != "" {
		return a.Agent + " needs an answer for a program"
	}
	if a.Held {
		return a.Agent + " waits in " + a.SessionID
	}
	return a.Agent + " asks in " + a.SessionID
}

// Config configures [Run]. Dial, After and Report are required.
type Config struct {
	Dial func(context.Context) (Link, error)
	// Session is the only session to watch, or "" for all.
	Session string
	// Secrets: report programs' questions for secrets, too. This needs an owner's rights.
	Secrets bool
	// After is how long an agent must wait, while the user neither types nor watches, before it is
	// reported.
	After time.Duration
	// Report reports an ask, once. It must return at once.
	Report func(Ask)
	Log    *slog.Logger // nil discards
}

// Pauses between connections.
const (
	firstPause = 500 * time.Millisecond
	maxPause   = 30 * time.Second
)

// Run reports asks until ctx ends. Without a gateway it retries.
func Run(ctx context.Context, conf Config) {
	conf.Log = cmp.Or(conf.Log, slog.New(slog.DiscardHandler))
	w := &watch{
		conf: conf, open: make(map[string]*openAsk), secrets: make(map[string]*openAsk),
	}
	backoff := pace.Backoff{First: firstPause, Longest: maxPause}
	for {
		answered, err := w.watchList(ctx)
		if ctx.Err() != nil {
			return
		}
		conf.Log.Debug("lost the list of sessions; reconnecting", "error", err)
		if answered {
			backoff.Reset(0)
		}
		if backoff.Pause(ctx) != nil {
			return
		}
	}
}

// watch tracks the agents that wait. The goroutine of Run owns it.
type watch struct {
	conf       Config
	open       map[string]*openAsk    // by session
	secrets    map[string]*openAsk    // questions of programs, by id
	earlier    map[string]*openAsk    // secrets of the previous connection
	asking     bool                   // a list request is open
	listing    string                 // its id
	pages      []protocol.SessionInfo // its pages so far
	parts      []protocol.SessionInfo // of a change that comes in several messages
	partsFull  bool                   // the change is a full list
	incomplete *protocol.Incomplete   // of the list, or nil
}

// openAsk is an unanswered ask.
type openAsk struct {
	ask      Ask
	number   uint64            // of the coding agent's oldest request
	key      protocol.Keyboard // tells one ask of the agent from the next
	asked    time.Time
	watched  time.Time // when the user last typed or watched, if known
	reported bool
}

// dueAt returns when to report the ask.
func (w *openAsk) dueAt(after time.Duration) time.Time {
	since := w.asked
	if w.watched.After(since) {
		since = w.watched
	}
	return since.Add(after)
}

var errOver = errors.New("the gateway ended the connection")

// watchList watches the list on one connection. answered means that the gateway answered.
func (w *watch) watchList(ctx context.Context) (answered bool, err error) {
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
		for range frames { // until the reader ends
			continue
		}
	}()
	w.asking = false
	if err := link.Send(&protocol.SessionsWatch{RequestID: protocol.NewID()}); err != nil {
		return false, err
	}
	if w.conf.Secrets {
		// the gateway sends those that are open
		w.earlier, w.secrets = w.secrets, make(map[string]*openAsk)
		if err := link.Send(&protocol.SecretWatch{RequestID: protocol.NewID()}); err != nil {
			return false, err
		}
	}
	return w.handleFrames(ctx, link, frames)
}

// handleFrames handles frames, and requests the list when an ask is due.
func (w *watch) handleFrames(
	ctx context.Context, link Link, frames <-chan []byte,
) (answered bool, err error) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(w.untilDue())
		select {
		case <-ctx.Done():
			return answered, ctx.Err()
		case frame, ok := <-frames:
			if !ok {
				return answered, errOver
			}
			answered = true
			if next := w.handleFrame(frame); next != "" {
				err = w.requestPage(link, next)
			}
		case <-timer.C:
			w.reportDue(time.Now(), w.secrets)
			if w.isDue(time.Now()) {
				w.pages = nil
				err = w.requestPage(link, "")
			}
		}
		if err != nil {
			return answered, err
		}
	}
}

// requestPage asks for the page of the list that follows another one.
func (w *watch) requestPage(link Link, after string) error {
	w.asking, w.listing = true, protocol.NewID()
	return link.Send(&protocol.SessionsList{RequestID: w.listing, Paged: true, After: after})
}

// untilDue returns the time until the next ask is due.
func (w *watch) untilDue() time.Duration {
	delay := time.Hour
	for _, o := range w.secrets {
		if !o.reported {
			delay = min(delay, time.Until(o.dueAt(w.conf.After)))
		}
	}
	for _, o := range w.open {
		if !o.reported && !w.asking {
			delay = min(delay, time.Until(o.dueAt(w.conf.After)))
		}
	}
	return max(0, delay)
}

func (w *watch) isDue(now time.Time) bool {
	for _, o := range w.open {
		if !o.reported && !w.asking && !now.Before(o.dueAt(w.conf.After)) {
			return true
		}
	}
	return false
}

// handleFrame handles a frame of the gateway. It returns the next page to request, or "".
func (w *watch) handleFrame(frame []byte) (next string) {
	m, err := protocol.Decode(frame, protocol.MaxMessage)
	if err != nil {
		return "" // a newer gateway sent it
	}
	now := time.Now()
	switch m := m.(type) {
	case *protocol.SessionsChanged:
		w.logIncomplete(m.Incomplete)
		w.applyChange(now, m)
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
		w.updateAsks(now, w.pages, true)
		w.pages, w.asking = nil, false
		w.reportDue(now, w.open)
	case *protocol.SecretAsk:
		w.addSecret(now, m)
	case *protocol.SecretEnded:
		delete(w.secrets, m.Question)
	case *protocol.Error:
		if m.RequestID == w.listing { // the next due ask requests it again
			w.asking = false
			for _, o := range w.open {
				o.watched = now
			}
		}
	}
	return ""
}

// logIncomplete logs when asks may be missed, and when that ends.
func (w *watch) logIncomplete(current *protocol.Incomplete) {
	switch {
	case current != nil && w.incomplete == nil:
		w.conf.Log.Warn(
			"notices: may miss agents that wait at other gateways", "cause", current.Why,
		)
	case current == nil && w.incomplete != nil:
		w.conf.Log.Info("notices: all gateways are reachable again")
	}
	w.incomplete = current
}

// applyChange collects the parts of a change and applies it with the last one.
func (w *watch) applyChange(now time.Time, m *protocol.SessionsChanged) {
	if m.Full {
		w.parts = nil
	}
	switch w.parts = append(w.parts, m.Sessions...); {
	case m.More && (m.Full || w.partsFull):
		w.partsFull = true
	default:
		w.updateAsks(now, w.parts, m.Full || w.partsFull)
		w.parts, w.partsFull = nil, false
	}
}

// updateAsks updates the asks of the given sessions. If all is set, other sessions are gone.
func (w *watch) updateAsks(now time.Time, sessions []protocol.SessionInfo, all bool) {
	listed := make(map[string]bool)
	for _, s := range sessions {
		listed[s.SessionID] = true
		ask, ok := w.askOf(s)
		if !ok {
			delete(w.open, s.SessionID)
			continue
		}
		o := w.open[s.SessionID]
		key, number := questionOf(ask, s.Keyboard), uint64(0)
		if ask.Chat {
			number = s.Chat.Oldest
		}
		if o == nil || o.ask != ask || o.key != key || o.number != number {
			o = &openAsk{ask: ask, key: key, number: number, asked: now}
			w.open[s.SessionID] = o
		}
		used := time.UnixMilli(s.UsedAt)
		if s.Viewed || used.After(now) { // the proxy's clock may be ahead
			used = now
		}
		if used.After(o.watched) {
			o.watched = used
		}
	}
	for id := range w.open {
		if all && !listed[id] {
			delete(w.open, id)
		}
	}
}

// questionOf returns the part of the keyboard's state that identifies an ask, without its deadline
// and the user's own typing.
func questionOf(a Ask, k protocol.Keyboard) protocol.Keyboard {
	if a.Chat {
		return protocol.Keyboard{}
	}
	k.ExpiresAt, k.Paused, k.HeldLine = 0, false, ""
	return k
}

// askOf returns the ask of the session's agent that waits for a person, if it does.
func (w *watch) askOf(s protocol.SessionInfo) (Ask, bool) {
	k := s.Keyboard
	ask := Ask{SessionID: s.SessionID, Agent: displayName(k.Asking), Epoch: k.Epoch}
	switch {
	case s.State != protocol.StateRunning || w.conf.Session != "" && s.SessionID != w.conf.Session:
		return Ask{}, false
	case k.Asking != "":
		return ask, true
	case s.Chat != nil && s.Chat.Open > 0:
		return Ask{SessionID: s.SessionID, Agent: displayName(s.Chat.Agent), Chat: true}, true
	case k.Holder == protocol.HolderAgent && (k.Held || s.Blackout != nil && s.Blackout.Unattended):
		ask.Agent, ask.Held = displayName(k.AgentName), true
		return ask, true
	}
	return Ask{}, false
}

// maxName bounds a name in messages, in characters.
const maxName = 40

// displayName returns an agent's name on one line. A gateway does not trust the names that proxies
// send.
func displayName(raw string) string {
	text := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, protocol.Visible(raw))
	if runes := []rune(text); len(runes) > maxName {
		text = string(runes[:maxName]) + "…"
	}
	return cmp.Or(strings.TrimSpace(text), "an agent")
}

// addSecret adds a program's question for a secret. One that was open on the previous connection
// keeps its state.
func (w *watch) addSecret(now time.Time, m *protocol.SecretAsk) {
	if w.conf.Session != "" && m.SessionID != w.conf.Session {
		return
	}
	w.secrets[m.RequestID] = cmp.Or(w.earlier[m.RequestID], &openAsk{asked: now, ask: Ask{
		SessionID: m.SessionID, Agent: secretAgent(m.Asker.Agent), Secret: m.Kind,
	}})
}

// secretAgent names, for people, the agent that started a program.
func secretAgent(name string) string {
	if name == "" {
		return "a program of yours"
	}
	return displayName(name)
}

// reportDue reports the asks that are due.
func (w *watch) reportDue(now time.Time, open map[string]*openAsk) {
	for _, o := range open {
		if !o.reported && !now.Before(o.dueAt(w.conf.After)) {
			o.reported = true
			w.conf.Report(o.ask)
		}
	}
}
