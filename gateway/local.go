package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"terminalproxy/gateway/hub"
	"terminalproxy/gateway/place"
	"terminalproxy/protocol"
)

const (
	// lockPatience is how long the lock of the place may be held: taking the place is done in milliseconds.
	lockPatience = 3 * time.Second
	// awayPatience is how long a process that is about to stop spends on telling its peers.
	awayPatience = 300 * time.Millisecond
	// GatherTime is how long the sessions of a gateway may take to find the one that took over from it, or came back in its place.
	GatherTime = 3 * time.Second
)

// Local is one process's share in the user's local gateway. Whoever needs the gateway dials it; when nobody answers,
// the one who gets the place serves it from inside its own process. Nothing has to be installed or started, and nothing
// stays behind. One that has the place and does not answer, because it was stopped, loses it to the next who asks; when it
// goes on it sees that, and is a client like the others. All methods may be called from any goroutine.
type Local struct {
	// Draw draws pictures for who asks this process for them; see Config. It is set before the first Dial, or never.
	Draw Drawing

	dir string
	log *slog.Logger

	mu      sync.Mutex
	serving *serving
	closed  bool
	met     bool           // another process has served before
	away    bool           // about to stop, or stopped: others serve
	ending  sync.WaitGroup // servings that lost their place
}

// serving is the time in which this process is the gateway.
type serving struct {
	server *Server
	place  *place.Place
	keeper *keeper // nil where nothing is kept
	once   sync.Once
	ended  chan struct{} // closed when the server is closed and its loop has returned
	failed error
}

// ErrLocalClosed is the error of Dial after Close.
var ErrLocalClosed = errors.New("the local gateway of this process is closed")

// errAway says why this process does not serve.
var errAway = errors.New("this process is being stopped")

// NewLocal makes the share. dir comes from [RuntimeDir]; log may be nil. It costs nothing until Dial finds that nobody
// answers.
func NewLocal(dir string, log *slog.Logger) *Local {
	return &Local{dir: dir, log: cmp.Or(log, slog.New(slog.DiscardHandler))}
}

// Dial connects to the gateway, which is this process if no other is, or if the other does not answer. It tries until ctx
// ends while another process is taking the place.
func (l *Local) Dial(ctx context.Context) (net.Conn, error) {
	path := filepath.Join(l.dir, socketName)
	var silent *place.Silent // who did not answer, to be replaced
	var held error           // why nobody answered so far
	var since time.Time      // when the place was found held first
	for delay := 2 * time.Millisecond; ; delay = min(2*delay, 100*time.Millisecond) {
		conn, err := place.Reach(ctx, path, dialUnix)
		mute, isSilent := errors.AsType[*place.Silent](err)
		switch {
		case err == nil && !l.better(conn.Owner()):
			l.mu.Lock()
			l.met = l.met || l.serving == nil
			l.mu.Unlock()
			return conn, nil
		case err == nil:
			silent = conn.Owner()
			_ = conn.Close()
		case held != nil && ctx.Err() != nil:
			return nil, held // the time was over during the dialling
		case isSilent && mute.Full && !l.better(mute):
			return nil, fmt.Errorf("local gateway: %w", mute)
		case isSilent:
			silent = mute
			l.log.Warn("the local gateway is taken over", "cause", silent.Error())
		case errors.Is(err, place.ErrReplaced):
			continue
		case !place.Vacant(err):
			return nil, fmt.Errorf("local gateway: %w", err)
		}
		switch err := l.serve(silent, !since.IsZero() && time.Since(since) > lockPatience); {
		case err == nil:
			continue
		case !errors.Is(err, place.ErrHeld) && !errors.Is(err, errAway):
			return nil, fmt.Errorf("local gateway: %w", err)
		case held == nil:
			since = time.Now()
			held = fmt.Errorf("local gateway: nobody answers at %s: %w", path, err)
		}
		select {
		case <-time.After(rand.N(delay) + time.Millisecond):
		case <-ctx.Done():
			return nil, held
		}
	}
}

// better reports whether this process should serve in the place of one that can have only a few files open, or has as many
// open as it can and fewer than this process can have.
func (l *Local) better(than *place.Silent) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	files := openFiles()
	more := than.Few() && files >= place.Few || than.Full && files > than.Files
	return more && !l.away && !l.closed
}

// Join gives a proxy of this process a seat at the gateway, if this process is the gateway or can become it; nil when
// another process is. The proxy's messages then go over without a socket.
func (l *Local) Join() (*hub.Peer, error) {
	if err := l.serve(nil, false); err != nil && !errors.Is(err, place.ErrHeld) && !errors.Is(err, errAway) {
		return nil, fmt.Errorf("local gateway: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.serving == nil {
		return nil, nil //nolint:nilnil // no seat is no failure: somebody else serves
	}
	return l.serving.server.hub.Join(hub.Member{Role: hub.RoleProxy, Local: true}), nil
}

// serve makes this process the gateway, unless it is already or another has the place.
func (l *Local) serve(instead *place.Silent, force bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return ErrLocalClosed
	case l.away:
		return errAway
	case l.serving != nil:
		return place.ErrHeld // by ourselves: the name was taken away under us, which is being seen to
	}
	p, err := take(l.dir, instead, force)
	if err != nil {
		return err
	}
	conf := Config{Log: l.log, Draw: l.Draw}
	if instead != nil || l.met {
		conf.GathersUntil = time.Now().Add(GatherTime)
	}
	server := New(conf)
	if instead != nil && !instead.Few() && !instead.Full {
		server.hub.Succeed(instead.Error())
	}
	s := &serving{server: server, place: p, keeper: keep(l.dir, server.hub, l.log), ended: make(chan struct{})}
	l.serving = s
	l.ending.Go(func() { // ends when the place is lost or given up, and the server is closed
		if err := s.server.servePlace(context.Background(), p); err != nil {
			l.log.Warn("local gateway", "error", err)
		}
		_ = l.leave(s) // Close says what it was, if it comes to that
	})
	l.log.Debug("serving the local gateway", "dir", l.dir)
	return nil
}

// leave ends the serving of s: the name goes first, if it is still ours, since nobody shall connect to a server that is
// closing; then the connections end. It is bounded like [Server.Close].
func (l *Local) leave(s *serving) error {
	l.mu.Lock()
	if l.serving == s {
		l.serving = nil
	}
	l.mu.Unlock()
	s.once.Do(func() {
		s.keeper.close()
		var left [][]protocol.Message
		if s.keeper == nil {
			left = s.server.hub.Ended()
		}
		s.failed = errors.Join(s.place.Vacate(), s.server.Close())
		if len(left) > 0 {
			if err := handOver(l.dir, left); err != nil {
				l.log.Info("what ended programs printed was not handed on", "error", err)
			}
		}
		close(s.ended)
	})
	<-s.ended
	return s.failed
}

// Away gives the place up before this process is stopped, so that others can serve; its own proxies and agents are clients
// of theirs from then on. It returns within a moment. Back is its end.
func (l *Local) Away() {
	l.mu.Lock()
	l.away = true
	s := l.serving
	l.mu.Unlock()
	if s == nil {
		return
	}
	left := make(chan struct{})
	go func() { // ends with the server, which is bounded
		defer close(left)
		_ = l.leave(s)
	}()
	patience := time.NewTimer(awayPatience)
	defer patience.Stop()
	select {
	case <-left:
	case <-patience.C:
	}
}

// Back is for when this process goes on.
func (l *Local) Back() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away = false
}

// Close stops serving, if this process does, and leaves a clean place. It is bounded like [Server.Close].
func (l *Local) Close() error {
	l.mu.Lock()
	s := l.serving
	l.closed = true
	l.mu.Unlock()
	var err error
	if s != nil {
		err = l.leave(s)
	}
	l.ending.Wait()
	return err
}

// ListenLocal takes the place of the user's local gateway in dir for a long-running server, for [Server.KeepLocal]. It fails
// when another process serves there.
func ListenLocal(dir string) (*place.Place, error) { return take(dir, nil, false) }

// take is [place.Take] in a directory that nobody else can write to.
func take(dir string, instead *place.Silent, force bool) (*place.Place, error) {
	if err := checkDir(dir); err != nil {
		return nil, err
	}
	if err := checkSocketPath(filepath.Join(dir, socketName)); err != nil {
		return nil, err
	}
	return place.Take(dir, instead, force)
}

// retakeEvery is how often a long-running server that lost its place looks whether the name is gone, and retakeTries after how
// many looks it tries all the same: a process that was killed leaves its name.
const (
	retakeEvery = time.Second
	retakeTries = 30
)

// KeepLocal serves a place until ctx ends or the server is closed. When the place is lost, to others while this process was
// stopped, it is taken again as soon as they leave it.
func (s *Server) KeepLocal(ctx context.Context, p *place.Place) error {
	dir := filepath.Dir(p.Path())
	kept := keep(dir, s.hub, s.log)
	defer kept.close()
	for {
		err := errors.Join(s.servePlace(ctx, p), p.Vacate())
		if s.isClosed() || err != nil {
			return err
		}
		s.log.Warn("another process has taken the local gateway")
		if p = s.retake(ctx, dir); p == nil {
			return nil
		}
	}
}

// retake waits until the place in dir can be taken again; nil when there is no need any more.
func (s *Server) retake(ctx context.Context, dir string) *place.Place {
	tick := time.NewTicker(retakeEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-s.over:
			return nil
		case <-tick.C:
		}
		if _, err := os.Lstat(filepath.Join(dir, socketName)); err == nil && n%retakeTries != 0 {
			continue
		}
		if p, err := ListenLocal(dir); err == nil {
			return p
		}
	}
}
