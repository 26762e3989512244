package requests

import (
	"slices"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/view/snapshot"
)

const (
	// waitKept is how long the end of a wait is kept. An agent that lost its connection repeats the
	// wait within that time.
	waitKept = 30 * time.Second
	// waitsKept bounds the ended waits.
	waitsKept = 64
)

// endedWait is an answered wait.
type endedWait struct {
	request *protocol.Wait
	at      time.Time
	result  snapshot.Result
	notes   []string
}

// recentWaits holds the latest ended waits, oldest first: an answer may be lost with a connection,
// and what met the wait may be gone when it is repeated. Owned by the observer's goroutine.
type recentWaits []endedWait

func (w *recentWaits) add(over endedWait) {
	*w = slices.DeleteFunc(*w, func(o endedWait) bool {
		return o.request.RequestID == over.request.RequestID
	})
	*w = append((*w)[max(0, len(*w)+1-waitsKept):], over)
}

// findRepeat returns the end of the wait that m repeats, or nil. A different wait with the same id
// is not a repeat.
func (w *recentWaits) findRepeat(now time.Time, m *protocol.Wait) *endedWait {
	*w = slices.DeleteFunc(*w, func(o endedWait) bool { return now.Sub(o.at) > waitKept })
	if at := slices.IndexFunc(*w, func(o endedWait) bool { return m.Repeats(o.request) }); at >= 0 {
		return &(*w)[at]
	}
	return nil
}
