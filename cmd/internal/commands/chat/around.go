package chat

import (
	"cmp"
	"context"

	"terminalproxy/proxy/chat"
)

// forwardedAnswer is the outcome of a request that was forwarded to the people of the enclosing
// conversation.
type forwardedAnswer struct {
	request *chat.Request
	by      string
	answer  chat.Answer
	err     error
}

// forwardRequest forwards a request to the people of the enclosing conversation, until it is closed
// here.
func (t *talk) forwardRequest(r *chat.Request) {
	ctx, cancel := context.WithCancel(context.Background())
	t.cancelForwarded[r.ID] = cancel
	t.view.printNotice("· %s asks in %s: %s", t.agent.name, t.outerChat.Session,
		cmp.Or(escapeInvisible(r.Tool), "a question"))
	outer, done := t.outerChat, make(chan struct{})
	t.parts.Go(func() { // ends with the answer, with the request or with the session
		defer close(done)
		by, answer, err := outer.AskPeople(ctx, r)
		select {
		case t.forwardedAnswers <- forwardedAnswer{r, by, answer, err}:
		case <-ctx.Done():
		}
	})
	t.parts.Go(func() { // ends the one above if the session ends first
		defer cancel()
		select {
		case <-done:
		case <-t.session.Done():
		}
	})
}

// handleForwarded applies a forwarded answer. Without an answer it refuses the request.
func (t *talk) handleForwarded(p forwardedAnswer) {
	cancel := t.cancelForwarded[p.request.ID]
	if cancel == nil {
		return // closed meanwhile
	}
	delete(t.cancelForwarded, p.request.ID)
	cancel()
	if p.err != nil {
		t.view.printNotice("· not asked: %s", escapeInvisible(p.err.Error()))
		t.refuseRequest(p.request)
		return
	}
	if err := t.session.Answer(p.request.ID, p.by, p.answer); err != nil {
		t.view.printNotice("· not answered: %v", err)
		t.refuseRequest(p.request)
		return
	}
	t.view.printNotice("· %s", describeClosed(&chat.Closed{By: p.by, Answer: p.answer}))
	if p.answer.Words != "" && !t.agent.takesRefusalText {
		t.sendPrompt(p.answer.Words)
	}
}

// withdrawForwarded withdraws a closed request from the enclosing conversation.
func (t *talk) withdrawForwarded(id string) {
	if cancel := t.cancelForwarded[id]; cancel != nil {
		delete(t.cancelForwarded, id)
		cancel()
	}
}
