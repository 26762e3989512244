package page

import (
	"context"

	"terminalproxy/protocol"
)

// Records answers one page about recordings: records.list and records.read. One goroutine uses it. Closing it gives back what the
// page had open.
type Records interface {
	Answer(ctx context.Context, m protocol.Message) protocol.Message
	Close()
}

// recordsAhead is how many questions about recordings a page may have open.
const recordsAhead = 4

// asksRecords reports whether m is for the door and not for the gateway.
func asksRecords(m protocol.Message) bool {
	switch m.(type) {
	case *protocol.RecordsList, *protocol.RecordsRead:
		return true
	}
	return false
}

// leave takes a question about recordings, and never waits: what a person takes back must not stand behind it. It returns what is to
// be answered at once.
func (c *conn) leave(m protocol.Message) *protocol.Error {
	no := &protocol.Error{RequestID: protocol.RequestID(m), Code: protocol.CodeUnavailable, Message: "no recordings are known here: gateway open shows them where the programs run"}
	if c.page.opening.terms.Records == nil {
		return no
	}
	select {
	case c.replays <- m:
		return nil
	default:
		no.Code, no.Message = protocol.CodeBusy, "too many questions about recordings at once"
		return no
	}
}

// replay answers questions about recordings until ctx ends.
func (c *conn) replay(ctx context.Context) {
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
				_ = c.write(frame) // who does not take it is cut off, which the reader notes
			}
		}
	}
}
