package talk

import (
	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
)

// Outside is where others than the coding agent put requests to the people of a conversation. Its methods may be called from any goroutine.
type Outside struct{ Session *chat.Session }

// Ask opens a request under an id that is new; its By names who asks. done is told once how it was closed, and must neither block nor
// call back. The error is [chat.ErrOver], or a sentence.
func (o Outside) Ask(q *protocol.ChatRequest, done func(protocol.ChatClosed)) error {
	r := chat.Request{ID: q.ID, By: q.By, Tool: q.Tool, Input: q.Input, Why: q.Why}
	for _, c := range q.Allows {
		r.Allows = append(r.Allows, chat.Choice{Verdict: chat.Verdict(c.Verdict), Covers: c.Covers})
	}
	for _, f := range q.Form {
		question := chat.Question{ID: f.ID, Header: f.Header, Text: f.Text, Many: f.Many}
		for _, o := range f.Options {
			question.Options = append(question.Options, chat.Option(o))
		}
		r.Form = append(r.Form, question)
	}
	return o.Session.Ask(r, func(c chat.Closed) {
		done(protocol.ChatClosed{ID: c.ID, By: c.By, Why: c.Why, Answer: protocol.ChatReply{
			Verdict: string(c.Answer.Verdict), Replies: c.Answer.Replies, Words: c.Answer.Words,
		}})
	})
}

// Withdraw closes a request that Ask opened, if it is still open.
func (o Outside) Withdraw(id, why string) { o.Session.Withdraw(id, why) }
