package mcp

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"
)

// heartbeat bounds the silence of a stream of events: devices between client and server forget idle
// connections, and a quiet subscription would end unnoticed.
const heartbeat = 15 * time.Second

// keptAlive writes a comment into a response when a stream of events has been silent for a while.
// The library writes each event whole, so a comment never splits one.
type keptAlive struct {
	http.ResponseWriter

	mu      sync.Mutex
	written time.Time // when the last event was; zero before the first
	streams bool      // it is a stream of events
}

// keepAlive wraps w for one request; call the result once the request is answered.
func keepAlive(w http.ResponseWriter, every time.Duration) (*keptAlive, func()) {
	k := &keptAlive{ResponseWriter: w}
	return k, repeat(context.Background(), every, func(context.Context) { k.writeBeat(every) })
}

// repeat calls do in a rhythm until ctx ends or stop is called; stop waits for do.
func repeat(ctx context.Context, every time.Duration, do func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { // ends with ctx
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				do(ctx)
			}
		}
	}()
	return func() { cancel(); <-ended }
}

func (k *keptAlive) writeBeat(every time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.streams || time.Since(k.written) < every/2 {
		return
	}
	if _, err := k.ResponseWriter.Write([]byte(":\n\n")); err == nil {
		// if flushing fails, the next event reports it
		_ = http.NewResponseController(k.ResponseWriter).Flush()
	}
}

// WriteHeader implements http.ResponseWriter.
func (k *keptAlive) WriteHeader(status int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.noteWriteLocked()
	k.ResponseWriter.WriteHeader(status)
}

// noteWriteLocked records a write, and at the first one whether this is a stream of events.
func (k *keptAlive) noteWriteLocked() {
	if k.written.IsZero() {
		k.streams = strings.HasPrefix(k.Header().Get("Content-Type"), "text/event-stream")
	}
	k.written = time.Now()
}

// Write implements http.ResponseWriter.
func (k *keptAlive) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.noteWriteLocked()
	return k.ResponseWriter.Write(p)
}

// FlushError is for http.ResponseController.
func (k *keptAlive) FlushError() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return http.NewResponseController(k.ResponseWriter).Flush()
}

// Unwrap is for http.ResponseController.
func (k *keptAlive) Unwrap() http.ResponseWriter { return k.ResponseWriter }
