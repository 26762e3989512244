package requests

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
)

// Bounds of messages to the user: so many at once, and then one in every such time. Agents are free to come under another id,
// so they are counted together.
const (
	messageBurst = 4
	messageEvery = 15 * time.Second
)

// pace bounds how often something may happen: burst times at once, and once more in every span. It belongs to one goroutine.
type pace struct {
	burst int
	every time.Duration
	next  time.Time // when everything that happened would be paid for
}

// take reports whether it may happen now, or how long that takes.
func (p *pace) take(now time.Time) (wait time.Duration, ok bool) {
	next := now
	if p.next.After(now) {
		next = p.next
	}
	if wait = next.Sub(now) - time.Duration(p.burst-1)*p.every; wait > 0 {
		return wait, false
	}
	p.next = next.Add(p.every)
	return 0, true
}

// note takes a message: of an agent's to the user, or of a person's elsewhere to the agent.
func (h *Handler) note(m *protocol.Note) {
	now := time.Now()
	text := notice.Message(m.Text)
	most := notice.MessageMost
	if m.From == protocol.FromUser {
		text, most = notice.Clean(strings.Join(strings.Fields(m.Text), " "), control.MessageMax+1), control.MessageMax
	}
	if no := fits(text, most); no != nil {
		h.Link.Send(&protocol.Error{RequestID: m.RequestID, Code: no.code, Field: "text", Message: no.say})
		return
	}
	pace := &h.fromAgents
	if m.From == protocol.FromUser {
		pace = &h.fromPeople
	}
	if wait, ok := pace.take(now); !ok {
		h.refuse(m.RequestID, protocol.CodeBusy, fmt.Sprintf("too many messages in a short time: the next one may come in %s", notice.Span((wait+time.Second-1).Truncate(time.Second))))
		return
	}
	if m.From == protocol.FromUser {
		h.dictated(now, m, text)
		return
	}
	h.spoken(now, m, text)
}

// fits says what is wrong with a text that somebody shall read.
func fits(text string, most int) *refusal {
	switch {
	case text == "":
		return &refusal{protocol.CodeBadMessage, "text: holds nothing that could be read"}
	case utf8.RuneCountInString(text) > most:
		return &refusal{protocol.CodeTooLarge, fmt.Sprintf("text: is too long, at most %d characters are shown: say it shorter", most)}
	}
	return nil
}

// spoken puts an agent's message before the user, and answers when it is known what becomes of it.
func (h *Handler) spoken(now time.Time, m *protocol.Note, text string) {
	from := h.agent(m.AgentID, m.AgentName, m.TokenID)
	w := control.Note{ID: m.RequestID, Who: "message from “" + from.Name + "”", Text: text, From: from, Came: now}
	if m.RequestID != "" {
		w.Tell = func(why protocol.Waiting) { h.Link.Send(&protocol.Done{RequestID: m.RequestID, Waiting: why}) }
	}
	ok := h.Pump.Post(func(time.Time) { // which knows whom the user muted
		if h.Control.Muted(from) {
			h.Link.Send(notNow(m.RequestID, &control.NotNow{Muted: true}))
			return
		}
		h.Control.Meet(from)
		if err := h.Status.Hear(w); err != nil {
			h.refuse(m.RequestID, protocol.CodeBusy, err.Error())
			return
		}
		h.Recorder.Said(from, text)
	})
	if !ok {
		h.gone(m.RequestID)
	}
}

// dictated gives the agent a message that somebody elsewhere wrote for the user, and shows the user that.
func (h *Handler) dictated(now time.Time, m *protocol.Note, text string) {
	by := notice.Person(m.By)
	ok := h.Pump.Post(func(time.Time) {
		to := h.Control.Correspondent(h.Status.Heard())
		h.tell(to, by, text)
		// That it is not shown, where the user has no place for it, is no reason not to tell the agent.
		_ = h.Status.Hear(control.Note{Who: "“" + by + "” writes to " + notice.Recipient(to.Name) + " from elsewhere", Text: notice.Message(text), Came: now})
		h.Link.Send(&protocol.Done{RequestID: m.RequestID})
	})
	if !ok {
		h.gone(m.RequestID)
	}
}

// tell leaves a message for an agent: it gets it with its next answer, at once if it waits for a decision. Whoever listens
// hears it now. by is who wrote it elsewhere, "" for the user at this terminal: the agent can tell one from the other.
func (h *Handler) tell(to control.Agent, by, text string) {
	said := text
	if by != "" {
		said = "(written elsewhere, by " + by + ") " + text
	}
	h.inbox.put(to.ID, said)
	h.Link.Send(&protocol.Note{ID: protocol.NewID(), SessionID: h.SessionID, From: protocol.FromUser, By: by, Text: text})
	h.Recorder.Told(to, by, text)
	h.Observer.Post(func(time.Time) {
		sent := false
		h.Observer.DecideWaits(func(id string) bool {
			agent, ok := h.deciding[id]
			if !ok || sent || !(note{to: to.ID}).isFor(agent) {
				return false
			}
			sent = true // the first that waits gets it, and no other one
			return true
		}, "message")
	})
}
