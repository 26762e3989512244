package chat

import (
	"context"
	"slices"
	"time"

	"terminalproxy/protocol"
)

const (
	// maxItem bounds an item's text, and the input of a call, in bytes.
	maxItem = 256 << 10
	// maxLog bounds the log, in bytes and records. The oldest go first.
	maxLog     = 8 << 20
	maxRecords = 5000
)

// log are the newest records. The session's lock guards it.
type log struct {
	records []*Record
	last    uint64 // number
	lost    uint64 // number of the last record that no longer fits
	size    int    // in bytes, about
	grown   chan struct{}
}

// add appends a record and wakes those who follow.
func (l *log) add(r Record) *Record {
	l.last++
	r.Number, r.Time = l.last, time.Now()
	if r.Item != nil && r.Item.Kind == Text && r.Item.ID != "" {
		l.dropPieces(r.Item.ID)
	}
	l.records, l.size = append(l.records, &r), l.size+r.approxSize()
	for len(l.records) > maxRecords || l.size > maxLog && len(l.records) > 1 {
		l.lost, l.size = l.records[0].Number, l.size-l.records[0].approxSize()
		l.records = l.records[1:]
	}
	if l.grown != nil {
		close(l.grown)
		l.grown = nil
	}
	return &r
}

// dropPieces drops the pieces of a text once it comes whole.
func (l *log) dropPieces(id string) {
	l.records = slices.DeleteFunc(l.records, func(r *Record) bool {
		drop := r.Piece != nil && r.Piece.ID == id
		if drop {
			l.size -= r.approxSize()
		}
		return drop
	})
}

// since returns the records with higher numbers, and how many of those are lost.
func (l *log) since(number uint64) (records []Record, lost uint64) {
	i, _ := slices.BinarySearchFunc(l.records, number+1, func(r *Record, n uint64) int { return int(int64(r.Number) - int64(n)) })
	for _, r := range l.records[i:] {
		records = append(records, *r)
	}
	return records, max(l.lost, number) - number
}

// Records returns the records with higher numbers. lost of those no longer fit the log. It waits
// for a record until ctx ends; after the end of the session it returns an empty list without an
// error. Records must not be changed.
func (s *Session) Records(ctx context.Context, number uint64) (records []Record, lost uint64, err error) {
	for {
		s.mu.Lock()
		records, lost = s.log.since(number)
		over := s.phase == Ended || s.phase == Failed
		if s.log.grown == nil {
			s.log.grown = make(chan struct{})
		}
		grown := s.log.grown
		s.mu.Unlock()
		if len(records) > 0 || over {
			return records, lost, nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
}

// clipItem bounds an item's text and input.
func clipItem(i Item) *Item {
	if n := len(i.Text) - maxItem; n > 0 {
		i.Text, i.Cut = protocol.Clip(i.Text, maxItem), i.Cut+n
	}
	if n := len(i.Input) - maxItem; n > 0 {
		i.Input, i.Cut = nil, i.Cut+len(i.Input) // half a JSON value cannot be read
	}
	return &i
}
