package requests

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/names"
	"terminalproxy/proxy/consent/question"
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

// messenger carries messages between agents and people.
type messenger struct {
	*Config
	book  *names.Book
	inbox *inbox
	waits *agentWaits
	// fromAgents and fromPeople limit messages. Owned by the link's goroutine.
	fromAgents, fromPeople rateLimiter
}

func newMessenger(c *Config, book *names.Book, inbox *inbox, waits *agentWaits) *messenger {
	return &messenger{
		Config: c, book: book, inbox: inbox, waits: waits,
		fromAgents: rateLimiter{burst: messageBurst, every: messageEvery},
		fromPeople: rateLimiter{burst: 2 * messageBurst, every: messageEvery / 5},
	}
}

// handleNote passes on a message from an agent to the user, or from a remote person to the agent.
func (p *messenger) handleNote(m *protocol.Note) {
	now := time.Now()
	text := notice.Message(m.Text)
	most := notice.MaxMessage
	if m.From == protocol.FromUser {
		most = question.MaxMessage
		text = notice.Clean(strings.Join(strings.Fields(m.Text), " "), most+1)
	}
	if reason := checkNote(text, most); reason != nil {
		p.Link.Send(&protocol.Error{
			RequestID: m.RequestID,
			Code:      reason.code,
			Field:     "text",
			Message:   reason.message,
		})
		return
	}
	limiter := &p.fromAgents
	if m.From == protocol.FromUser {
		limiter = &p.fromPeople
	}
	if wait, ok := limiter.allowNow(now); !ok {
		sendError(p.Link, m.RequestID, protocol.CodeBusy,
			fmt.Sprintf("too many messages in a short time: the next one may come in %s",
				notice.Span((wait+time.Second-1).Truncate(time.Second))))
		return
	}
	if m.From == protocol.FromUser {
		p.relayToAgent(now, m, text)
		return
	}
	p.showToUser(now, m, text)
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

// showToUser shows the user an agent's message, and answers once it is shown or dropped.
func (p *messenger) showToUser(now time.Time, m *protocol.Note, text string) {
	from := identifyAgent(p.book, m.AgentID, m.AgentName, m.TokenID)
	w := control.Note{
		ID:         m.RequestID,
		Sender:     "message from “" + from.Name + "”",
		Text:       text,
		From:       from,
		ReceivedAt: now,
	}
	if m.RequestID != "" {
		w.Report = func(why protocol.Waiting) {
			p.Link.Send(&protocol.Done{RequestID: m.RequestID, Waiting: why})
		}
	}
	ok := p.Pump.Post(func(time.Time) { // only the pump's goroutine may ask who is muted
		if p.Control.IsMuted(from) {
			p.Link.Send((&question.NotNow{Muted: true}).Refusal(m.RequestID))
			return
		}
		p.Control.NoteAgent(from)
		if err := p.Status.QueueMessage(w); err != nil {
			sendError(p.Link, m.RequestID, protocol.CodeBusy, err.Error())
			return
		}
		p.Recorder.RecordAgentMessage(from, text)
	})
	if !ok {
		sendExited(p.Link, m.RequestID)
	}
}

// relayToAgent gives the agent a message that a person wrote elsewhere, and shows it to the user.
func (p *messenger) relayToAgent(now time.Time, m *protocol.Note, text string) {
	by := notice.Person(m.By)
	ok := p.Pump.Post(func(time.Time) {
		heard, _ := p.Status.LastSeenMessage()
		to := p.Control.MessageRecipient(heard)
		p.deliverNote(to, by, text)
		// The agent gets the message even if the user has no room for it.
		_ = p.Status.QueueMessage(control.Note{
			Sender:     "“" + by + "” writes to " + notice.Recipient(to.Name) + " from elsewhere",
			Text:       notice.Message(text),
			ReceivedAt: now,
		})
		p.Link.Send(&protocol.Done{RequestID: m.RequestID})
	})
	if !ok {
		sendExited(p.Link, m.RequestID)
	}
}

// deliverNote leaves a message for an agent, for its next answer or for its open wait for a
// decision. by names a person elsewhere, "" the user at this terminal, so that the agent can tell
// them apart.
func (p *messenger) deliverNote(to control.Agent, by, text string) {
	said := text
	if by != "" {
		said = "(written elsewhere, by " + by + ") " + text
	}
	p.inbox.addNote(to.ID, said)
	p.Link.Send(&protocol.Note{
		ID:        protocol.NewID(),
		SessionID: p.SessionID,
		From:      protocol.FromUser,
		By:        by,
		Text:      text,
	})
	p.Recorder.RecordUserMessage(to, by, text)
	p.Observer.Post(func(time.Time) { p.waits.endWaitForNote(to.ID) })
}

// openMessage implements [Handler.OpenMessage].
func (p *messenger) openMessage(now time.Time) (took bool) {
	heard, _ := p.Status.LastSeenMessage()
	return p.Control.OpenMessage(now, heard, p.sendMessage)
}

// openReply implements [Handler.OpenReply].
func (p *messenger) openReply(now time.Time) (took bool) {
	heard, onLine := p.Status.LastSeenMessage()
	return onLine && p.Control.OpenReply(now, heard, p.sendMessage)
}

// sendMessage delivers a message of the user, if it has text.
func (p *messenger) sendMessage(to control.Agent, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	p.deliverNote(to, "", text)
	p.Status.ShowText("sent to " + notice.Recipient(to.Name) + ": “" + text + "”")
}
