package mcp

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"
)

// heartbeat is how long a stream of events may be silent: what stands between client and server forgets connections in
// which nothing happens, and a quiet subscription would end without anybody noticing.
const heartbeat = 15 * time.Second

// keptAlive is a response in which a comment is written when a stream of events has been silent for a while. The library
// writes each event whole, so that a comment never stands within one.
type keptAlive struct {
	http.ResponseWriter

	mu      sync.Mutex
	wrote   time.Time // of the last event; zero before the first
	streams bool      // it is a stream of events
}

// keepAlive wraps w for one request; the function that it returns must be called when that is answered.
func keepAlive(w http.ResponseWriter, every time.Duration) (*keptAlive, func()) {
	k := &keptAlive{ResponseWriter: w}
	return k, repeat(context.Background(), every, func(context.Context) { k.beat(every) })
}

// repeat has do called in a rhythm until ctx ends, or the function that it returns is called; that waits for do.
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

func (k *keptAlive) beat(every time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.streams || time.Since(k.wrote) < every/2 {
		return
	}
	if _, err := k.ResponseWriter.Write([]byte(":\n\n")); err == nil {
		_ = http.NewResponseController(k.ResponseWriter).Flush() // a writer that cannot is told by its next event
	}
}

// WriteHeader implements http.ResponseWriter.
func (k *keptAlive) WriteHeader(status int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.began()
	k.ResponseWriter.WriteHeader(status)
}

// began notes that something is being written, and at first of what kind it is. The caller holds the lock.
func (k *keptAlive) began() {
	if k.wrote.IsZero() {
		k.streams = strings.HasPrefix(k.Header().Get("Content-Type"), "text/event-stream")
	}
	k.wrote = time.Now()
}

// Write implements http.ResponseWriter.
func (k *keptAlive) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.began()
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
