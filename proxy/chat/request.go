package chat

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Verdict is a decision about an approval. The zero value refuses: what is left out allows nothing.
type Verdict string

// The verdicts.
const (
	Refuse     Verdict = ""
	Once       Verdict = "once"
	ForSession Verdict = "session" // and the likes of it, until the session ends
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
	// Allows are the verdicts of an approval that allow, in the agent's order, with what each covers.
	Allows []Choice `json:"allows,omitempty"`
	// Form are questions; there are none in an approval.
	Form []Question `json:"form,omitempty"`
	// Check says why replies that answer every question are none that the agent takes; nil takes them all. It must not block.
	Check func(replies map[string][]string) error `json:"-"`

	done func(Closed) // of somebody else's: see [Session.Ask]
}

// Choice is a verdict that is offered.
type Choice struct {
	Verdict Verdict `json:"verdict"`
	Covers  string  `json:"covers,omitempty"` // what else it allows, in words
}

// Question is one of a form. Free text answers it as well.
type Question struct {
	ID      string   `json:"id"`
	Header  string   `json:"header,omitempty"`
	Text    string   `json:"text"`
	Many    bool     `json:"many,omitempty"` // more than one option may be chosen
	Options []Option `json:"options,omitempty"`
}

// Option is one of the answers that a question offers.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Answer answers a request. The zero value refuses it.
type Answer struct {
	Verdict Verdict `json:"verdict,omitempty"` // of an approval
	// Replies are the labels and the words that answer a form, by the question's id.
	Replies map[string][]string `json:"replies,omitempty"`
	// Words are for the agent, with a refusal.
	Words string `json:"words,omitempty"`
}

// Refuses says whether nothing is allowed and nothing answered.
func (a Answer) Refuses() bool { return a.Verdict == Refuse && a.Replies == nil }

// ErrNoRequest is the answer to an answer for which there is no request: the agent took it back, or there never was one.
var ErrNoRequest = errors.New("no such request is open")

// AnsweredError is the answer to an answer that came too late.
type AnsweredError struct {
	By  string // who was first; "" when it was closed without a person
	Why string // then, the reason; "" for none
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

// check says whether the answer is one to this request.
func (r *Request) check(a Answer) error {
	switch {
	case a.Refuses():
		return nil
	case a.Verdict != Refuse && a.Replies != nil:
		return errors.New("answer: a verdict and replies at once")
	case len(r.Form) > 0:
		return r.checkReplies(a)
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

func (r *Request) checkReplies(a Answer) error {
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
