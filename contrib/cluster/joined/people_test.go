package joined

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// A person at another gateway sits down in front of an agent's terminal, and types. The session's gateway dies: the person sits there
// still, and every key that was typed comes once.
func TestAPersonAttachesElsewhere(t *testing.T) {
	w := newTown(t)
	a, b, c := w.three()
	proxy, owner := a.proxy(), c.joins(w.who("owner", auth.RoleOwner, ""))
	open := opening("one", 1)
	open.Headless = true
	proxy.Handle(open)
	owner.sees("one")
	b.joins(w.who("agent", auth.RoleAgent, "")).refused(&protocol.Attach{RequestID: "sit", SessionID: "one", Cols: 80, Rows: 24}, protocol.CodeForbidden)

	owner.Handle(&protocol.Attach{RequestID: "sit", SessionID: "one", Cols: 80, Rows: 24})
	sits := next[*protocol.Attach](proxy)
	proxy.Handle(&protocol.Done{RequestID: sits.RequestID})
	next[*protocol.Done](owner)
	typed := func(at seat, key string) {
		t.Helper()
		owner.Handle(&protocol.ViewerInput{SessionID: "one", DataB64: []byte(key)})
		if got := next[*protocol.ViewerInput](at); string(got.DataB64) != key || got.ViewerID == "" {
			t.Errorf("the proxy hears %+v", got)
		}
	}
	for _, key := range strings.Split("echo", "") {
		typed(proxy, key)
	}
	owner.Handle(&protocol.Attach{RequestID: "size", SessionID: "one", Cols: 100, Rows: 30})
	sized := next[*protocol.Attach](proxy)
	if sized.ViewerID != sits.ViewerID || sized.Cols != 100 {
		t.Errorf("%+v is another person than %+v", sized, sits)
	}
	proxy.Handle(&protocol.Done{RequestID: sized.RequestID})
	next[*protocol.Done](owner)

	a.close()
	proxy = b.proxy()
	proxy.Handle(open)
	still := next[*protocol.Attach](proxy)
	if still.Cols != 100 {
		t.Errorf("the proxy hears of a terminal of %d columns", still.Cols)
	}
	proxy.Handle(&protocol.Done{RequestID: still.RequestID})
	typed(proxy, "x")
	owner.Leave()
	next[*protocol.Detach](proxy)
}

// A conversation with a coding agent is followed, and answered, at other gateways than the session's, also after that one has died.
func TestAConversationCrosses(t *testing.T) {
	w := newTown(t)
	a, b, c := w.three()
	proxy, viewer, owner := a.proxy(), b.joins(w.who("viewer", auth.RoleViewer, "")), c.joins(w.who("owner", auth.RoleOwner, ""))
	open := opening("one", 1)
	open.Chat = true
	proxy.Handle(open)
	viewer.sees("one")
	owner.sees("one")
	for _, s := range []seat{viewer, owner} {
		s.Handle(&protocol.ChatSubscribe{RequestID: "follow", SessionID: "one"})
	}
	says := func(at seat, numbers ...uint64) {
		m := &protocol.ChatRecords{SessionID: "one"}
		for _, n := range numbers {
			m.Records = append(m.Records, protocol.ChatRecord{Number: n, Item: &protocol.ChatItem{Kind: protocol.ChatText, Text: "x"}})
		}
		at.Handle(m)
	}
	asked := next[*protocol.ChatSubscribe](proxy)
	proxy.Handle(&protocol.Done{RequestID: asked.RequestID})
	says(proxy, 1, 2)
	viewer.hears(1, 2)
	owner.hears(1, 2)

	c.joins(w.who("curious", auth.RoleViewer, "")).refused(&protocol.ChatSend{RequestID: "mine", SessionID: "one", Text: "rm -r ."}, protocol.CodeForbidden)
	c.joins(w.who("nosy", auth.RoleViewer, "")).refused(&protocol.ChatImage{RequestID: "mine", SessionID: "one", Image: "i", Size: 1, DataB64: []byte("x")}, protocol.CodeForbidden)
	owner.Handle(&protocol.ChatImage{RequestID: "image", SessionID: "one", Image: "i", Size: protocol.MaxImagePart, DataB64: make([]byte, protocol.MaxImagePart)})
	part := next[*protocol.ChatImage](proxy)
	if part.By != "owner" || part.AgentID != "" || len(part.DataB64) != protocol.MaxImagePart {
		t.Errorf("the proxy gets a part of %d bytes by %q", len(part.DataB64), part.By)
	}
	proxy.Handle(&protocol.Done{RequestID: part.RequestID})
	next[*protocol.Done](owner)
	owner.Handle(&protocol.ChatSend{RequestID: "go", SessionID: "one", Text: "and the tests"})
	sent := next[*protocol.ChatSend](proxy)
	if sent.By != "owner" || sent.AgentID != "" || sent.Text != "and the tests" {
		t.Errorf("the proxy hears %+v", sent)
	}
	proxy.Handle(&protocol.Done{RequestID: sent.RequestID})
	next[*protocol.Done](owner)
	owner.Handle(&protocol.ChatAnswer{RequestID: "yes", SessionID: "one", Request: "r-1", Answer: protocol.ChatReply{Verdict: protocol.ChatOnce}})
	answer := next[*protocol.ChatAnswer](proxy)
	if answer.By != "owner" || answer.Request != "r-1" || answer.Answer.Verdict != protocol.ChatOnce {
		t.Errorf("the proxy hears %+v", answer)
	}
	proxy.Handle(&protocol.Error{RequestID: answer.RequestID, Code: protocol.CodeAnswered, Message: "somebody was first"})
	if _, err := find[*protocol.Done](owner); err == nil || !strings.Contains(err.Error(), "somebody was first") {
		t.Errorf("who answers second hears %v", err)
	}

	a.close()
	proxy = b.proxy()
	proxy.Handle(open)
	again := next[*protocol.ChatSubscribe](proxy)
	proxy.Handle(&protocol.Done{RequestID: again.RequestID})
	says(proxy, 1, 2, 3) // its new gateway has none of them
	viewer.hears(3)
	owner.hears(3)
	owner.Handle(&protocol.ChatInterrupt{RequestID: "stop", SessionID: "one"})
	stopped := next[*protocol.ChatInterrupt](proxy)
	proxy.Handle(&protocol.Done{RequestID: stopped.RequestID})
	next[*protocol.Done](owner)
}

// refused sends what may not be sent.
func (s seat) refused(m protocol.Message, code protocol.Code) {
	s.t.Helper()
	s.Handle(m)
	_, err := find[*protocol.Done](s)
	if no, ok := errors.AsType[*protocol.Error](err); !ok || no.Code != code {
		s.t.Errorf("%T is answered with %v", m, err)
	}
}

// hears waits for the next records of a conversation, which have these numbers.
func (s seat) hears(numbers ...uint64) {
	s.t.Helper()
	var got []uint64
	for len(got) < len(numbers) {
		for _, r := range next[*protocol.ChatRecords](s).Records {
			got = append(got, r.Number)
		}
	}
	if !slices.Equal(got, numbers) {
		s.t.Errorf("it hears %d, not %d", got, numbers)
	}
}
