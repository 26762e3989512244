package page

import (
	"context"

	"terminalproxy/protocol"
)

// Records answers one page about recordings: records.list and records.read. One goroutine uses it.
// Closing it releases all that the page had open.
type Records interface {
	Answer(ctx context.Context, m protocol.Message) protocol.Message
	Close()
}

// recordsAhead bounds a page's open questions about recordings.
const recordsAhead = 4

// isRecordsRequest reports whether m is for the door and not for the gateway.
func isRecordsRequest(m protocol.Message) bool {
	switch m.(type) {
	case *protocol.RecordsList, *protocol.RecordsRead:
		return true
	}
	return false
}

// queueRecordsRequest queues a question about recordings, and never waits: a reclaim must not stand
// behind it. It returns an immediate refusal, or nil.
func (c *conn) queueRecordsRequest(m protocol.Message) *protocol.Error {
	refused := &protocol.Error{
		RequestID: protocol.RequestID(m),
		Code:      protocol.CodeUnavailable,
		Message:   "no recordings are known here: gateway open shows them where the programs run",
	}
	if c.page.opening.terms.Records == nil {
		return refused
	}
	select {
	case c.replays <- m:
		return nil
	default:
		refused.Code, refused.Message = protocol.CodeBusy, "too many questions about "+
			"recordings at once"
		return refused
	}
}

// answerRecords answers questions about recordings until ctx ends.
func (c *conn) answerRecords(ctx context.Context) {
	var records Records
	for {
		select {
		case <-ctx.Done():
			if records != nil {
				records.Close()
			}
			return
		case m := <-c.replays:
			if records == nil {
				records = c.page.opening.terms.Records()
			}
			frame, err := protocol.Encode(records.Answer(ctx, m))
			if err == nil {
				// a page that does not take it is cut off, which the reader notes
				_ = c.write(frame)
			}
		}
	}
}
