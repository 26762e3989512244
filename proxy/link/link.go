// Package link is a proxy's connection to a gateway: dialling, reconnecting, and messages in both
// directions. It knows no PTYs and no terminal model, and none of its calls waits: the newest
// snapshot lies in a slot of one, other messages in a bounded queue, and a gateway that does not
// read them loses the connection.
package link

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/protocol"
	"terminalproxy/protocol/handshake"
	"terminalproxy/protocol/pace"
)

// Bounds and times of a link.
const (
	queueMax     = 1024
	writePatient = 5 * time.Second
	// dialPatience bounds finding a gateway, which may have to take over from one that does not
	// answer.
	dialPatience      = 15 * time.Second
	handshakePatience = 5 * time.Second  // of that, for a gateway that was found
	silence           = 45 * time.Second // the gateway pings every 20 s
	firstBackoff      = 50 * time.Millisecond
	longestBackoff    = 10 * time.Second
	expected          = 5 * time.Second // for a reconnect: a gateway keeps the session as long
)

// Config connects a link.
type Config struct {
	Dial func(context.Context) (net.Conn, error)
	// Join returns a seat at a gateway that this process serves itself, or nil if another process
	// serves it: then Dial is called. It may be nil. With a seat, messages pass unchanged, without
	// sockets and JSON.
	Join   func() (Seat, error)
	URL    string // of /v1/proxy, for the handshake
	Header http.Header
	// Others are further gateways to try, in this order, if the first does not answer or is lost. A
	// refusal counts as an answer: see [handshake.Gateways].
	Others []Door
	// Moved is called before Up if another gateway than before was reached. together means that the
	// two share a cluster, so that those who look continue; otherwise the session was opened again
	// there. Skipped is called for a gateway that was skipped because its certificate is wrong. Both
	// may be nil.
	Moved   func(to string, together bool)
	Skipped func(gateway string, why error)
	// Hello returns the messages that begin every connection.
	Hello func() []protocol.Message
	// Handle handles a message of the gateway, on the link's reading goroutine; it must not block.
	Handle func(protocol.Message)
	// Up and Down are called when a connection begins and ends, Down after the last Handle.
	Up, Down func()
	// Trouble is called once for each time without a connection, when the first attempt to
	// reconnect fails.
	Trouble func(error)
	// Urgent reports whether an agent types over the link: then the silent loss of a remote gateway
	// is noticed soon. It may be called on any goroutine, and may be nil. Every is the interval of
	// these calls, for tests; 0 is the default.
	Urgent func() bool
	Every  time.Duration
	// Behind is called when live output was dropped and the gateway reads messages again; it must
	// not block.
	Behind func()
	Log    *slog.Logger
}

// Door leads to one more gateway, as [Config] does to the first.
type Door struct {
	Dial   func(context.Context) (net.Conn, error)
	URL    string
	Header http.Header
}

// Link is the connection. Send and PutSnapshot may be called on any goroutine.
type Link struct {
	Config
	doors    []Door
	turns    *handshake.Gateways
	at       place // of the newest connection; owned by Run, like round
	round    int   // of attempts since then
	mu       sync.Mutex
	queue    []protocol.Message
	newest   *protocol.Snapshot
	sent     *protocol.Snapshot // the newest that via has
	busy     bool               // a goroutine hands messages to via
	rows     *protocol.Rows     // not sent yet, or nil
	live     live
	via      transport     // nil without a connection
	ended    chan struct{} // closed at the end of via
	lost     time.Time     // when the last via ended, or zero
	back     chan struct{} // made with lost, closed when the next via begins
	overflow bool
	finished bool          // FinishSending was called: no connection follows this one
	over     chan struct{} // closed with finished
	wake     chan struct{}
}

// New returns a link; Run connects it.
func New(c Config) *Link {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	doors := append([]Door{{Dial: c.Dial, URL: c.URL, Header: c.Header}}, c.Others...)
	urls := make([]string, len(doors))
	for i, d := range doors {
		urls[i] = d.URL
	}
	return &Link{
		Config: c,
		doors:  doors,
		turns:  handshake.NewGateways(urls, c.Skipped),
		at:     place{door: -1},
		over:   make(chan struct{}),
		wake:   make(chan struct{}, 1),
	}
}

// Run keeps the link up until ctx ends or FinishSending is done, reconnecting each time the gateway
// goes away.
func (l *Link) Run(ctx context.Context) {
	backoff, reported := pace.Backoff{First: firstBackoff, Longest: longestBackoff}, false
	for ctx.Err() == nil && !l.isFinished() {
		up, err := l.runConnection(ctx)
		if ctx.Err() != nil || l.isFinished() {
			return
		}
		l.Log.Info("the link to the gateway ended", "cause", err)
		switch {
		case up:
			backoff.Reset(firstDelay(err))
			reported = false
		case !reported && l.Trouble != nil:
			reported = true
			l.Trouble(err)
		}
		select {
		case <-ctx.Done():
		case <-l.over:
		case <-time.After(backoff.NextDelay()):
		}
	}
}

// firstDelay bounds the delay of the next connection after the end of one. A gateway that takes
// over on this machine is there soon, and a remote one that restarts must not have all its proxies
// at one moment.
func firstDelay(end error) time.Duration {
	closed, ok := errors.AsType[*websocket.CloseError](end)
	if ok && closed.Code == websocket.CloseServiceRestart {
		return handshake.Spread
	}
	return firstBackoff
}

func (l *Link) isFinished() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.finished
}

// runConnection makes one connection and serves it until it ends. up reports whether it was made.
func (l *Link) runConnection(ctx context.Context) (up bool, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	via, err := l.openTransport(ctx)
	if err != nil {
		return false, err
	}
	defer via.close()
	if !l.attachTransport(via) {
		return false, context.Canceled
	}
	l.reportMove(via)
	if l.Up != nil {
		l.Up()
	}
	defer func() {
		l.detachTransport()
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
	l.turns.NoteLost(max(0, l.at.door))
	return true, cause
}

// openTransport finds the gateway, in this process or elsewhere.
func (l *Link) openTransport(ctx context.Context) (transport, error) {
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
	err := l.turns.Try(ctx, l.round, isFinalRefusal, func(short context.Context, door int) error {
		conn, cluster, err := handshakeAt(ctx, short, l.doors[door])
		if err == nil {
			made = newWire(conn,
				wireConfig{urgent: l.Urgent, every: l.Every, several: l.turns.HasSeveral()})
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

// handshakeAt dials and upgrades. It does not follow redirects: only the user names the gateway's
// address. The socket is closed when ctx ends, even during a handshake without an answer or a write
// to a gateway that stalls. limit bounds the attempt. cluster is the name of the gateway's cluster.
func handshakeAt(
	ctx, limit context.Context, at Door,
) (conn *websocket.Conn, cluster string, err error) {
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
	d := websocket.Dialer{
		NetDialContext:    dial,
		NetDialTLSContext: dial,
		Subprotocols:      []string{protocol.Version},
	}
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
		return nil, "", &refusal{
			status: resp.StatusCode,
			text: fmt.Sprintf("the gateway refused the connection (%s): %s",
				resp.Status, bytes.TrimSpace(body)),
		}
	}
	return nil, "", fmt.Errorf("no gateway answers at %s: %w", at.URL, err)
}

// attachTransport begins a connection with the hello; messages queued for an earlier one are void.
// It reports false after FinishSending.
func (l *Link) attachTransport(via transport) bool {
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
	l.wakeWriter()
	return true
}

func (l *Link) detachTransport() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.via, l.queue, l.rows, l.live = nil, nil, nil, live{}
	l.lost, l.back = time.Now(), make(chan struct{})
	close(l.ended)
}

// Send queues a message. Without a connection it is dropped: the hello of the next one says all
// that counts.
func (l *Link) Send(m protocol.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.via == nil || l.overflow {
		return
	}
	if len(l.queue) >= queueMax {
		l.overflow = true
		l.via.cutConnection() // a gateway that does not read counts as lost
		return
	}
	l.queue = append(l.queue, m)
	l.wakeWriter()
}

// PutSnapshot puts the newest snapshot into the slot, in place of an unsent one. A later connection
// begins with it. A gateway in this process that takes it at once has it when PutSnapshot returns,
// without another goroutine.
func (l *Link) PutSnapshot(s *protocol.Snapshot) {
	l.mu.Lock()
	l.newest = s
	via, ok := l.via.(ready)
	if !ok || l.busy || l.finished || len(l.queue) > 0 || l.rows != nil || l.live.isWaiting() {
		l.wakeWriter()
		l.mu.Unlock()
		return
	}
	l.busy = true
	l.mu.Unlock()
	took := via.trySnapshot(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy = false; took && l.via == via.(transport) {
		l.sent = s
	}
	if l.newest != l.sent || len(l.queue) > 0 || l.rows != nil || l.live.isWaiting() || l.finished {
		l.wakeWriter()
	}
}

// PutRows puts the screen for viewers into its own slot, in place of an unsent one. Without a
// connection there are no viewers.
func (l *Link) PutRows(m *protocol.Rows) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.via != nil {
		l.rows = m
		l.wakeWriter()
	}
}

func (l *Link) wakeWriter() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// WaitReconnected waits for the connection that follows a lost one, or for the end of ctx, so that
// what is sent then is not lost with it.
func (l *Link) WaitReconnected(ctx context.Context) {
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

// FinishSending sends the queue, and then a close frame, whose answer proves that the gateway has
// read all of it. It returns when that has come, when the connection is lost, or when ctx ends. Run
// makes no connection after it.
func (l *Link) FinishSending(ctx context.Context) {
	l.mu.Lock()
	if !l.finished {
		l.finished = true
		close(l.over)
	}
	via, ended := l.via, l.ended
	l.wakeWriter()
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
		if l.busy { // the other goroutine wakes this one when it is done
			l.mu.Unlock()
			select {
			case <-ctx.Done():
			case <-l.wake:
			}
			continue
		}
		queue, newest, rows, finished := l.queue, l.newest, l.rows, l.finished
		l.queue, l.rows = nil, nil
		output, behind := l.live.takeAll()
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
			err := sendMessages(via, slices.Concat(output, queue), newest, rows)
			l.clearBusy()
			if err != nil {
				l.Log.Info("write to the gateway", "error", err)
				return
			}
		case finished:
			via.finishSending()
			<-ctx.Done() // the answer ends the reading, as does a lost connection
		default:
			select {
			case <-ctx.Done():
			case <-l.wake:
			}
		}
	}
}

func (l *Link) clearBusy() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy = false
}

// sendMessages sends the queue, and the newest snapshot and rows behind it, but before the end of
// their session: the end comes last.
func sendMessages(
	via transport, queue []protocol.Message, snapshot *protocol.Snapshot, rows *protocol.Rows,
) error {
	var newest []protocol.Message
	if snapshot != nil {
		newest = append(newest, snapshot)
	}
	if rows != nil {
		newest = append(newest, rows)
	}
	isEnd := func(m protocol.Message) bool { _, ok := m.(*protocol.SessionClose); return ok }
	at := slices.IndexFunc(queue, isEnd)
	if at < 0 {
		at = len(queue)
	}
	for _, m := range slices.Concat(queue[:at], newest, queue[at:]) {
		if err := via.sendMessage(m); err != nil {
			return err
		}
	}
	return nil
}

// read handles the gateway's messages until the connection ends.
func (l *Link) read(via transport) error {
	for {
		m, err := via.receiveMessage()
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
