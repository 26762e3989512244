package requests

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	"terminalproxy/protocol"
)

// receiptsKept bounds the remembered inputs. A repeat of one is answered, and not typed again.
const receiptsKept = 1024

// receipts remembers the receipts of inputs, by request id. It is safe for concurrent use.
type receipts struct {
	mu    sync.Mutex
	known map[string]*receiptEntry
	order []string
}

// receiptEntry is an input whose id was claimed.
type receiptEntry struct {
	content [sha256.Size]byte     // a digest, since the input may be long or secret
	receipt *protocol.InputResult // nil while the input is under way
}

// idUse is the earlier use of an input's id.
type idUse uint8

const (
	unused       idUse = iota
	repeated           // for the same input
	usedForOther       // for another input
)

func newReceipts() *receipts { return &receipts{known: make(map[string]*receiptEntry)} }

// claimID claims the id of an input. A repeat returns the first receipt, or nil while the input is
// under way: its answer will answer both. An input that was withdrawn because its agent's
// connection ended may claim its id again, if nothing of it was written.
func (r *receipts) claimID(m *protocol.Input) (before idUse, receipt *protocol.InputResult) {
	content := contentOf(m)
	r.mu.Lock()
	defer r.mu.Unlock()
	if k, ok := r.known[m.RequestID]; ok {
		if k.content != content {
			return usedForOther, nil
		}
		if k.receipt != nil && k.receipt.Reason == protocol.CodeWithdrawn &&
			k.receipt.WrittenBytes == 0 {
			k.receipt = nil
			return unused, nil
		}
		return repeated, k.receipt
	}
	if len(r.order) >= receiptsKept {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	r.known[m.RequestID] = &receiptEntry{content: content}
	r.order = append(r.order, m.RequestID)
	return unused, nil
}

// contentOf returns a digest of what an input types. Its timeout, conditions and epoch are left
// out: they may differ when an agent repeats the input after a lost connection.
func contentOf(m *protocol.Input) [sha256.Size]byte {
	// Strings and numbers always encode.
	content, _ := json.Marshal([]any{m.InputKind, m.Data, m.At, m.On, m.To, m.Parts})
	return sha256.Sum256(content)
}

// storeReceipt keeps a receipt without its screen: a repeat can read the present one.
func (r *receipts) storeReceipt(result *protocol.InputResult) {
	receipt := *result
	receipt.Frame = nil
	r.mu.Lock()
	defer r.mu.Unlock()
	if k, ok := r.known[result.RequestID]; ok {
		k.receipt = &receipt
	}
}

// correctReceipt changes the stored receipt for later repeats.
func (r *receipts) correctReceipt(requestID string, change func(*protocol.InputResult)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k, ok := r.known[requestID]
	if !ok || k.receipt == nil {
		return
	}
	receipt := *k.receipt // the old one may still be being sent
	change(&receipt)
	k.receipt = &receipt
}
