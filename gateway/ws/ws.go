// Package ws serves WebSockets for a gateway (RFC 6455). It upgrades the peers that the gateway admits, and carries messages
// of package protocol between the socket and a switchboard, which it knows only as an interface. It knows neither tokens nor
// sessions.
package ws

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/gateway/auth"
	"terminalproxy/protocol"
	"terminalproxy/protocol/handshake"
)

// Peer is one end in the switchboard. Handle, Refuse and End are called from one goroutine, Next from another.
type Peer interface {
	// Handle takes a message of the wire. It does not wait.
	Handle(m protocol.Message)
	// Refuse queues the answer to a frame that was no message.
	Refuse(e *protocol.Error)
	// End lets Next return reason, after what is queued.
	End(reason error)
	// Next is the next message to send; an error is the end, see Config.CloseCode.
	Next(done <-chan struct{}) (protocol.Message, error)
	// Leave is called once, last.
	Leave()
	// Urgent reports whether it matters at once that the peer is gone: an agent types over the connection. Any goroutine may ask.
	Urgent() bool
}

// Carried is a peer whose messages are fetched with Take and not with Next, by whoever has put them there. For most peers nothing is to
// be done most of the time: they have no goroutine that waits for that.
type Carried interface {
	Peer
	// Carry is called once. turn is to be called when there may be something for Take, and not again before Take had nothing. It does
	// not wait.
	Carry(turn func())
	// Take is the next message to send; without a message or an error there is none now.
	Take() (protocol.Message, error)
}

// Access is what Authenticate gives.
type Access struct {
	// Join is called when the WebSocket stands.
	Join func() Peer
	// Limit is the longest frame in bytes that the peer may send.
	Limit int
	// Owns is asked before anything is taken or answered, and ends the connection when it says no: the peer has to come
	// to somebody else. It may be nil.
	Owns func() bool
	// Stays has ServeHTTP serve the peer to its end: something of the request's lasts as long as its handler.
	Stays bool
}

// Config is what a server needs. Authenticate, CheckOrigin and CloseCode are required.
type Config struct {
	// Log gets what is wrong with peers; nil is silence.
	Log *slog.Logger
	// Authenticate decides about a request before anything is upgraded; an *[auth.Refusal] is told to the peer.
	Authenticate func(*http.Request) (Access, error)
	// CheckOrigin reports whether a page of the request's origin may connect.
	CheckOrigin func(*http.Request) bool
	// CloseCode words the error of Peer.Next as a close code (RFC 6455, section 7.4) and a reason of at most 123 bytes. local says that
	// the peer came over a socket of this machine.
	CloseCode func(err error, local bool) (code int, reason string)
	// Header is what the answer to a handshake says besides; nil for nothing.
	Header func() http.Header
	// Times may be shortened by tests; zero values are the defaults of [Times].
	Times Times
}

// Times are the rhythm of a connection.
type Times struct {
	Ping    time.Duration // between pings; default 20 s
	Urgent  time.Duration // between pings of a peer for which they are urgent, three of which may be missed; default 5 s
	Silence time.Duration // without any frame, a pong included, ends the connection; default 45 s
	Write   time.Duration // one frame may take, else the peer is cut off; default 5 s
	Linger  time.Duration // for the peer to read a close frame; default 1 s
}

func (t Times) withDefaults() Times {
	return Times{
		Ping: cmp.Or(t.Ping, 20*time.Second), Urgent: cmp.Or(t.Urgent, handshake.Urgent), Silence: cmp.Or(t.Silence, 45*time.Second),
		Write: cmp.Or(t.Write, 5*time.Second), Linger: cmp.Or(t.Linger, time.Second),
	}
}

// readBuffer is for the head of a frame, and for a short one. Longer ones are read straight into where they belong.
const readBuffer = 256

// badFrames in a row close the connection.
const badFrames = 3

// closing is a reason of Peer.End that already is a close frame.
type closing struct {
	code int
	text string
}

func (c *closing) Error() string { return c.text }

// Server serves WebSockets. It is an http.Handler; Close ends what it serves.
type Server struct {
	cfg      Config
	upgrader websocket.Upgrader
	sent     Traffic // of messages; no pings and no close frames
	received Traffic

	mu     sync.Mutex
	closed bool
	conns  map[*conn]struct{}
	wg     sync.WaitGroup // one for each connection
}

// New makes a server.
func New(cfg Config) *Server {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	cfg.Times = cfg.Times.withDefaults()
	if cfg.Header == nil {
		cfg.Header = func() http.Header { return nil }
	}
	return &Server{
		cfg: cfg, conns: make(map[*conn]struct{}),
		upgrader: websocket.Upgrader{
			ReadBufferSize: readBuffer, WriteBufferPool: new(sync.Pool), // what is idle holds little; gorilla writes control frames alone
			HandshakeTimeout: cfg.Times.Write, Subprotocols: []string{protocol.Version}, CheckOrigin: cfg.CheckOrigin,
			// No compression: a read limit counts compressed bytes, and a small frame could inflate without bound.
			EnableCompression: false,
			Error: func(w http.ResponseWriter, _ *http.Request, status int, reason error) {
				http.Error(w, reason.Error(), status)
			},
		},
	}
}

// ServeHTTP admits, upgrades and serves one peer. It returns when the connection stands, or has ended: see Access.Stays.
func (d *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	access, err := d.cfg.Authenticate(r)
	if err != nil {
		auth.Refuse(w, err, "the gateway could not check this connection")
		return
	}
	if !websocket.IsWebSocketUpgrade(r) {
		w.Header().Set("Upgrade", "websocket")
		http.Error(w, "this path is a WebSocket for "+protocol.Version, http.StatusUpgradeRequired)
		return
	}
	if offered := websocket.Subprotocols(r); !slices.Contains(offered, protocol.Version) {
		http.Error(w, fmt.Sprintf("offer one of the subprotocols: %s (you offered %q)", protocol.Version, offered), http.StatusBadRequest)
		return
	}
	// Before it is upgraded: whoever has read the answer is told why it ends.
	if !d.begin() {
		http.Error(w, "this gateway is closing", http.StatusServiceUnavailable)
		return
	}
	upgraded := &hijacker{ResponseWriter: w}
	socket, err := d.upgrader.Upgrade(upgraded, r, d.cfg.Header())
	if err != nil {
		d.wg.Done()
		d.cfg.Log.Debug("upgrade", "error", err)
		return // the upgrader has answered
	}
	c := &conn{server: d, socket: socket, sock: upgraded.sock, limit: access.Limit, owns: access.Owns}
	d.add(c)
	if access.Stays {
		c.run(access.Join)
	} else {
		go c.run(access.Join) // ends with the connection; what the handler holds is free before
	}
}

// Traffic counts messages and their bytes. Any goroutine may ask.
type Traffic struct{ messages, bytes atomic.Uint64 }

func (t *Traffic) add(frame []byte) {
	t.messages.Add(1)
	t.bytes.Add(uint64(len(frame)))
}

// Messages is how many there were.
func (t *Traffic) Messages() uint64 { return t.messages.Load() }

// Bytes is how long they were together, without the framing of WebSockets.
func (t *Traffic) Bytes() uint64 { return t.bytes.Load() }

// Traffic is what was sent and received since the beginning.
func (d *Server) Traffic() (sent, received *Traffic) { return &d.sent, &d.received }

// begin counts one more connection that Close waits for.
func (d *Server) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.wg.Add(1)
	}
	return !d.closed
}

func (d *Server) add(c *conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns[c] = struct{}{}
}

func (d *Server) remove(c *conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, c)
}

// Close takes no more peers and waits for those that are there, whose ends in the switchboard the caller has ended
// before; the switchboard ends a peer that joins later at once. Whoever takes longer than a frame and its linger time is cut off.
func (d *Server) Close() error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	cut := time.AfterFunc(2*d.cfg.Times.Linger, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		for c := range d.conns {
			_ = c.sock.Close()
		}
	})
	defer cut.Stop()
	d.wg.Wait()
	return nil
}
