package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"terminalproxy/protocol"
)

// What a request is made of, as those have it who answer from elsewhere.
type (
	// Choice is an offered verdict, and in words what else it covers.
	Choice = protocol.ChatChoice
	// Question is one of a form. Free text answers it as well.
	Question = protocol.ChatQuestion
	// Option is one of the answers that a question offers.
	Option = protocol.ChatOption
	// Answer answers a request. The zero value refuses it.
	Answer = protocol.ChatReply
	// Verdict is a decision about an approval. The zero value refuses.
	Verdict = string
)

// The verdicts.
const (
	Refuse     = ""
	Once       = protocol.ChatOnce
	ForSession = protocol.ChatForSession // and the likes of it, until the session ends
)

// Request is what an agent asks of a person: an approval, or a form of questions.
type Request struct {
	ID string `json:"id"`
	// By is who asks, "" for the agent.
	By string `json:"by,omitempty"`
	// Tool and Input are what it wants to call, and with what, as JSON.
	Tool  string          `json:"tool,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	Why   string          `json:"why,omitempty"` // the agent's words
	// Allows are the verdicts of an approval that allow, in the agent's order, with what each
	// covers.
	Allows []Choice `json:"allows,omitempty"`
	// Form holds the questions; it is empty in an approval.
	Form []Question `json:"form,omitempty"`
	// AtTerminal says why nothing of it can be allowed here, "" where it can: see
	// [protocol.ChatRequest].
	AtTerminal string `json:"atTerminal,omitempty"`
	// Until is when the session refuses it by itself, zero for never: see [Session.AnswerWithin].
	Until time.Time `json:"until,omitzero"`
	// Check says why the agent takes no such replies, although they answer every question. Without
	// it the agent takes any. It must not block.
	Check func(replies map[string][]string) error `json:"-"`

	number uint64
	done   func(Closed) // nil for the agent's: see [Session.AskUser]
	expiry *time.Timer  // nil without a limit, see [Session.AnswerWithin]
}

// Number counts the requests of a session, from 1.
func (r *Request) Number() uint64 { return r.number }

// RequestOf is a request of the wire.
func RequestOf(q *protocol.ChatRequest) *Request {
	r := &Request{ID: q.ID, By: q.By, Tool: q.Tool, Input: q.Input, Why: q.Why, Allows: q.Allows, Form: q.Form, AtTerminal: q.AtTerminal}
	if q.Until > 0 {
		r.Until = time.UnixMilli(q.Until).UTC()
	}
	return r
}

// ErrNoRequest is the answer to an answer for which there is no request: the agent took it back, or
// there never was one.
var ErrNoRequest = errors.New("no such request is open")

// AnsweredError is the answer to an answer that came too late.
type AnsweredError struct {
	By  string // who was first; "" when it was closed without a person
	Why string // the reason in that case; may be ""
}

func (e *AnsweredError) Error() string {
	if e.By == "" && e.Why != "" {
		return "the request is already closed: " + e.Why
	}
	if e.By == "" {
		return "the request is already closed"
	}
	return "already answered by " + e.By
}

// validateAnswer says why an answer does not fit the request.
func (r *Request) validateAnswer(a Answer) error {
	switch {
	case a.Refuses():
		return nil
	case a.Verdict != Refuse && a.Replies != nil:
		return errors.New("answer: a verdict and replies at once")
	case len(r.Form) > 0:
		return r.validateReplies(a)
	case a.Replies != nil:
		return errors.New("answer: replies to an approval")
	}
	for _, c := range r.Allows {
		if c.Verdict == a.Verdict {
			return nil
		}
	}
	return fmt.Errorf("answer: verdict %q is not offered", a.Verdict)
}

func (r *Request) validateReplies(a Answer) error {
	if a.Replies == nil {
		return errors.New("answer: a verdict for questions")
	}
	asked := map[string]bool{}
	for _, q := range r.Form {
		asked[q.ID] = true
		switch n := len(a.Replies[q.ID]); {
		case n == 0:
			return fmt.Errorf("answer: no reply to %q", q.Text)
		case n > 1 && !q.Many:
			return fmt.Errorf("answer: %d replies to %q", n, q.Text)
		}
	}
	for id := range a.Replies {
		if !asked[id] {
			return fmt.Errorf("answer: a reply to %q, which was not asked", id)
		}
	}
	if r.Check != nil {
		return r.Check(a.Replies)
	}
	return nil
}
