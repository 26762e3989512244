package chat

import (
	"errors"
	"slices"
)

var (
	errTwice = errors.New("the request is not new")
	errFull  = errors.New("too many requests wait for an answer already")
)

// Ask opens a request of somebody else than the agent, whom its By names, under an id that is new. done is told once how it was closed,
// and must neither block nor call the session.
func (s *Session) Ask(r Request, done func(Closed)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended() || s.leaving:
		return ErrOver
	case s.isKnown(r.ID):
		return errTwice
	case s.isFull(&r):
		return errFull
	}
	r.done = done
	s.opened(&r)
	s.changed("")
	return nil
}

// opened takes in a request that is new.
func (s *Session) opened(r *Request) {
	s.asks++
	r.number = s.asks
	s.open = append(s.open, r)
	s.limitRequest(r)
	s.add(Record{Request: r})
}

// Withdraw closes a request that [Session.Ask] opened, if it is still open.
func (s *Session) Withdraw(id, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.open, func(r *Request) bool { return r.ID == id }); i >= 0 && s.open[i].done != nil {
		s.withdrawn(id, why)
		s.changed("")
	}
}

// isKnown reports whether an id is that of a request that is open, or was.
func (s *Session) isKnown(id string) bool {
	return s.closed.Has(id) || slices.ContainsFunc(s.open, func(r *Request) bool { return r.ID == id })
}

// isFull reports whether there is no room for one more request.
func (s *Session) isFull(r *Request) bool {
	size := len(r.Input)
	for _, one := range s.open {
		size += len(one.Input)
	}
	return len(s.open) >= openMost || size > inputsMost && len(s.open) > 0
}

// deliver passes an answer on to the agent, if that asked.
func (s *Session) deliver(r *Request, a Answer) error {
	if r.done != nil {
		return nil // told as it is closed
	}
	return s.driver.Answer(r.ID, a)
}
