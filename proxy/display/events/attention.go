package events

import (
	"time"

	"terminalproxy/protocol"
)

// Handle notes whether a page shows the screen, from a message of the gateway. It and NoteUnreached
// may be called on any goroutine.
func (t *Reporter) Handle(m protocol.Message) {
	switch m := m.(type) {
	case *protocol.View:
		t.setViewed(!m.Agents)
	case *protocol.Unview:
		t.setViewed(false)
	}
}

// NoteUnreached notes that the gateway is lost, and with it the pages.
func (t *Reporter) NoteUnreached() { t.setViewed(false) }

// setViewed notes whether a page shows the screen.
func (t *Reporter) setViewed(on bool) {
	if t.viewed.Swap(on) && !on {
		t.left.Store(time.Now().UnixMilli())
	}
}

// lastLook returns when the user last typed, or when a page last showed the screen.
func (t *Reporter) lastLook() time.Time {
	if t.viewed.Load() {
		return time.Now()
	}
	looked := time.UnixMilli(t.left.Load())
	if used := t.conf.LastTyped(); used.After(looked) {
		return used
	}
	return looked
}

// remindUser notifies the user that an agent waits: its name and the session, without text of the
// screen or of the agent.
func (t *Reporter) remindUser(q openQuestion) {
	act := " asks in "
	if q.held {
		act = " waits in "
	}
	text := q.agent + act + t.conf.Session
	if t.conf.Notify != nil {
		t.conf.Notify(text)
	}
	if t.conf.Alert == nil {
		return
	}
	if alert := t.conf.Alert(text); alert != nil {
		t.conf.Show(q.number, alert)
	}
}
