// Package page serves the web page on which a person watches sessions and answers agents: its
// files, and the connection of a page. A page is a client of the gateway like others; its messages
// are filtered by the role of the link that opened it. The package depends neither on how the
// gateway is reached nor on the switchboard. A page makes an Ed25519 key (RFC 8032), enters with
// the code of a link, and signs a request for a ticket, which opens one WebSocket. PROTOCOL.md,
// "Web pages", describes the exchange. One gateway open makes an [Opening]; a server has many of
// them, in [Links].
package page

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// Link is a connection to the gateway. Send and Next are called from one goroutine each, Close from
// any; Close ends both.
type Link interface {
	// Send forwards a page's message. A *protocol.FieldError concerns that message only; any other
	// error ends the link.
	Send(m protocol.Message) error
	// Next returns the next frame of the gateway. An error ends the link.
	Next() ([]byte, error)
	Close()
}

// Config configures a door; the zero value is valid.
type Config struct {
	// Hosts are additional names of this server; see [auth.Guard].
	Hosts []string
	// Version is the product's version.
	Version string
	// GathersUntil is the time until which the opener of an unknown page may be reconnecting.
	GathersUntil time.Time
	// Log gets errors of pages; nil discards them.
	Log *slog.Logger
	// Now is the clock; nil is the system's.
	Now func() time.Time
	// Times may be shortened by tests; zero values are the defaults of [Times].
	Times Times
}

// Times are the time limits and intervals of a door.
type Times struct {
	Hello   time.Duration // until a page's first frame; default 5 s
	Ask     time.Duration // for the user's answer; default 2 min
	Ping    time.Duration // between pings; default 20 s
	Silence time.Duration // without any frame, which ends a connection; default 45 s
	Write   time.Duration // for writing one frame, else the page is disconnected; default 5 s
	Linger  time.Duration // for a page to read a close frame; default 1 s
	// between checks of the clock, because timers do not count while the computer sleeps; default
	// 10 s
	ClockCheck time.Duration
}

func (t Times) withDefaults() Times {
	return Times{
		Hello:      cmp.Or(t.Hello, 5*time.Second),
		Ask:        cmp.Or(t.Ask, 2*time.Minute),
		Ping:       cmp.Or(t.Ping, 20*time.Second),
		Silence:    cmp.Or(t.Silence, 45*time.Second),
		Write:      cmp.Or(t.Write, 5*time.Second),
		Linger:     cmp.Or(t.Linger, time.Second),
		ClockCheck: cmp.Or(t.ClockCheck, 10*time.Second),
	}
}

// Bounds of a door.
const (
	codeFor      = time.Minute       // a link is valid
	ticketFor    = 30 * time.Second  // a ticket is valid
	clockSpan    = time.Minute       // a signature's time may differ from the door's clock
	maxPages     = protocol.MaxPages // of an opening at once
	maxSockets   = 16                // of all pages of an opening together
	maxStrangers = 64                // connections from one address before their hello
	maxGuesses   = 16                // wrong codes from one address whose answers are delayed
	maxTickets   = 8                 // unused ones of a page
	maxMoments   = 240               // signatures of a page within clockSpan
	maxBody      = 4 << 10           // bytes of a request, and of a hello
	// maxForwarded bounds a forwarded frame, in bytes, except for a person's text in a
	// conversation.
	maxForwarded = 4 << 10
	badFrames    = 3 // in a row end a connection
)

// Reasons for the end of a page. The page shows them.
var (
	errClosed  = errors.New("the page was closed in the terminal that opened it")
	errOver    = errors.New("the page's time is up: run gateway open again")
	errRefused = errors.New("the user did not admit this page")
	errEvicted = errors.New("other pages took its place: open a new link")
)

// Door admits and serves pages, those of its openings. It is an http.Handler. All methods may be
// called from any goroutine.
type Door struct {
	cfg      Config
	files    *files
	handler  http.Handler
	upgrader websocket.Upgrader
	failures auth.Failures
	refused  atomic.Uint64 // codes and tickets

	ctx  context.Context // its cause is the reason for closing
	shut context.CancelCauseFunc
	wg   sync.WaitGroup // questions, connections, clocks

	mu        sync.Mutex
	openings  map[*Opening]struct{}
	visitors  map[string]*visitor // of all openings
	tickets   map[string]ticket
	strangers map[string]int // connections before their hello, by address
	guesses   map[string]int // delayed answers to wrong codes, by address
}

// New returns a door without an opening. The caller closes it.
func New(cfg Config) (*Door, error) {
	files, err := readFiles()
	if err != nil {
		return nil, err
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	cfg.Times = cfg.Times.withDefaults()
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	guard := auth.Guard{Hosts: cfg.Hosts, Own: true}
	d := &Door{
		cfg:       cfg,
		files:     files,
		openings:  make(map[*Opening]struct{}),
		visitors:  make(map[string]*visitor),
		tickets:   make(map[string]ticket),
		strangers: make(map[string]int),
		guesses:   make(map[string]int),
		failures:  auth.Failures{Now: cfg.Now},
		upgrader: websocket.Upgrader{
			HandshakeTimeout: cfg.Times.Write,
			Subprotocols:     []string{protocol.Version},
			CheckOrigin:      guard.OriginAllowed,
		},
	}
	d.ctx, d.shut = context.WithCancelCause(context.Background())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", files.serveIndex)
	mux.HandleFunc("GET /app/{build}/{file}", files.serveFile)
	mux.HandleFunc("POST /v1/page/enter", d.handleEnter)
	mux.HandleFunc("POST /v1/tickets", d.handleTicket)
	mux.HandleFunc("GET /v1/page", d.serveSocket)
	id := protocol.NewID()
	mux.HandleFunc("GET /v1/page/id", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"id": id})
	})
	d.handler = withSecurityHeaders(guard.Handler(mux))
	return d, nil
}

// ServeHTTP implements http.Handler.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.handler.ServeHTTP(w, r) }

// Serve serves the door on a listener until the door is closed, and returns nil then.
func (d *Door) Serve(ln net.Listener) error {
	h := &http.Server{
		Handler:           d,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(d.cfg.Log.Handler(), slog.LevelDebug),
	}
	defer context.AfterFunc(d.ctx, func() { _ = h.Close() })()
	err := h.Serve(ln)
	d.closeAll(err) // without a listener no page can enter
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close closes the door: it tells every page, their keys become invalid, and all goroutines have
// ended when it returns.
func (d *Door) Close() {
	d.closeAll(errClosed)
	d.wg.Wait()
}

// CloseForMove closes the door, but tells pages to connect again.
func (d *Door) CloseForMove() {
	d.closeAll(errMoved)
	d.wg.Wait()
}

// closeAll closes the door for a reason, with all openings.
func (d *Door) closeAll(why error) {
	d.shut(why)
	d.mu.Lock()
	var all []*Opening
	for o := range d.openings {
		all = append(all, o)
	}
	d.mu.Unlock()
	for _, o := range all {
		o.EndOpening(context.Cause(d.ctx))
	}
}
