package desk

import (
	"slices"

	"terminalproxy/protocol"
)

// FindKey returns the public key of the asker of a question that waits, or nil.
func (d *Desk) FindKey(requestID string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at := d.indexLocked(requestID); at >= 0 {
		return d.queue[at].ask.PublicKeyB64
	}
	return nil
}

func (d *Desk) indexLocked(requestID string) int {
	return slices.IndexFunc(d.queue, func(q *question) bool {
		return q.ask.RequestID == requestID && q.lost.IsZero()
	})
}

// AnswerElsewhere answers a question for a person elsewhere, if it still waits, and informs the
// user here. An answer that the user is typing is dropped.
func (d *Desk) AnswerElsewhere(requestID, by, verdict string, sealed []byte) (waited bool) {
	d.mu.Lock()
	at := d.indexLocked(requestID)
	if at < 0 {
		d.mu.Unlock()
		return false
	}
	q := d.queue[at]
	d.queue = slices.Delete(d.queue, at, at+1)
	text := by + " answered " + q.ask.Asker.Program
	if verdict == protocol.SecretRefused {
		text = by + " refused " + q.ask.Asker.Program
	}
	if at == 0 {
		d.passOnLocked(text + ": nothing is sent")
	}
	d.conf.Send(&protocol.SecretAnswer{
		RequestID: requestID, SessionID: d.conf.SessionID, Verdict: verdict, SealedB64: sealed, By: by,
	})
	d.mu.Unlock()
	d.report(q, verdict, by)
	d.conf.Show(text)
	d.conf.Repaint()
	return true
}
