// Package local is one process's share in the user's own gateway, so that nothing has to be
// installed or started. It dials the process that serves. If no process answers, it serves, and at
// the end hands over what the next one needs.
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"terminalproxy/gateway"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/gateway/hub"
	"terminalproxy/gateway/place"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol"
	"terminalproxy/protocol/pace"
)

const (
	// lockPatience is how long a process may hold the lock of the place. Taking the place takes
	// milliseconds.
	lockPatience = 3 * time.Second
	// awayPatience is how long a process waits, before it stops, until it has told its peers.
	awayPatience = 300 * time.Millisecond
	// GatherTime is how long sessions may take to find the gateway that replaced theirs.
	GatherTime = 3 * time.Second
)

// Gateway is one process's share in the user's local gateway. A process that needs the gateway
// dials it. If no process answers, the one that gets the place serves the gateway from inside
// itself, so no process stays behind. A process that has the place and does not answer, because it
// was stopped, loses it to the next one that dials. When it continues it notices that, and is a
// client like the others. All methods may be called from any goroutine.
type Gateway struct {
	// Draw draws pictures for requests to this process; see [gateway.Config]. Set it before the
	// first Dial, or never.
	Draw gateway.Drawing

	dir string
	log *slog.Logger

	mu              sync.Mutex
	serving         *serving
	closed          bool
	servedElsewhere bool           // another process has served before
	away            bool           // about to stop, or stopped: others serve
	gaveUp          bool           // has served until it was stopped
	ending          sync.WaitGroup // servings that lost their place
}

// serving is a period in which this process is the gateway.
type serving struct {
	server *gateway.Server
	place  *place.Place
	keeper *keeper // nil if nothing is kept
	once   sync.Once
	ended  chan struct{} // closed when the server is closed and its loop has returned
	failed error
}

// ErrClosed is the error of Dial after Close.
var ErrClosed = errors.New("the local gateway of this process is closed")

// errAway is the reason why this process does not serve.
var errAway = errors.New("this process is being stopped")

// New returns this process's share. dir comes from [userdirs.Runtime]; log may be nil. It has no
// cost until Dial finds that no process answers.
func New(dir string, log *slog.Logger) *Gateway {
	return &Gateway{dir: dir, log: cmp.Or(log, slog.New(slog.DiscardHandler))}
}

// Dial connects to the gateway. This process becomes it if no other is, or if the other does not
// answer. While another process takes the place, Dial tries until ctx ends.
func (l *Gateway) Dial(ctx context.Context) (net.Conn, error) {
	path := filepath.Join(l.dir, place.Name)
	var silent *place.SilentOwnerError // the process to replace
	var held error                     // the reason why no process has answered
	var since time.Time                // when the place was first found held
	backoff := pace.Backoff{First: 2 * time.Millisecond, Longest: 100 * time.Millisecond}
	for {
		conn, err := place.DialOwner(ctx, path, endpoint.DialSocket)
		owner, isSilent := errors.AsType[*place.SilentOwnerError](err)
		switch {
		case err == nil && !l.canReplace(conn.Owner()):
			l.mu.Lock()
			l.servedElsewhere = l.servedElsewhere || l.serving == nil
			l.mu.Unlock()
			return conn, nil
		case err == nil:
			silent = conn.Owner()
			_ = conn.Close()
		case held != nil && ctx.Err() != nil:
			return nil, held // ctx ended while dialling
		case isSilent && owner.Full && !l.canReplace(owner):
			return nil, fmt.Errorf("local gateway: %w", owner)
		case isSilent:
			silent = owner
			l.log.Warn("taking over the local gateway", "cause", silent.Error())
		case errors.Is(err, place.ErrReplaced):
			continue
		case !place.IsVacant(err):
			return nil, fmt.Errorf("local gateway: %w", err)
		}
		switch err := l.serveHere(silent, !since.IsZero() && time.Since(since) > lockPatience); {
		case err == nil:
			continue
		case !errors.Is(err, place.ErrHeld) && !errors.Is(err, errAway):
			return nil, fmt.Errorf("local gateway: %w", err)
		case held == nil:
			since = time.Now()
			held = fmt.Errorf("local gateway: no answer at %s: %w", path, err)
		}
		if backoff.Pause(ctx) != nil {
			return nil, held
		}
	}
}

// canReplace reports whether this process should replace one that can have only few files open, or
// whose files are all open while this process can have more.
func (l *Gateway) canReplace(owner *place.SilentOwnerError) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	files := place.FileLimit()
	more := owner.HasFewFiles() && files >= place.Few || owner.Full && files > owner.Files
	return more && !l.away && !l.closed
}

// JoinInProcess adds a proxy of this process to the gateway, if this process is the gateway or can
// become it, and returns nil if another process is. The proxy's messages then need no socket.
func (l *Gateway) JoinInProcess() (*hub.Peer, error) {
	if err := l.serveHere(nil, false); err != nil && !errors.Is(err, place.ErrHeld) &&
		!errors.Is(err, errAway) {
		return nil, fmt.Errorf("local gateway: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.serving == nil {
		return nil, nil //nolint:nilnil // not a failure: another process serves
	}
	return l.serving.server.Switchboard().Join(hub.Member{Role: hub.RoleProxy, Local: true}), nil
}

// serveHere makes this process the gateway, unless it already is or another has the place.
func (l *Gateway) serveHere(instead *place.SilentOwnerError, force bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return ErrClosed
	case l.away:
		return errAway
	case l.serving != nil:
		return place.ErrHeld // by this process: it lost the name, and its loop is handling that
	}
	p, err := takePlace(l.dir, instead, force)
	if err != nil {
		return err
	}
	conf := gateway.Config{Log: l.log, Draw: l.Draw}
	if instead != nil || l.servedElsewhere || l.gaveUp {
		conf.GathersUntil = time.Now().Add(GatherTime)
	}
	server := gateway.New(conf)
	if instead != nil && !instead.HasFewFiles() && !instead.Full {
		server.Switchboard().SetPredecessor(instead.Error())
	}
	s := &serving{
		server: server,
		place:  p,
		keeper: newKeeper(l.dir, server.Switchboard(), l.log),
		ended:  make(chan struct{}),
	}
	l.serving = s
	l.ending.Go(func() { // ends when the place is lost or given up, and the server is closed
		if err := s.server.ServePlace(context.Background(), p); err != nil {
			l.log.Warn("local gateway", "error", err)
		}
		_ = l.endServing(s) // Close returns the error, if it is called
	})
	l.log.Debug("serving the local gateway", "dir", l.dir)
	return nil
}

// endServing ends a serving. The name is removed first, if this process still has it, because no
// client should connect to a closing server; then the connections end. It is bounded like
// [gateway.Server.Close].
func (l *Gateway) endServing(s *serving) error {
	l.mu.Lock()
	if l.serving == s {
		l.serving = nil
	}
	l.mu.Unlock()
	s.once.Do(func() {
		s.keeper.close()
		var left [][]protocol.Message
		if s.keeper == nil {
			left = s.server.Switchboard().EndedSessions()
		}
		s.failed = errors.Join(s.place.GiveUpName(), s.server.Close())
		if len(left) > 0 {
			if err := handOver(l.dir, left); err != nil {
				l.log.Info("could not hand over the output of ended programs", "error", err)
			}
		}
		close(s.ended)
	})
	<-s.ended
	return s.failed
}

// GiveUpPlace gives the place up before this process is stopped, so that others can serve. From
// then on its own proxies and agents are their clients. It returns within a moment, when the name
// is gone: a process that kept it would accept connections for a moment after the stop, and vanish
// at any time. ServeAgain ends it.
func (l *Gateway) GiveUpPlace() {
	l.mu.Lock()
	l.away = true
	s := l.serving
	l.gaveUp = l.gaveUp || s != nil
	l.mu.Unlock()
	if s == nil {
		return
	}
	left := make(chan struct{})
	go func() { // ends with the server, in bounded time
		defer close(left)
		_ = l.endServing(s)
	}()
	patience := time.NewTimer(awayPatience)
	defer patience.Stop()
	select {
	case <-left:
	case <-patience.C:
		_ = s.place.GiveUpName() // endServing reports its failure
	}
}

// ServeAgain lets this process serve again when it continues. A process that served before does so
// at once, unless another one has the place: a command that arrives before the session's own link
// finds a gateway, and waits there for the session.
func (l *Gateway) ServeAgain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away = false
	if l.gaveUp && !l.closed {
		l.ending.Go(func() { _ = l.serveHere(nil, false) }) // takes milliseconds; otherwise Dial serves
	}
}

// Close stops serving, if this process does, and removes its traces. It is bounded like
// [gateway.Server.Close].
func (l *Gateway) Close() error {
	l.mu.Lock()
	s := l.serving
	l.closed = true
	l.mu.Unlock()
	var err error
	if s != nil {
		err = l.endServing(s)
	}
	l.ending.Wait()
	return err
}

// TakePlace takes the place of the user's local gateway in dir for a long-running server, for
// [KeepPlace]. It fails if another process serves there.
func TakePlace(dir string) (*place.Place, error) { return takePlace(dir, nil, false) }

// takePlace calls [place.TakePlace] in a directory that other users cannot write to.
func takePlace(dir string, instead *place.SilentOwnerError, force bool) (*place.Place, error) {
	if err := userdirs.CheckSocketDir(dir); err != nil {
		return nil, err
	}
	return place.TakePlace(dir, instead, force)
}

// retakeEvery is how often a long-running server that lost its place checks whether the name is
// gone. After retakeTries checks it tries anyway: a process that was killed leaves its name.
const (
	retakeEvery = time.Second
	retakeTries = 30
)

// KeepPlace serves a place until ctx ends or the server is closed. If others take the place while
// this process is stopped, it takes the place back as soon as they leave it.
func KeepPlace(ctx context.Context, s *gateway.Server, p *place.Place) error {
	dir, log := filepath.Dir(p.Path()), s.Log()
	kept := newKeeper(dir, s.Switchboard(), log)
	defer kept.close()
	for {
		err := errors.Join(s.ServePlace(ctx, p), p.GiveUpName())
		if err != nil {
			return err
		}
		select {
		case <-s.Done():
			return nil
		default:
		}
		log.Warn("another process has taken the local gateway")
		if p = retakePlace(ctx, s, dir); p == nil {
			return nil
		}
	}
}

// retakePlace waits until the place in dir can be taken again. It returns nil once the server no
// longer needs it.
func retakePlace(ctx context.Context, s *gateway.Server, dir string) *place.Place {
	tick := time.NewTicker(retakeEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-s.Done():
			return nil
		case <-tick.C:
		}
		if _, err := os.Lstat(filepath.Join(dir, place.Name)); err == nil && n%retakeTries != 0 {
			continue
		}
		if p, err := TakePlace(dir); err == nil {
			return p
		}
	}
}
