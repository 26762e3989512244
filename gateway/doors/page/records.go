package page

import (
	"context"

	"terminalproxy/protocol"
)

// Records answers one page's requests about recordings: records.list and records.read. One
// goroutine uses it. Close releases everything that the page had open.
type Records interface {
	Answer(ctx context.Context, m protocol.Message) protocol.Message
	Close()
}

// maxRecordsRequests bounds a page's open requests about recordings.
const maxRecordsRequests = 4

// isRecordsRequest reports whether the door answers m, and not the gateway.
func isRecordsRequest(m protocol.Message) bool {
	switch m.(type) {
	case *protocol.RecordsList, *protocol.RecordsRead:
		return true
	}
	return false
}

// queueRecordsRequest queues a request about recordings. It never waits, because a reclaim must not
// queue behind it. It returns an immediate refusal, or nil.
func (c *conn) queueRecordsRequest(m protocol.Message) *protocol.Error {
	refused := &protocol.Error{
		RequestID: protocol.RequestID(m),
		Code:      protocol.CodeUnavailable,
		Message:   "this server has no recordings: run gateway open where the programs run",
	}
	if c.page.opening.terms.Records == nil {
		return refused
	}
	select {
	case c.replays <- m:
		return nil
	default:
		refused.Code, refused.Message = protocol.CodeBusy, "too many requests about "+
			"recordings at once"
		return refused
	}
}

// answerRecords answers requests about recordings until ctx ends.
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
				// a page that does not read it in time is disconnected, which the reader notices
				_ = c.write(frame)
			}
		}
	}
}
