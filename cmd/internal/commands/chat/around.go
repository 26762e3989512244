package chat

import (
	"cmp"
	"context"

	"terminalproxy/proxy/chat"
)

// passed is what became of a request that was put to the people of the conversation around this
// one.
type passed struct {
	request *chat.Request
	by      string
	answer  chat.Answer
	err     error
}

// forwardRequest puts a request to the people of the conversation around, until it is closed here.
func (t *talk) forwardRequest(r *chat.Request) {
	ctx, cancel := context.WithCancel(context.Background())
	t.passing[r.ID] = cancel
	t.view.printNotice("· %s asks in %s: %s", t.agent.name, t.around.Session,
		cmp.Or(exactly(r.Tool), "a question"))
	outer, done := t.around, make(chan struct{})
	t.parts.Go(func() { // ends with the answer, with the request or with the session
		defer close(done)
		by, answer, err := outer.AskPeople(ctx, r)
		select {
		case t.heard <- passed{r, by, answer, err}:
		case <-ctx.Done():
		}
	})
	t.parts.Go(func() { // ends with the one before, or ends it
		defer cancel()
		select {
		case <-done:
		case <-t.session.Done():
		}
	})
}

// handleForwarded takes such an answer. Without one the request is refused.
func (t *talk) handleForwarded(p passed) {
	cancel := t.passing[p.request.ID]
	if cancel == nil {
		return // it is closed
	}
	delete(t.passing, p.request.ID)
	cancel()
	if p.err != nil {
		t.view.printNotice("· not asked: %s", exactly(p.err.Error()))
		t.refuseRequest(p.request)
		return
	}
	if err := t.session.Answer(p.request.ID, p.by, p.answer); err != nil {
		t.view.printNotice("· not answered: %v", err)
		t.refuseRequest(p.request)
		return
	}
	t.view.printNotice("· %s", closedWords(&chat.Closed{By: p.by, Answer: p.answer}))
	if p.answer.Words != "" && !t.agent.hears {
		t.sendPrompt(p.answer.Words)
	}
}

// withdrawForwarded takes a closed request back.
func (t *talk) withdrawForwarded(id string) {
	if cancel := t.passing[id]; cancel != nil {
		delete(t.passing, id)
		cancel()
	}
}
