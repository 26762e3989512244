package main

import (
	"cmp"
	"context"

	"terminalproxy/proxy/chat"
)

// passed is what became of a request that was put to the people of the conversation around this one.
type passed struct {
	request *chat.Request
	by      string
	answer  chat.Answer
	err     error
}

// pass puts a request to the people of the conversation around, until it is closed here.
func (t *talk) pass(r *chat.Request) {
	ctx, cancel := context.WithCancel(context.Background())
	t.passing[r.ID] = cancel
	t.view.say("· %s asks in %s: %s", t.agent.name, t.around.session, cmp.Or(exactly(r.Tool), "a question"))
	outer, done := t.around, make(chan struct{})
	t.parts.Go(func() { // ends with the answer, with the request or with the session
		defer close(done)
		by, answer, err := outer.ask(ctx, r)
		select {
		case t.heard <- passed{r, by, answer, err}:
		case <-ctx.Done():
		}
	})
	t.parts.Go(func() { // ends with the one before, or ends it
		defer cancel()
		select {
		case <-done:
		case <-t.session.Over():
		}
	})
}

// hears takes such an answer. Without one the request is refused.
func (t *talk) hears(p passed) {
	cancel := t.passing[p.request.ID]
	if cancel == nil {
		return // it is closed
	}
	delete(t.passing, p.request.ID)
	cancel()
	if p.err != nil {
		t.view.say("· nobody was asked: %s", exactly(p.err.Error()))
		t.refuse(p.request)
		return
	}
	if err := t.session.Answer(p.request.ID, p.by, p.answer); err != nil {
		t.view.say("· not answered: %v", err)
		t.refuse(p.request)
		return
	}
	t.view.say("· %s", closedWords(&chat.Closed{By: p.by, Answer: p.answer}))
	if p.answer.Words != "" && !t.agent.hears {
		t.send(p.answer.Words)
	}
}

// passedNoMore takes a request back that is closed.
func (t *talk) passedNoMore(id string) {
	if cancel := t.passing[id]; cancel != nil {
		delete(t.passing, id)
		cancel()
	}
}
