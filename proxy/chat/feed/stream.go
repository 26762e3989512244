package feed

import (
	"context"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/protocol/pace"
	"terminalproxy/proxy/chat"
)

// stream sends records with higher numbers than after. It reads all kept records, also the earlier
// ones: the beginning of an unfinished text decides how the rest is masked. It belongs to one
// goroutine.
type stream struct {
	room  *Room
	after uint64
	read  uint64 // number of the last record read
	lost  uint64 // records left out since the last message
	texts map[string]*partialText
	batch []protocol.ChatRecord
	size  int // of the batch, in bytes, about
}

// partialText is an unfinished text. Whole lines leave; the rest waits for the end of its line, so
// that no piece of a secret is seen.
type partialText struct {
	shown string // the last of what has left, as it was
	rest  string
}

// before is how much of the earlier text is considered for masking, in bytes.
const before = 4 << 10

func (s *stream) run(ctx context.Context) {
	for first := true; ; first = false {
		records, lost, err := s.room.Chat.Records(ctx, s.read)
		if err != nil || len(records) == 0 {
			return
		}
		if first {
			lost = max(lost, s.after) - s.after
		}
		s.lost += lost
		for i := range records {
			if !s.addRecord(ctx, &records[i]) {
				return
			}
		}
		if !s.flushBatch(ctx, false) || pace.Pause(ctx, pause) != nil {
			return
		}
	}
}

// addRecord adds a record to the batch, and sends the batch before it grows too large. It returns
// false when the stream is over.
func (s *stream) addRecord(ctx context.Context, r *chat.Record) bool {
	s.read = r.Number
	text := ""
	if r.Piece != nil {
		text = s.completeLines(r.Piece)
	} else if r.Item != nil {
		delete(s.texts, r.Item.ID)
	}
	if r.Number <= s.after || r.Piece != nil && text == "" {
		return true
	}
	out := s.room.redactRecord(r, text)
	size := out.ApproxSize()
	isFull := s.size+size > batchSize || len(s.batch) == protocol.MaxChatRecords
	if len(s.batch) > 0 && isFull && !s.flushBatch(ctx, true) {
		return false
	}
	s.batch, s.size = append(s.batch, out), s.size+size
	return true
}

// completeLines adds a piece to its text, and returns the lines that it completes, masked.
func (s *stream) completeLines(p *chat.Piece) string {
	u := s.texts[p.ID]
	if u == nil {
		if len(s.texts) > 64 {
			clear(s.texts) // the agent does not finish its texts
		}
		u = new(partialText)
		s.texts[p.ID] = u
	}
	u.rest += p.Text
	end := strings.LastIndexByte(u.rest, '\n') + 1
	if end == 0 {
		return ""
	}
	line := u.rest[:end]
	u.rest = u.rest[end:]
	redact := s.room.Redact
	out, isPrefix := strings.CutPrefix(redact(u.shown+line), redact(u.shown))
	if !isPrefix {
		out = redact(line)
	}
	u.shown += line
	if over := len(u.shown) - before; over > 0 {
		u.shown = u.shown[over+strings.IndexByte(u.shown[over:], '\n')+1:]
	}
	return out
}

// flushBatch sends the batch, and waits while the user hides the screen. more says that another
// batch follows at once. It returns false when the stream is over.
func (s *stream) flushBatch(ctx context.Context, more bool) bool {
	for {
		s.room.mu.Lock()
		shown := s.room.shown
		if shown == nil && ctx.Err() == nil {
			s.sendLocked(more)
		}
		s.room.mu.Unlock()
		if shown == nil {
			return ctx.Err() == nil
		}
		select {
		case <-shown:
		case <-ctx.Done():
			return false
		}
	}
}

// sendLocked sends the batch, without the records of hidden times. The caller must hold Room.mu.
func (s *stream) sendLocked(more bool) {
	open := s.room.OpenRequests()
	seen := s.batch[:0:0]
	for _, r := range s.batch {
		if s.room.wasHiddenAt(time.UnixMilli(r.At)) && !isKeptWhileHidden(&r, open) {
			s.lost++
			continue
		}
		seen = append(seen, r)
	}
	s.batch, s.size = nil, 0
	if len(seen) == 0 {
		return // the next message counts them as lost
	}
	s.room.Link.Send(&protocol.ChatRecords{
		SessionID: s.room.SessionID, Records: seen, Lost: s.lost, More: more,
	})
	s.lost = 0
}

// isKeptWhileHidden reports whether a record of a hidden time is sent later: a state, an open
// request, and who answered one. It removes the words of an answer.
func isKeptWhileHidden(r *protocol.ChatRecord, open []string) bool {
	switch {
	case r.Request != nil:
		return slices.Contains(open, r.Request.ID)
	case r.Closed != nil:
		c := *r.Closed
		c.Answer.Words, c.Answer.Replies = "", nil
		r.Closed = &c
		return true
	}
	return r.State != ""
}
