package requests

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/display/notice"
)

// Limits on messages to the user: a burst, then one per period. All agents share them, because an
// agent can reconnect under a new id.
const (
	messageBurst = 4
	messageEvery = 15 * time.Second
)

// rateLimiter allows burst events at once and then one per period. One goroutine owns it.
type rateLimiter struct {
	burst     int
	every     time.Duration
	paidUntil time.Time // the time that all events so far have used up
}

// allowNow counts an event if it may happen now; otherwise wait is the time until it may.
func (l *rateLimiter) allowNow(now time.Time) (wait time.Duration, ok bool) {
	next := now
	if l.paidUntil.After(now) {
		next = l.paidUntil
	}
	if wait = next.Sub(now) - time.Duration(l.burst-1)*l.every; wait > 0 {
		return wait, false
	}
	l.paidUntil = next.Add(l.every)
	return 0, true
}

// handleNote passes on a message from an agent to the user, or from a remote person to the agent.
func (h *Handler) handleNote(m *protocol.Note) {
	now := time.Now()
	text := notice.Message(m.Text)
	most := notice.MessageMost
	if m.From == protocol.FromUser {
		most = control.MessageMax
		text = notice.Clean(strings.Join(strings.Fields(m.Text), " "), most+1)
	}
	if reason := checkNote(text, most); reason != nil {
		h.Link.Send(&protocol.Error{
			RequestID: m.RequestID,
			Code:      reason.code,
			Field:     "text",
			Message:   reason.message,
		})
		return
	}
	limiter := &h.fromAgents
	if m.From == protocol.FromUser {
		limiter = &h.fromPeople
	}
	if wait, ok := limiter.allowNow(now); !ok {
		sendError(
			h.Link,
			m.RequestID,
			protocol.CodeBusy,
			fmt.Sprintf(
				"too many messages in a short time: the next one may come in %s",
				notice.Span((wait+time.Second-1).Truncate(time.Second)),
			),
		)
		return
	}
	if m.From == protocol.FromUser {
		h.relayToAgent(now, m, text)
		return
	}
	h.showToUser(now, m, text)
}

// checkNote rejects an empty text and one that is longer than people are shown.
func checkNote(text string, most int) *refusal {
	switch {
	case text == "":
		return &refusal{protocol.CodeBadMessage, "text: holds nothing to read"}
	case utf8.RuneCountInString(text) > most:
		return &refusal{
			protocol.CodeTooLarge,
			fmt.Sprintf("text: is too long, at most %d characters are shown: shorten it", most),
		}
	}
	return nil
}

// showToUser shows the user an agent's message, and answers once its fate is known.
func (h *Handler) showToUser(now time.Time, m *protocol.Note, text string) {
	from := identifyAgent(h.book, m.AgentID, m.AgentName, m.TokenID)
	w := control.Note{
		ID:   m.RequestID,
		Who:  "message from “" + from.Name + "”",
		Text: text,
		From: from,
		Came: now,
	}
	if m.RequestID != "" {
		w.Tell = func(why protocol.Waiting) {
			h.Link.Send(&protocol.Done{RequestID: m.RequestID, Waiting: why})
		}
	}
	ok := h.Pump.Post(func(time.Time) { // the pump's goroutine knows muted agents
		if h.Control.IsMuted(from) {
			h.Link.Send(notNowError(m.RequestID, &control.NotNow{Muted: true}))
			return
		}
		h.Control.NoteAgent(from)
		if err := h.Status.QueueMessage(w); err != nil {
			sendError(h.Link, m.RequestID, protocol.CodeBusy, err.Error())
			return
		}
		h.Recorder.RecordAgentMessage(from, text)
	})
	if !ok {
		sendExited(h.Link, m.RequestID)
	}
}

// relayToAgent gives the agent a message that a person wrote elsewhere, and shows it to the user.
func (h *Handler) relayToAgent(now time.Time, m *protocol.Note, text string) {
	by := notice.Person(m.By)
	ok := h.Pump.Post(func(time.Time) {
		to := h.Control.MessageRecipient(h.Status.LastSeenMessage())
		h.deliverNote(to, by, text)
		// The agent gets the message even if the user has no room for it.
		_ = h.Status.QueueMessage(control.Note{
			Who:  "“" + by + "” writes to " + notice.Recipient(to.Name) + " from elsewhere",
			Text: notice.Message(text),
			Came: now,
		})
		h.Link.Send(&protocol.Done{RequestID: m.RequestID})
	})
	if !ok {
		sendExited(h.Link, m.RequestID)
	}
}

// deliverNote leaves a message for an agent, for its next answer or for its open wait for a
// decision. by names a person elsewhere, "" the user at this terminal, so that the agent can tell
// them apart.
func (h *Handler) deliverNote(to control.Agent, by, text string) {
	said := text
	if by != "" {
		said = "(written elsewhere, by " + by + ") " + text
	}
	h.inbox.addNote(to.ID, said)
	h.Link.Send(&protocol.Note{
		ID:        protocol.NewID(),
		SessionID: h.SessionID,
		From:      protocol.FromUser,
		By:        by,
		Text:      text,
	})
	h.Recorder.RecordUserMessage(to, by, text)
	h.Observer.Post(func(time.Time) { h.waits.bringNote(to.ID) })
}
