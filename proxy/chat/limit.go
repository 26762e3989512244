package chat

import (
	"slices"
	"strings"
	"time"

	"terminalproxy/proxy/display/notice"
)

// notAnswered begins the reason for which a request is closed that had its time.
const notAnswered = "not answered within "

// HasExpired reports whether a request was refused because its time was over.
func HasExpired(c *Closed) bool { return c.By == "" && strings.HasPrefix(c.Why, notAnswered) }

// AnswerWithin sets how long a request may be open before the session refuses it; 0 sets no limit.
// Call it before Start.
func (s *Session) AnswerWithin(limit time.Duration) { s.within = limit }

// limitRequest starts the time of a new request. The caller must hold s.mu.
func (s *Session) limitRequest(r *Request) {
	if s.within <= 0 {
		return
	}
	r.Until = time.Now().Add(s.within)
	r.expiry = time.AfterFunc(s.within, func() { s.expireRequest(r) }) // close stops it
}

// expireRequest refuses a request whose time is over.
func (s *Session) expireRequest(r *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.open, r)
	if i < 0 {
		return // it was answered just now
	}
	s.open = slices.Delete(s.open, i, i+1)
	why := notAnswered + notice.Span(s.within)
	s.close(r, Closed{ID: r.ID, Why: why})
	_ = s.sendAnswer(r, Answer{Words: why}) // the agent is gone: then nothing is allowed either
	s.logNewState("")
}
