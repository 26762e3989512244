// Package page serves the web page on which a person looks at sessions and answers agents: its files, and the door by which a
// page comes in. A page is a client of the gateway like others; what it sends is filtered by the role of the link that opened it.
// It knows neither how the gateway is reached nor the switchboard.
//
// A page makes an Ed25519 key (RFC 8032), comes in by the code of a link, and signs for a ticket that opens one WebSocket. PROTOCOL.md,
// "Web pages", has the exchange. What one gateway open has opened is an [Opening]; a server has many of them, which are [Links].
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

	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/push"
	"terminalproxy/protocol"
)

// Link is a connection to the gateway. Send and Next are called from one goroutine each, Close from any; Close ends both.
type Link interface {
	// Send passes on what a page says. A *protocol.FieldError is about that message, another error the end.
	Send(m protocol.Message) error
	// Next is the next frame of the gateway. An error is the end.
	Next() ([]byte, error)
	Close()
}

// Config is what a door needs; all of it may be left out.
type Config struct {
	// Hosts are further names of this server; see [auth.Guard].
	Hosts []string
	// Version is the product's.
	Version string
	// GathersUntil is the time until which a page that is not known may be one whose link is on its way back here.
	GathersUntil time.Time
	// Push sends notifications; nil makes one with a key of its own.
	Push *push.Sender
	// Log gets what is wrong with pages; nil is silence.
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
	Look    time.Duration // between looks at the clock, since a timer does not count while the computer sleeps; default 10 s
}

func (t Times) withDefaults() Times {
	return Times{
		Hello: cmp.Or(t.Hello, 5*time.Second), Ask: cmp.Or(t.Ask, 2*time.Minute), Ping: cmp.Or(t.Ping, 20*time.Second),
		Silence: cmp.Or(t.Silence, 45*time.Second), Write: cmp.Or(t.Write, 5*time.Second), Linger: cmp.Or(t.Linger, time.Second), Look: cmp.Or(t.Look, 10*time.Second),
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
	maxPassed    = 4 << 10           // bytes of a frame that is passed on, but for what a person says in a conversation
	badFrames    = 3                 // in a row end a connection
)

// Why a page is over. A page reads it.
var (
	errClosed  = errors.New("the page was closed in the terminal that opened it")
	errOver    = errors.New("the time of the page is over: run gateway open again")
	errRefused = errors.New("the user did not let this page in")
	errAside   = errors.New("other pages came in: open a new link")
)

// Door lets pages in and serves them: those of its openings. It is an http.Handler. All methods may be called from any goroutine.
type Door struct {
	cfg      Config
	files    *files
	handler  http.Handler
	upgrader websocket.Upgrader
	failures auth.Failures
	refused  atomic.Uint64 // codes and tickets

	ctx  context.Context // its cause is why the door is shut
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
		if cfg.Push, err = push.NewSender(contact(cfg.Hosts)); err != nil {
			return nil, err
		}
	}
	guard := auth.Guard{Hosts: cfg.Hosts, Own: true}
	d := &Door{
		cfg: cfg, files: files, openings: make(map[*Opening]struct{}), visitors: make(map[string]*visitor), tickets: make(map[string]ticket),
		strangers: make(map[string]int), guesses: make(map[string]int), failures: auth.Failures{Now: cfg.Now},
		upgrader: websocket.Upgrader{
			HandshakeTimeout: cfg.Times.Write, Subprotocols: []string{protocol.Version}, CheckOrigin: guard.OriginAllowed,
		},
	}
	d.ctx, d.shut = context.WithCancelCause(context.Background())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", files.index)
	mux.HandleFunc("GET /app/{build}/{file}", files.file)
	mux.HandleFunc("POST /v1/page/enter", d.enter)
	mux.HandleFunc("POST /v1/tickets", d.ticket)
	mux.HandleFunc("GET /v1/page", d.connect)
	mux.HandleFunc("GET /sw.js", files.worker)
	mux.HandleFunc("GET /v1/push", d.pushKey)
	mux.HandleFunc("POST /v1/push", d.subscribe)
	d.handler = guarded(guard.Handler(mux))
	return d, nil
}

// ServeHTTP implements http.Handler.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.handler.ServeHTTP(w, r) }

// Serve serves the door on a listener until the door is closed, and gives the reason that is no failure as nil.
func (d *Door) Serve(ln net.Listener) error {
	h := &http.Server{
		Handler: d, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(d.cfg.Log.Handler(), slog.LevelDebug),
	}
	defer context.AfterFunc(d.ctx, func() { _ = h.Close() })()
	err := h.Serve(ln)
	d.end(err) // without a listener nobody comes in
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close shuts the door: every page is told that it is over, their keys are worth nothing any more, and all goroutines have ended.
func (d *Door) Close() {
	d.end(errClosed)
	d.wg.Wait()
	d.cfg.Push.Close()
}

// Leave is Close where the pages are not over: they are told to come back.
func (d *Door) Leave() {
	d.end(errMoved)
	d.wg.Wait()
	d.cfg.Push.Close()
}

// end shuts the door for a reason, with all openings.
func (d *Door) end(why error) {
	d.shut(why)
	d.mu.Lock()
	var all []*Opening
	for o := range d.openings {
		all = append(all, o)
	}
	d.mu.Unlock()
	for _, o := range all {
		o.End(context.Cause(d.ctx))
	}
}
