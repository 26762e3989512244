package joined

import (
	"errors"
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

// refused sends what may not be sent.
func (s seat) refused(m protocol.Message, code protocol.Code) {
	s.t.Helper()
	s.Handle(m)
	_, err := find[*protocol.Done](s)
	if no, ok := errors.AsType[*protocol.Error](err); !ok || no.Code != code {
		s.t.Errorf("%T is answered with %v", m, err)
	}
}
