// Package link is a proxy's connection to a gateway: dialling, coming back after a loss, messages out and in. It knows no
// PTYs and no terminal model, and nothing that it does makes a caller wait: the newest snapshot lies in a slot of one,
// other messages in a bounded queue, and a gateway that does not take them loses the connection.
package link

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/protocol"
	"terminalproxy/protocol/handshake"
)

// Bounds and times of a link.
const (
	queueMax          = 1024
	writePatient      = 5 * time.Second
	dialPatience      = 15 * time.Second // to find a gateway, which may have to take over from one that does not answer
	handshakePatience = 5 * time.Second  // of it for one that was found
	silence           = 45 * time.Second // the gateway pings every 20 s
	firstBackoff      = 50 * time.Millisecond
	longestBackoff    = 10 * time.Second
	expected          = 5 * time.Second // after a loss, that of the next connection: a gateway keeps the session as long
)

// Config plugs a link together.
type Config struct {
	Dial func(context.Context) (net.Conn, error)
	// Join gives a seat at a gateway that this process serves itself, nil where another one does: then Dial is asked. It
	// may be nil. With a seat, messages go over as they are, without sockets and JSON.
	Join   func() (Seat, error)
	URL    string // of /v1/proxy, for the handshake
	Header http.Header
	// Others are gateways to turn to, in this order, when that one does not answer or is lost. An answer counts, also one that refuses:
	// see [handshake.Doors].
	Others []Door
	// Moved is called before Up when another gateway than before was reached. together: the two know each other, so that whoever looked
	// goes on; otherwise the session was opened anew there. Passed is told of a gateway that was passed over since its certificate is
	// wrong. Both may be nil.
	Moved  func(to string, together bool)
	Passed func(gateway string, why error)
	// Hello are the messages that begin every connection.
	Hello func() []protocol.Message
	// Handle takes a message of the gateway's, on the link's reading goroutine; it must not block.
	Handle func(protocol.Message)
	// Up and Down are called when a connection begins and ends, Down after the last Handle.
	Up, Down func()
	// Trouble is called once for each time without a connection, when the first attempt to get one fails.
	Trouble func(error)
	// Urgent reports whether an agent types over the link: a gateway elsewhere that is gone without a word is missed soon then. Any
	// goroutine may ask. It may be nil. Every is the rhythm in which it is asked, for tests; 0 is the usual one.
	Urgent func() bool
	Every  time.Duration
	// Behind is called when live output was left out and the gateway takes messages again; it must not block.
	Behind func()
	Log    *slog.Logger
}

// Door is the way to one more gateway, as [Config] has it for the first.
type Door struct {
	Dial   func(context.Context) (net.Conn, error)
	URL    string
	Header http.Header
}

// Link is the connection. Send and Snapshot may be called from any goroutine.
type Link struct {
	Config
	doors    []Door
	turns    *handshake.Doors
	at       place // of the newest connection; Run's alone, as the next
	round    int   // of attempts since then
	mu       sync.Mutex
	queue    []protocol.Message
	newest   *protocol.Snapshot
	sent     *protocol.Snapshot // the newest that via has
	busy     bool               // somebody hands messages to via
	rows     *protocol.Rows     // not sent yet; nil for none
	live     live
	via      transport     // nil while there is none
	ended    chan struct{} // closed at the end of via
	lost     time.Time     // when the last via ended; zero before that
	back     chan struct{} // made with lost, closed when the next via begins
	overflow bool
	finished bool          // nothing more is to be said: no connection follows this one
	over     chan struct{} // closed with finished
	wake     chan struct{}
}

// New makes a link; Run connects it.
func New(c Config) *Link {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	doors := append([]Door{{Dial: c.Dial, URL: c.URL, Header: c.Header}}, c.Others...)
	urls := make([]string, len(doors))
	for i, d := range doors {
		urls[i] = d.URL
	}
	return &Link{Config: c, doors: doors, turns: handshake.NewDoors(urls, c.Passed), at: place{door: -1}, over: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// Run keeps the link up until ctx ends or Finish is done, however often the gateway goes away.
func (l *Link) Run(ctx context.Context) {
	wait, told := firstBackoff, false
	for ctx.Err() == nil && !l.done() {
		up, err := l.connect(ctx)
		if ctx.Err() != nil || l.done() {
			return
		}
		l.Log.Info("the link to the gateway ended", "cause", err)
		switch {
		case up:
			wait, told = comeback(err), false
		case !told && l.Trouble != nil:
			told = true
			l.Trouble(err)
		}
		select {
		case <-ctx.Done():
		case <-l.over:
		case <-time.After(rand.N(wait)):
		}
		wait = min(2*wait, longestBackoff)
	}
}

// comeback is how long the next connection may be put off at first, after the end of one: whoever takes over on this machine is there
// soon, and a gateway elsewhere that restarts shall not have all its proxies at one moment.
func comeback(end error) time.Duration {
	if closed, ok := errors.AsType[*websocket.CloseError](end); ok && closed.Code == websocket.CloseServiceRestart {
		return handshake.Spread
	}
	return firstBackoff
}

func (l *Link) done() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.finished
}

// connect makes one connection and lives in it until it ends; up says whether there was one.
func (l *Link) connect(ctx context.Context) (up bool, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	via, err := l.open(ctx)
	if err != nil {
		return false, err
	}
	defer via.close()
	if !l.attach(via) {
		return false, context.Canceled
	}
	l.moved(via)
	if l.Up != nil {
		l.Up()
	}
	defer func() {
		l.detach()
		if l.Down != nil {
			l.Down()
		}
	}()
	var reader sync.WaitGroup
	reader.Go(func() { stop(l.read(via)) }) // ends when via is closed
	l.write(ctx, via)
	cause := context.Cause(ctx)
	via.close()
	reader.Wait()
	l.turns.Lost(max(0, l.at.door))
	return true, cause
}

// open finds the gateway: in this process, or elsewhere.
func (l *Link) open(ctx context.Context) (transport, error) {
	if l.Join != nil {
		seat, err := l.Join()
		if err != nil {
			return nil, fmt.Errorf("no gateway answers: %w", err)
		}
		if seat != nil {
			return newSeated(ctx, seat), nil
		}
	}
	var made *wire
	err := l.turns.Try(ctx, l.round, refused, func(short context.Context, door int) error {
		conn, cluster, err := handshakeAt(ctx, short, l.doors[door])
		if err == nil {
			made = newWire(conn, wireConfig{urgent: l.Urgent, every: l.Every, several: l.turns.Several()})
			made.place = place{door: door, cluster: cluster}
		}
		return err
	})
	if err != nil {
		l.round++
		return nil, err
	}
	l.round = 0
	return made, nil
}

// handshakeAt dials and upgrades. Redirects are not followed: the gateway's address comes from the user alone. The socket
// is closed when ctx ends, whatever waits in it: a handshake without an answer, or a write to a gateway that stalls. limit bounds
// the attempt. cluster is the name of those that the gateway belongs to.
func handshakeAt(ctx, limit context.Context, at Door) (conn *websocket.Conn, cluster string, err error) {
	var bound *handshake.Conn
	dial := func(short context.Context, _, _ string) (net.Conn, error) {
		conn, err := at.Dial(short)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { conn.Close() })
		bound, err = handshake.Bound(conn, handshakePatience)
		return bound, err
	}
	d := websocket.Dialer{NetDialContext: dial, NetDialTLSContext: dial, Subprotocols: []string{protocol.Version}}
	short, cancel := context.WithTimeout(limit, dialPatience)
	defer cancel() // its timer would wake an idle session
	conn, resp, err := d.DialContext(short, at.URL, at.Header)
	if resp != nil && resp.Body != nil {
		defer resp.Body.Close()
	}
	if err == nil {
		return conn, resp.Header.Get(protocol.HeaderCluster), bound.Done()
	}
	if resp != nil && errors.Is(err, websocket.ErrBadHandshake) {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 512))
		return nil, "", &refusal{status: resp.StatusCode, text: fmt.Sprintf("the gateway refused the connection (%s): %s", resp.Status, bytes.TrimSpace(body))}
	}
	return nil, "", fmt.Errorf("no gateway answers at %s: %w", at.URL, err)
}

// attach begins a connection with the hello; what was queued for an earlier one is void. After Finish none begins.
func (l *Link) attach(via transport) bool {
	hello := l.Hello()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.finished {
		return false
	}
	l.via, l.queue, l.overflow, l.sent = via, append([]protocol.Message(nil), hello...), false, nil
	l.ended = make(chan struct{})
	if l.back != nil {
		close(l.back)
		l.back = nil
	}
	l.signal()
	return true
}

func (l *Link) detach() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.via, l.queue, l.rows, l.live = nil, nil, nil, live{}
	l.lost, l.back = time.Now(), make(chan struct{})
	close(l.ended)
}

// Send queues a message. Without a connection it is dropped: the hello of the next one says everything that counts.
func (l *Link) Send(m protocol.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.via == nil || l.overflow {
		return
	}
	if len(l.queue) >= queueMax {
		l.overflow = true
		l.via.cut() // a gateway that takes nothing is as good as gone
		return
	}
	l.queue = append(l.queue, m)
	l.signal()
}

// Snapshot puts the newest snapshot into the slot, in place of one that was not sent yet. A connection that comes later
// begins with it. A gateway in this process that takes it at once has it when Snapshot returns, without another goroutine.
func (l *Link) Snapshot(s *protocol.Snapshot) {
	l.mu.Lock()
	l.newest = s
	via, ok := l.via.(ready)
	if !ok || l.busy || l.finished || len(l.queue) > 0 || l.rows != nil || l.live.waits() {
		l.signal()
		l.mu.Unlock()
		return
	}
	l.busy = true
	l.mu.Unlock()
	took := via.try(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy = false; took && l.via == via.(transport) {
		l.sent = s
	}
	if l.newest != l.sent || len(l.queue) > 0 || l.rows != nil || l.live.waits() || l.finished {
		l.signal()
	}
}

// Rows puts the screen for those who look into a slot of its own, in place of one that was not sent yet. Without a connection
// nobody looks.
func (l *Link) Rows(m *protocol.Rows) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.via != nil {
		l.rows = m
		l.signal()
	}
}

func (l *Link) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Await waits for the connection that follows one that was just lost, or for the end of ctx: what is sent then is not lost with it.
func (l *Link) Await(ctx context.Context) {
	l.mu.Lock()
	back := l.back
	hopeless := l.finished || time.Since(l.lost) > expected
	l.mu.Unlock()
	if back == nil || hopeless {
		return
	}
	select {
	case <-ctx.Done():
	case <-back:
	}
}

// Finish sends what is queued, and then a close frame whose answer says that the gateway has read all of it. It returns
// when that has come, when the connection is lost, or when ctx ends; Run makes no connection after it.
func (l *Link) Finish(ctx context.Context) {
	l.mu.Lock()
	if !l.finished {
		l.finished = true
		close(l.over)
	}
	via, ended := l.via, l.ended
	l.signal()
	l.mu.Unlock()
	if via == nil {
		return
	}
	select {
	case <-ctx.Done():
	case <-ended:
	}
}

// write is the connection's only writer of messages.
func (l *Link) write(ctx context.Context, via transport) {
	for ctx.Err() == nil {
		l.mu.Lock()
		if l.busy { // who is at it says when it is over
			l.mu.Unlock()
			select {
			case <-ctx.Done():
			case <-l.wake:
			}
			continue
		}
		queue, newest, rows, finished := l.queue, l.newest, l.rows, l.finished
		l.queue, l.rows = nil, nil
		output, behind := l.live.take()
		if newest == l.sent {
			newest = nil
		} else {
			l.sent = newest
		}
		some := len(output) > 0 || len(queue) > 0 || newest != nil || rows != nil
		l.busy = some
		l.mu.Unlock()
		if behind {
			l.Behind()
		}
		switch {
		case some:
			err := messages(via, slices.Concat(output, queue), newest, rows)
			l.free()
			if err != nil {
				l.Log.Info("write to the gateway", "error", err)
				return
			}
		case finished:
			via.finish()
			<-ctx.Done() // the answer ends the reading; a lost connection does, too
		default:
			select {
			case <-ctx.Done():
			case <-l.wake:
			}
		}
	}
}

func (l *Link) free() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy = false
}

// messages sends the queue, and what is newest after it, but before the end of its session: the end is the last that is heard of
// one.
func messages(via transport, queue []protocol.Message, snapshot *protocol.Snapshot, rows *protocol.Rows) error {
	var newest []protocol.Message
	if snapshot != nil {
		newest = append(newest, snapshot)
	}
	if rows != nil {
		newest = append(newest, rows)
	}
	at := slices.IndexFunc(queue, func(m protocol.Message) bool { _, end := m.(*protocol.SessionClose); return end })
	if at < 0 {
		at = len(queue)
	}
	for _, m := range slices.Concat(queue[:at], newest, queue[at:]) {
		if err := via.send(m); err != nil {
			return err
		}
	}
	return nil
}

// read hands on what the gateway says until the connection ends.
func (l *Link) read(via transport) error {
	for {
		m, err := via.receive()
		if bad, ok := errors.AsType[*protocol.FieldError](err); ok {
			l.Send(bad.Reply())
			continue
		}
		if err != nil {
			return fmt.Errorf("read from the gateway: %w", err)
		}
		l.Handle(m)
	}
}
