package requests

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	"terminalproxy/protocol"
)

// receiptsKept is how many inputs are remembered, so that a repeated one is answered and not typed again.
const receiptsKept = 1024

// receipts remembers what became of inputs, by request id. It may be used from any goroutine.
type receipts struct {
	mu    sync.Mutex
	known map[string]*kept
	order []string
}

// kept is an input whose id was used.
type kept struct {
	content [sha256.Size]byte     // what was to be typed: a digest, since it may be long or secret
	receipt *protocol.InputResult // nil while the input is under way
}

// used says whether an input's id was used before.
type used uint8

const (
	unused    used = iota
	repeated       // for the same input
	elsewhere      // for another one
)

func newReceipts() *receipts { return &receipts{known: make(map[string]*kept)} }

// begin takes the id of an input. If it is repeated, the receipt is that of the first time, nil while that is under way: its
// answer will be the answer to both. One that was withdrawn as its agent's connection ended, and of which nothing was written, is taken anew.
func (r *receipts) begin(m *protocol.Input) (before used, receipt *protocol.InputResult) {
	content := contentOf(m)
	r.mu.Lock()
	defer r.mu.Unlock()
	if k, ok := r.known[m.RequestID]; ok {
		if k.content != content {
			return elsewhere, nil
		}
		if k.receipt != nil && k.receipt.Reason == protocol.CodeWithdrawn && k.receipt.WrittenBytes == 0 {
			k.receipt = nil
			return unused, nil
		}
		return repeated, k.receipt
	}
	if len(r.order) >= receiptsKept {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	r.known[m.RequestID] = &kept{content: content}
	r.order = append(r.order, m.RequestID)
	return unused, nil
}

// contentOf is a digest of what an input does. How long it may take and what is waited for do not belong to it: who repeats
// an input after a lost connection may be in less of a hurry, or carry the epoch that is known by then.
func contentOf(m *protocol.Input) [sha256.Size]byte {
	what, _ := json.Marshal([]any{m.InputKind, m.Data, m.At, m.On, m.To, m.Parts}) // strings and numbers have no errors
	return sha256.Sum256(what)
}

// finish keeps the receipt. The screen is not kept with it: whoever asks again can read the present one.
func (r *receipts) finish(result *protocol.InputResult) {
	receipt := *result
	receipt.Frame = nil
	r.mu.Lock()
	defer r.mu.Unlock()
	if k, ok := r.known[result.RequestID]; ok {
		k.receipt = &receipt
	}
}

// correct changes the receipt that is kept, for whoever asks again.
func (r *receipts) correct(requestID string, change func(*protocol.InputResult)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k, ok := r.known[requestID]
	if !ok || k.receipt == nil {
		return
	}
	receipt := *k.receipt // the old one may be on its way to somebody
	change(&receipt)
	k.receipt = &receipt
}
