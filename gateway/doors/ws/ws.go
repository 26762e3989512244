// Package ws serves WebSockets for a gateway (RFC 6455). It upgrades the peers that the gateway
// admits, and carries messages of package protocol between the socket and a switchboard, which it
// reaches through an interface. It handles neither tokens nor sessions.
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

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
	"terminalproxy/protocol/handshake"
)

// Peer is one participant of the switchboard. One goroutine calls Handle, Refuse and End, another
// one calls Next.
type Peer interface {
	// Handle processes a message from the peer. It does not wait.
	Handle(m protocol.Message)
	// Refuse queues the answer to a frame that was not a message.
	Refuse(e *protocol.Error)
	// End makes Next return reason, after the queued messages.
	End(reason error)
	// Next returns the next message to send. An error ends the connection, see Config.CloseCode.
	Next(done <-chan struct{}) (protocol.Message, error)
	// Leave is called once, last.
	Leave()
	// IsUrgent reports whether an agent types over the connection, so that a lost peer must be
	// noticed at once. Any goroutine may call it.
	IsUrgent() bool
}

// Carried is a peer whose messages the goroutine that queued them fetches, with TryNext instead of
// Next. So an idle peer needs no goroutine that waits.
type Carried interface {
	Peer
	// SetNotify is called once. The switchboard calls notify when TryNext may have a message, and
	// not again until TryNext has returned nothing. notify does not wait.
	SetNotify(notify func())
	// TryNext returns the next message to send. It returns neither a message nor an error while the
	// queue is empty.
	TryNext() (protocol.Message, error)
}

// Access is the result of Authenticate.
type Access struct {
	// Join is called once the WebSocket is open.
	Join func() Peer
	// Limit is the longest frame in bytes that the peer may send.
	Limit int
	// Owns is called before each message is handled or sent. If it returns false, the connection
	// ends, and the peer has to connect elsewhere. It may be nil.
	Owns func() bool
	// Stays makes ServeHTTP return only at the end of the connection, for requests whose resources
	// last as long as their handler.
	Stays bool
}

// Config configures a server. Authenticate, CheckOrigin and CloseCode are required.
type Config struct {
	// Log gets errors of peers. It may be nil.
	Log *slog.Logger
	// Authenticate decides about a request before the upgrade. An *[auth.Refusal] is sent to the
	// peer.
	Authenticate func(*http.Request) (Access, error)
	// CheckOrigin reports whether a page of the request's origin may connect.
	CheckOrigin func(*http.Request) bool
	// CloseCode turns the error of Peer.Next into a close code (RFC 6455, section 7.4) and a reason
	// of at most 123 bytes. local means that the peer connected over a socket of this machine.
	CloseCode func(err error, local bool) (code int, reason string)
	// Header adds headers to the answer of a handshake. It may be nil.
	Header func() http.Header
	// Times may be shortened by tests; zero values are the defaults of [Times].
	Times Times
}

// Times are the intervals of a connection.
type Times struct {
	Ping    time.Duration // between pings; default 20 s
	Urgent  time.Duration // between pings of an urgent peer, which may miss three; default 5 s
	Silence time.Duration // without any frame, pongs included, ends the connection; default 45 s
	Write   time.Duration // for one frame, else the peer is disconnected; default 5 s
	Linger  time.Duration // for the peer to read a close frame; default 1 s
}

func (t Times) withDefaults() Times {
	return Times{
		Ping: cmp.Or(t.Ping, 20*time.Second), Urgent: cmp.Or(t.Urgent, handshake.Urgent),
		Silence: cmp.Or(t.Silence, 45*time.Second),
		Write:   cmp.Or(t.Write, 5*time.Second), Linger: cmp.Or(t.Linger, time.Second),
	}
}

// readBuffer has room for the head of a frame and for a short one. Longer frames are read directly
// into their own buffer.
const readBuffer = 256

// badFrames in a row close the connection.
const badFrames = 3

// closing is a reason for Peer.End with its own close frame.
type closing struct {
	code int
	text string
}

func (c *closing) Error() string { return c.text }

// Server serves WebSockets. It is an http.Handler; Close ends all connections.
type Server struct {
	cfg      Config
	upgrader websocket.Upgrader
	sent     Traffic // messages only, without control frames
	received Traffic

	mu     sync.Mutex
	closed bool
	conns  map[*conn]struct{}
	wg     sync.WaitGroup // one for each connection
}

// New returns a server.
func New(cfg Config) *Server {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	cfg.Times = cfg.Times.withDefaults()
	if cfg.Header == nil {
		cfg.Header = func() http.Header { return nil }
	}
	return &Server{
		cfg: cfg, conns: make(map[*conn]struct{}),
		upgrader: websocket.Upgrader{
			// Small buffers, because an idle connection keeps them; gorilla writes only control
			// frames.
			ReadBufferSize: readBuffer, WriteBufferPool: new(sync.Pool),
			HandshakeTimeout: cfg.Times.Write, Subprotocols: []string{protocol.Version},
			CheckOrigin: cfg.CheckOrigin,
			// No compression: a read limit counts compressed bytes, and a small frame could inflate
			// without bound.
			EnableCompression: false,
			Error: func(w http.ResponseWriter, _ *http.Request, status int, reason error) {
				http.Error(w, reason.Error(), status)
			},
		},
	}
}

// canUpgrade reports whether a request asks for a WebSocket of this protocol, and otherwise answers
// it.
func canUpgrade(w http.ResponseWriter, r *http.Request) bool {
	if !websocket.IsWebSocketUpgrade(r) {
		w.Header().Set("Upgrade", "websocket")
		http.Error(w, "this path is a WebSocket for "+protocol.Version, http.StatusUpgradeRequired)
		return false
	}
	if offered := websocket.Subprotocols(r); !slices.Contains(offered, protocol.Version) {
		http.Error(w,
			fmt.Sprintf(
				"offer one of the subprotocols: %s (you offered %q)", protocol.Version, offered,
			), http.StatusBadRequest)
		return false
	}
	return true
}

// ServeHTTP admits, upgrades and serves one peer. It returns when the connection is open, or at its
// end: see Access.Stays.
func (d *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	access, err := d.cfg.Authenticate(r)
	if err != nil {
		auth.WriteRefusal(w, err, "the gateway could not check this connection")
		return
	}
	if !canUpgrade(w, r) {
		return
	}
	// Counted before the upgrade, so that a peer that got the answer also gets the reason of the
	// end.
	if !d.beginConn() {
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
	c := &conn{
		server: d, socket: socket, sock: upgraded.sock, limit: access.Limit, owns: access.Owns,
	}
	d.addConn(c)
	if access.Stays {
		c.run(access.Join)
	} else {
		go c.run(access.Join) // ends with the connection; the handler's resources are freed first
	}
}

// Traffic counts messages and their bytes. It is safe for concurrent use.
type Traffic struct{ messages, bytes atomic.Uint64 }

func (t *Traffic) add(frame []byte) {
	t.messages.Add(1)
	t.bytes.Add(uint64(len(frame)))
}

// Messages returns the number of messages.
func (t *Traffic) Messages() uint64 { return t.messages.Load() }

// Bytes returns the total length of the messages, without the framing of WebSockets.
func (t *Traffic) Bytes() uint64 { return t.bytes.Load() }

// Traffic returns what was sent and received since the start.
func (d *Server) Traffic() (sent, received *Traffic) { return &d.sent, &d.received }

// beginConn counts a connection that Close waits for, unless the server is closed.
func (d *Server) beginConn() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.wg.Add(1)
	}
	return !d.closed
}

func (d *Server) addConn(c *conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns[c] = struct{}{}
}

func (d *Server) removeConn(c *conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, c)
}

// Close rejects new peers and waits for the present ones, which the caller has ended in the
// switchboard before. The switchboard at once ends a peer that joins later. A connection that takes
// longer than a frame and its linger time is closed.
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
