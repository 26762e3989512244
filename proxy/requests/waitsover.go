package requests

import (
	"slices"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/snapshot"
)

const (
	// waitKept is how long the end of a wait is known. Whoever lost the connection over which its answer went asks again before that.
	waitKept = 30 * time.Second
	// waitsKept bounds how many are.
	waitsKept = 64
)

// waitOver is a wait that was answered, and how.
type waitOver struct {
	ask    *protocol.Wait
	at     time.Time
	result snapshot.Result
	notes  []string
}

// waitsOver are the waits that ended last, oldest first: the answer may have been lost with a connection, and what met a wait may be
// gone when it is repeated. They belong to the observer's goroutine.
type waitsOver []waitOver

func (w *waitsOver) add(over waitOver) {
	*w = slices.DeleteFunc(*w, func(o waitOver) bool { return o.ask.RequestID == over.ask.RequestID })
	if len(*w) >= waitsKept {
		*w = slices.Delete(*w, 0, 1)
	}
	*w = append(*w, over)
}

// find is how m ended when it was asked before, nil if it was not. An id that was another wait's says nothing.
func (w *waitsOver) find(now time.Time, m *protocol.Wait) *waitOver {
	*w = slices.DeleteFunc(*w, func(o waitOver) bool { return now.Sub(o.at) > waitKept })
	if at := slices.IndexFunc(*w, func(o waitOver) bool { return m.Repeats(o.ask) }); at >= 0 {
		return &(*w)[at]
	}
	return nil
}
