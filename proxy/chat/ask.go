package chat

import (
	"errors"
	"slices"

	"terminalproxy/proxy/chat/recent"
)

var (
	errTwice = errors.New("the request is not new")
	errFull  = errors.New("too many requests wait for an answer already")
)

// AskUser opens a request that does not come from the agent. Its By names the asker, and its id
// must be new. done is called once with how the request was closed; it must neither block nor call
// the session.
func (s *Session) AskUser(r Request, done func(Closed)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.hasEnded() || s.leaving:
		return ErrOver
	case s.isKnown(r.ID):
		return errTwice
	case s.isFull(&r):
		return errFull
	}
	r.done = done
	s.addRequest(&r)
	s.logNewState("")
	return nil
}

// requests are what the agent, or its hooks, ask the user. Guarded by Session.mu.
type requests struct {
	open   []*Request          // oldest first
	asks   uint64              // requests so far
	closed *recent.Map[Closed] // requests that are closed, by id
}

// addRequest opens a request whose id is new.
func (s *Session) addRequest(r *Request) {
	s.asks++
	r.number = s.asks
	s.open = append(s.open, r)
	s.limitRequest(r)
	s.addRecord(Record{Request: r})
}

// WithdrawRequest closes a request that [Session.AskUser] opened, if it is still open.
func (s *Session) WithdrawRequest(id, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.open, func(r *Request) bool {
		return r.ID == id
	}); i >= 0 && s.open[i].done != nil {
		s.closeWithdrawn(id, why)
		s.logNewState("")
	}
}

// isKnown reports whether a request of this id is open or was open before.
func (q *requests) isKnown(id string) bool {
	return q.closed.Has(id) ||
		slices.ContainsFunc(q.open, func(r *Request) bool { return r.ID == id })
}

// isFull reports whether there is no room for one more request.
func (q *requests) isFull(r *Request) bool {
	size := len(r.Input)
	for _, one := range q.open {
		size += len(one.Input)
	}
	return len(q.open) >= openMost || size > inputsMost && len(q.open) > 0
}

// sendAnswer sends an answer to the agent, if the request is the agent's.
func (s *Session) sendAnswer(r *Request, a Answer) error {
	if r.done != nil {
		return nil // told as it is closed
	}
	return s.driver.Answer(r.ID, a)
}
