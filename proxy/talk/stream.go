package talk

import (
	"context"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
)

// stream sends records with higher numbers than after. It goes through all that are kept, those before as well: what a text that is
// still being written began with says what of the rest is covered. It belongs to one goroutine.
type stream struct {
	room  *Room
	after uint64
	read  uint64 // number of the last record that was looked at
	lost  uint64 // records since the last message that nobody gets
	texts map[string]*unfinished
	batch []protocol.ChatRecord
	size  int // of the batch, in bytes, about
}

// unfinished is a text that is being written: whole lines leave, the rest waits for the end of its line, so that no piece of a secret
// is seen.
type unfinished struct {
	shown string // the last of what has left, as it was
	rest  string
}

// before is how much of the text before counts for what is covered, in bytes.
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
			if !s.next(ctx, &records[i]) {
				return
			}
		}
		if !s.flush(ctx, false) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// next puts a record into the batch, and sends that before it is too large. It is false when the stream is over.
func (s *stream) next(ctx context.Context, r *chat.Record) bool {
	s.read = r.Number
	text := ""
	if r.Piece != nil {
		text = s.piece(r.Piece)
	} else if r.Item != nil {
		delete(s.texts, r.Item.ID)
	}
	if r.Number <= s.after || r.Piece != nil && text == "" {
		return true
	}
	out, size := s.room.record(r, text)
	if len(s.batch) > 0 && (s.size+size > batchSize || len(s.batch) == protocol.MaxChatRecords) && !s.flush(ctx, true) {
		return false
	}
	s.batch, s.size = append(s.batch, out), s.size+size
	return true
}

// piece is what leaves of a text with the next piece of it.
func (s *stream) piece(p *chat.Piece) string {
	u := s.texts[p.ID]
	if u == nil {
		if len(s.texts) > 64 {
			clear(s.texts) // of an agent that finishes none
		}
		u = new(unfinished)
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
	out, is := strings.CutPrefix(redact(u.shown+line), redact(u.shown))
	if !is {
		out = redact(line)
	}
	u.shown += line
	if over := len(u.shown) - before; over > 0 {
		u.shown = u.shown[over+strings.IndexByte(u.shown[over:], '\n')+1:]
	}
	return out
}

// flush sends the batch, without what nobody may see; more says that it is not the last one now. While the user hides the screen it waits.
func (s *stream) flush(ctx context.Context, more bool) bool {
	for {
		s.room.mu.Lock()
		shown := s.room.shown
		if shown == nil && ctx.Err() == nil {
			s.send(more)
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

// send sends the batch. The caller holds the room's lock.
func (s *stream) send(more bool) {
	open := s.room.Open()
	seen := s.batch[:0:0]
	for _, r := range s.batch {
		if s.room.wasHidden(time.UnixMilli(r.At)) && !outlives(&r, open) {
			s.lost++
			continue
		}
		seen = append(seen, r)
	}
	s.batch, s.size = nil, 0
	if len(seen) == 0 {
		return // with the next that leaves, it is told how many are lost
	}
	s.room.Link.Send(&protocol.ChatRecords{SessionID: s.room.SessionID, Records: seen, Lost: s.lost, More: more})
	s.lost = 0
}

// outlives reports whether a record of a time in which the user hid the screen is told later: a state, a request that is open, and who
// answered one, without the words.
func outlives(r *protocol.ChatRecord, open []string) bool {
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
