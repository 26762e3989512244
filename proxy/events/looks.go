package events

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/remind"
)

// Handle notes what a message of the gateway's says about people who look. It and Unreached may be called from any goroutine.
func (t *Teller) Handle(m protocol.Message) {
	switch m := m.(type) {
	case *protocol.View:
		t.viewing(!m.Agents)
	case *protocol.Unview:
		t.viewing(false)
	}
}

// Unreached says that the gateway is lost, and with it those who look.
func (t *Teller) Unreached() { t.viewing(false) }

// viewing notes that somebody looks at the screen on a page, or nobody does any more.
func (t *Teller) viewing(on bool) {
	if t.viewed.Swap(on) && !on {
		t.left.Store(time.Now().UnixMilli())
	}
}

// looked is when the user typed last, or when somebody looked at the screen on a page.
func (t *Teller) looked() time.Time {
	if t.viewed.Load() {
		return time.Now()
	}
	looked := time.UnixMilli(t.left.Load())
	if used := t.conf.Used(); used.After(looked) {
		return used
	}
	return looked
}

// remind tells the user that an agent waits: who and where, and nothing of the screen or of the agent's words.
func (t *Teller) remind(q remind.Question) {
	what := " asks in "
	if q.Held {
		what = " waits in "
	}
	text := q.Agent + what + t.conf.Session
	if t.conf.Notify != nil {
		t.conf.Notify(text)
	}
	if t.conf.Alert == nil {
		return
	}
	if alert := t.conf.Alert(text); alert != nil {
		t.conf.Show(q.Number, alert)
	}
}
