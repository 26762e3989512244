// Package headless starts programs for an agent, each in a session without a user's terminal. A
// host answers what the gateway passes on, once it has checked the host key in it. It ends idle
// sessions, and all sessions when it ends itself, also when it is killed. It must not know what a
// session is made of: the runner that it is given runs one.
package headless

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/names"
	"terminalproxy/proxy/link"
)

// Bounds of a host.
const (
	maxHosted      = 256
	startsKept     = 1024
	defaultCols    = 80
	defaultRows    = 24
	maxEnvironment = 256
	// endPatience bounds how long programs may tidy up when their host ends. The parent of the host
	// may kill it soon after, and every program has to be gone by then.
	endPatience = 400 * time.Millisecond
)

// Config says for whom a host starts programs, and how it reaches the gateway.
type Config struct {
	Dial   func(context.Context) (net.Conn, error)
	Join   func() (link.Seat, error) // see [link.Config]; nil without
	URL    string                    // of the gateway's proxy door
	Header http.Header
	// Key holds the secret that the host shares with the agent that launched it: at least 20
	// characters of those that an id may have.
	Key string
	// Allow decides about a start before anything is done; its error is a sentence for the agent. A
	// host without it starts nothing: the word of a gateway is not enough to run a program (SAFETY
	// R33).
	Allow func(*protocol.ProxyStart) error
	// Owner says which owner signed a message; an error is for people. If nil, its sessions know no
	// owners.
	Owner func(message, signature []byte) (protocol.Signer, error)
	// Idle ends a session without output and without use for this long; 0 never ends it.
	Idle time.Duration
	// Reaper starts a process that runs [RunReaper], and returns what it reads. Without one, a
	// program that ignores a hangup outlives a host that is killed. It is called with the first
	// program.
	Reaper func() (io.WriteCloser, error)
	// Ended is called when a program has ended; it may be nil, and must not block.
	Ended func(Result)
	Log   *slog.Logger // nil discards
}

// Result is how a session ended.
type Result struct {
	ID   string
	Code int  // the program's exit status
	Idle bool // it was ended because nothing happened in it (see [Config])
	// Agent says why the coding agent in it ended; "" if it ended as expected, or if the session
	// runs no coding agent.
	Agent string
}

// Runner runs a session until its program ends, and ends what the program left in it. ctx ends it
// as a closing terminal would. The error, for a program that could not be started, is a sentence
// for the agent.
type Runner func(ctx context.Context, s *Session) (Result, error)

// Host starts sessions without a user's terminal, for one agent. Each is a session like others:
// with a screen model that answers the program's questions, control, and a link to the gateway of
// its own. They end with the host.
type Host struct {
	conf  Config
	runs  Runner
	link  *link.Link
	wg    sync.WaitGroup // sessions
	hurry chan struct{}

	mu      sync.Mutex
	reaper  *reaper // nil before the first program
	running int
	ended   bool                              // set at the end; from then on every start is refused
	answers map[string]*protocol.ProxyStarted // to starts, by request; nil while under way
	order   []string
	state   chan struct{} // closed when the following changes
	ready   bool
	trouble error
}

// New makes a host whose sessions run runs; Run connects it.
func New(conf Config, run Runner) *Host {
	if conf.Log == nil {
		conf.Log = slog.New(slog.DiscardHandler)
	}
	h := &Host{
		conf:    conf,
		runs:    run,
		answers: make(map[string]*protocol.ProxyStarted),
		state:   make(chan struct{}),
		hurry:   make(chan struct{}),
	}
	h.link = link.New(link.Config{
		Dial: conf.Dial, Join: conf.Join, URL: conf.URL, Header: conf.Header, Log: conf.Log,
		Hello: func() []protocol.Message {
			return []protocol.Message{
				&protocol.ProxyHost{RequestID: protocol.NewID(), HostKey: conf.Key},
			}
		},
		Down:    func() { h.setState(false, nil) },
		Trouble: func(err error) { h.setState(false, err) },
	})
	return h
}

// Run serves until ctx ends. Then every session ends as with a closing terminal, and Run returns
// when nothing of them is left.
func (h *Host) Run(ctx context.Context) {
	h.link.Handle = func(m protocol.Message) { h.handleMessage(ctx, m) }
	h.link.Run(ctx)
	h.mu.Lock()
	h.ended = true
	h.mu.Unlock()
	defer time.AfterFunc(endPatience, func() { close(h.hurry) }).Stop()
	h.wg.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reaper != nil {
		h.reaper.close()
	}
}

// WaitReady waits until a gateway knows the host. It may be called from any goroutine, while Run
// runs.
func (h *Host) WaitReady(ctx context.Context) error {
	for {
		h.mu.Lock()
		ready, trouble, changed := h.ready, h.trouble, h.state
		h.mu.Unlock()
		switch {
		case ready:
			return nil
		case trouble != nil:
			return trouble
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (h *Host) setState(ready bool, trouble error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ready, h.trouble = ready, trouble
	close(h.state)
	h.state = make(chan struct{})
}

// handleMessage handles a message from the gateway, on the link's goroutine.
func (h *Host) handleMessage(ctx context.Context, m protocol.Message) {
	switch m := m.(type) {
	case *protocol.Done:
		h.setState(true, nil) // to the hello, the only request
	case *protocol.Error:
		h.setState(false, m)
	case *protocol.ProxyStart:
		h.start(ctx, m)
	default:
		h.link.Send(&protocol.Error{
			RequestID: protocol.RequestID(m), Code: protocol.CodeForbidden,
			Message: fmt.Sprintf("a %s is not for a host", protocol.KindOf(m)),
		})
	}
}

// start begins a session, once for each request. The answer follows when the program runs or could
// not be started.
func (h *Host) start(ctx context.Context, m *protocol.ProxyStart) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if answer, known := h.answers[m.RequestID]; known {
		if answer != nil {
			h.link.Send(answer)
		}
		return
	}
	if len(h.order) >= startsKept {
		delete(h.answers, h.order[0])
		h.order = h.order[1:]
	}
	h.answers[m.RequestID], h.order = nil, append(h.order, m.RequestID)
	s, err := h.newSessionLocked(m)
	if err != nil {
		h.answerStartLocked(m, "", err.Error())
		return
	}
	s.begun = func(id string) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.answerStartLocked(m, id, "")
	}
	h.running++
	s.reaper = h.startReaperLocked()
	h.wg.Go(func() { h.run(ctx, m, s) }) // ends with the program, which ends with ctx
}

// startReaperLocked returns the reaper, and starts it for the first program.
func (h *Host) startReaperLocked() *reaper {
	if h.reaper == nil && h.conf.Reaper != nil {
		h.reaper = &reaper{}
		var err error
		if h.reaper.out, err = h.conf.Reaper(); err != nil {
			h.conf.Log.Warn("no reaper: programs that ignore a hangup may outlive a killed host",
				"error", err,
			)
			h.reaper.out = nil
		}
	}
	return h.reaper
}

// answerStartLocked answers a start, and keeps the answer for a repeat of it.
func (h *Host) answerStartLocked(m *protocol.ProxyStart, id, problem string) {
	answer := &protocol.ProxyStarted{
		ID:        protocol.NewID(),
		RequestID: m.RequestID,
		SessionID: id,
		Error:     problem,
	}
	if _, known := h.answers[m.RequestID]; known {
		h.answers[m.RequestID] = answer
	}
	h.link.Send(answer)
}

func (h *Host) run(ctx context.Context, m *protocol.ProxyStart, s *Session) {
	result, err := s.run(ctx, h.runs)
	h.mu.Lock()
	h.running--
	if err != nil {
		h.answerStartLocked(m, "", err.Error())
	}
	h.mu.Unlock()
	if err == nil && h.conf.Ended != nil {
		h.conf.Ended(result)
	}
}

// newSessionLocked makes the session that m asks for. Its errors are sentences for the agent.
func (h *Host) newSessionLocked(m *protocol.ProxyStart) (*Session, error) {
	switch {
	case h.ended:
		return nil, errors.New("the host is ending")
	case h.running >= maxHosted:
		return nil, fmt.Errorf("%d programs run here already: close some first", maxHosted)
	case h.conf.Allow == nil:
		return nil, errors.New("this host starts no programs")
	}
	if err := h.conf.Allow(m); err != nil {
		return nil, err
	}
	dir, err := directory(m.Cwd)
	if err != nil {
		return nil, err
	}
	if err := checkEnvironment(m.Env); err != nil {
		return nil, err
	}
	command := m.Command
	if strings.Contains(command, "/") && !filepath.IsAbs(command) {
		// from where the program will be, and not from where the host is
		command = filepath.Join(dir, command)
	}
	return &Session{
		Command: command,
		Args:    m.Args,
		Dir:     dir,
		Name:    m.Name,
		Cols:    cmp.Or(m.Cols, defaultCols),
		Rows:    cmp.Or(m.Rows, defaultRows),
		Hurry:   h.hurry,
		owner:   control.Agent{ID: m.AgentID, Name: names.DisplayName(m.AgentName)},
		env:     m.Env,
		idle:    h.conf.Idle,
	}, nil
}

// directory returns the absolute path of the program's directory, if it exists.
func directory(cwd string) (string, error) {
	dir, err := filepath.Abs(cwd)
	if err != nil {
		return "", fmt.Errorf("cwd %q: %w", cwd, err)
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("cwd %q: there is no such directory", cwd)
	case err != nil:
		return "", fmt.Errorf("cwd %q: it cannot be looked at: %w", cwd, errors.Unwrap(err))
	case !info.IsDir():
		return "", fmt.Errorf("cwd %q: it is not a directory", cwd)
	}
	return dir, nil
}

func checkEnvironment(env []string) error {
	if len(env) > maxEnvironment {
		return fmt.Errorf("env holds %d variables, the limit is %d", len(env), maxEnvironment)
	}
	for _, e := range env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" || strings.ContainsRune(e, 0) {
			return fmt.Errorf("env: %.64q is not NAME=value", e)
		}
	}
	return nil
}
