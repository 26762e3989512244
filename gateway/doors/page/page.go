// Package page serves the web page on which a person watches sessions and answers agents: its
// files, and the connection of a page. A page is a client of the gateway like others; its messages
// are filtered by the role of the link that opened it. The package depends neither on how the
// gateway is reached nor on the switchboard. A page makes an Ed25519 key (RFC 8032), enters with
// the code of a link, and signs for a ticket that opens one WebSocket. PROTOCOL.md, "Web pages",
// describes the exchange. One gateway open makes an [Opening]; a server has many of them, which are
// [Links].
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
	"terminalproxy/gateway/doors/page/push"
	"terminalproxy/protocol"
)

// Link is a connection to the gateway. Send and Next are called from one goroutine each, Close from
// any; Close ends both.
type Link interface {
	// Send passes on a page's message. A *protocol.FieldError is about that message; another error
	// is the end.
	Send(m protocol.Message) error
	// Next returns the next frame of the gateway. An error is the end.
	Next() ([]byte, error)
	Close()
}

// Config configures a door; all of it may be left out.
type Config struct {
	// Hosts are further names of this server; see [auth.Guard].
	Hosts []string
	// Version is the product's version.
	Version string
	// GathersUntil is the time until which the link of an unknown page may be on its way back here.
	GathersUntil time.Time
	// Push sends notifications; nil makes one with a key of its own.
	Push *push.Sender
	// Log gets the faults of pages; nil discards them.
	Log *slog.Logger
	// Now is the clock; nil is the system's.
	Now func() time.Time
	// Times may be shortened by tests; zero values are the defaults of [Times].
	Times Times
}

// Times are the rhythm of a door.
type Times struct {
	Hello   time.Duration // a page may take for its first frame; default 5 s
	Ask     time.Duration // the user may take to answer; default 2 min
	Ping    time.Duration // between pings; default 20 s
	Silence time.Duration // without any frame ends a connection; default 45 s
	Write   time.Duration // one frame may take, else the page is cut off; default 5 s
	Linger  time.Duration // for a page to read a close frame; default 1 s
	// between looks at the clock, since a timer does not count while the computer sleeps; default
	// 10 s
	Look time.Duration
}

func (t Times) withDefaults() Times {
	return Times{
		Hello:   cmp.Or(t.Hello, 5*time.Second),
		Ask:     cmp.Or(t.Ask, 2*time.Minute),
		Ping:    cmp.Or(t.Ping, 20*time.Second),
		Silence: cmp.Or(t.Silence, 45*time.Second),
		Write:   cmp.Or(t.Write, 5*time.Second),
		Linger:  cmp.Or(t.Linger, time.Second),
		Look:    cmp.Or(t.Look, 10*time.Second),
	}
}

// Bounds of a door.
const (
	codeFor      = time.Minute       // a link is good
	ticketFor    = 30 * time.Second  // a ticket is good
	clockSpan    = time.Minute       // a signature may be older or younger than our clock
	maxPages     = protocol.MaxPages // of an opening at once
	maxSockets   = 16                // of all pages of an opening
	maxStrangers = 64                // connections of one address before their hello
	maxGuesses   = 16                // wrong codes of one address whose answers wait
	maxTickets   = 8                 // of a page, not used yet
	maxMoments   = 240               // signatures of a page in the span of the clock
	maxBody      = 4 << 10           // bytes of a request, and of a hello
	// maxPassed bounds a passed frame, in bytes, except for a person's words in a conversation.
	maxPassed = 4 << 10
	badFrames = 3 // in a row end a connection
)

// These are the reasons for the end of a page. A page reads them.
var (
	errClosed  = errors.New("the page was closed in the terminal that opened it")
	errOver    = errors.New("the page's time is up: run gateway open again")
	errRefused = errors.New("the user did not let this page in")
	errAside   = errors.New("other pages came in: open a new link")
)

// Door admits pages and serves them: those of its openings. It is an http.Handler. All methods may
// be called from any goroutine.
type Door struct {
	cfg      Config
	files    *files
	handler  http.Handler
	upgrader websocket.Upgrader
	failures auth.Failures
	refused  atomic.Uint64 // codes and tickets

	ctx  context.Context // its cause says why the door is shut
	shut context.CancelCauseFunc
	wg   sync.WaitGroup // questions, connections, clocks

	mu        sync.Mutex
	openings  map[*Opening]struct{}
	visitors  map[string]*visitor // of all openings
	tickets   map[string]ticket
	strangers map[string]int // connections before their hello, by address
	guesses   map[string]int // wrong codes that wait, by address
}

// New makes a door without an opening. Close it.
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
	if cfg.Push == nil {
		if cfg.Push, err = push.NewSender(pushSubject(cfg.Hosts)); err != nil {
			return nil, err
		}
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
	mux.HandleFunc("GET /sw.js", files.serveWorker)
	mux.HandleFunc("GET /v1/push", d.handlePushKey)
	mux.HandleFunc("POST /v1/push", d.handleSubscribe)
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
	d.shutAll(err) // without a listener no page comes in
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close shuts the door. Every page is told that it is over, their keys become invalid, and all
// goroutines have ended.
func (d *Door) Close() {
	d.shutAll(errClosed)
	d.wg.Wait()
	d.cfg.Push.Close()
}

// ShutForMove shuts the door, but tells pages to come back.
func (d *Door) ShutForMove() {
	d.shutAll(errMoved)
	d.wg.Wait()
	d.cfg.Push.Close()
}

// shutAll shuts the door for a reason, with all openings.
func (d *Door) shutAll(why error) {
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
