package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/protocol"
)

const (
	// logLines bounds the queued lines of a log.
	logLines = 1024
	// logPatience is how long writing the last lines may take.
	logPatience = time.Second
)

// Log writes a log for operators: who connects and disconnects, in which role, and which requests
// are refused, by ids and codes. It contains nothing that was on a screen, typed or said; errors
// that peers worded are replaced by their codes. Logging never waits: lines that are not written in
// time are dropped and counted. Close it.
type Log struct {
	*slog.Logger
	lines *logLinesWriter
}

// NewLog makes a log that writes to out, as JSON or as text (see package slog).
func NewLog(out io.Writer, json bool, level slog.Level) *Log {
	lines := &logLinesWriter{
		out:   out,
		queue: make(chan []byte, logLines),
		done:  make(chan struct{}),
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: withoutContent}
	to := func(w io.Writer) *slog.Logger {
		if json {
			return slog.New(slog.NewJSONHandler(w, options))
		}
		return slog.New(slog.NewTextHandler(w, options))
	}
	go lines.run(to(out)) // ends with Close
	return &Log{to(lines), lines}
}

// Close writes the remaining lines, for a moment at most. Later lines are dropped.
func (l *Log) Close() {
	l.lines.close()
	select {
	case <-l.lines.done:
	case <-time.After(logPatience):
	}
}

// withoutContent returns an attribute without the text of a peer's error.
func withoutContent(_ []string, a slog.Attr) slog.Attr {
	err, ok := a.Value.Any().(error)
	if !ok {
		return a
	}
	if refusal, ok := errors.AsType[*protocol.Error](err); ok {
		return slog.String(a.Key, "refused: "+string(refusal.Code))
	}
	if bad, ok := errors.AsType[*protocol.FieldError](err); ok {
		return slog.String(a.Key, fmt.Sprintf("%s in the field %q", bad.Code, bad.Field))
	}
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		return slog.String(a.Key, fmt.Sprintf("closed with code %d", closed.Code))
	}
	return a
}

// logLinesWriter hands lines to a goroutine that writes them.
type logLinesWriter struct {
	out   io.Writer
	queue chan []byte
	done  chan struct{} // closed when all is written

	mu     sync.Mutex
	closed bool
	lost   int
}

// Write implements io.Writer for a slog.Handler, which writes one line at a time and keeps the
// bytes.
func (w *logLinesWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return len(line), nil
	}
	select {
	case w.queue <- bytes.Clone(line):
	default:
		w.lost++
	}
	return len(line), nil
}

// run writes the lines. direct bypasses the queue.
func (w *logLinesWriter) run(direct *slog.Logger) {
	defer close(w.done)
	for line := range w.queue {
		_, _ = w.out.Write(line) // there is no other place to report it
		if n := w.takeLost(); n > 0 {
			direct.Warn("lines of this log were left out: they were not read in time", "lines", n)
		}
	}
}

// takeLost returns how many lines were left out since the last call.
func (w *logLinesWriter) takeLost() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, w.lost = w.lost, 0
	return n
}

func (w *logLinesWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		close(w.queue)
	}
}
