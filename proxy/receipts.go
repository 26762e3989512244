package proxy

import (
	"sync"

	"terminalproxy/protocol"
)

// receiptsKept is how many inputs are remembered, so that a repeated one is answered and not typed again.
const receiptsKept = 1024

// receipts remembers what became of inputs, by request id. It may be used from any goroutine.
type receipts struct {
	mu    sync.Mutex
	known map[string]*protocol.InputResult // nil while the input is under way
	order []string
}

func newReceipts() *receipts { return &receipts{known: make(map[string]*protocol.InputResult)} }

// begin reports whether the id is new. If it is not, the receipt is that of the first time, nil while that is under way:
// its answer will be the answer to both.
func (r *receipts) begin(id string) (fresh bool, receipt *protocol.InputResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if receipt, ok := r.known[id]; ok {
		return false, receipt
	}
	if len(r.order) >= receiptsKept {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	r.known[id] = nil
	r.order = append(r.order, id)
	return true, nil
}

// finish keeps the receipt. The screen is not kept with it: whoever asks again can read the present one.
func (r *receipts) finish(result *protocol.InputResult) {
	kept := *result
	kept.Frame = nil
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.known[result.RequestID]; ok {
		r.known[result.RequestID] = &kept
	}
}
