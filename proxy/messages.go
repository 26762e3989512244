package proxy

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/notice"
	"terminalproxy/proxy/overlay"
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
func (d *desk) note(m *protocol.Note) {
	now := time.Now()
	text := notice.Message(m.Text)
	most := notice.MessageMost
	if m.From == protocol.FromUser {
		text, most = notice.Clean(strings.Join(strings.Fields(m.Text), " "), control.DraftMax+1), control.DraftMax
	}
	if no := fits(text, most); no != nil {
		d.s.link.Send(&protocol.Error{RequestID: m.RequestID, Code: no.code, Field: "text", Message: no.say})
		return
	}
	pace := &d.speech
	if m.From == protocol.FromUser {
		pace = &d.letters
	}
	if wait, ok := pace.take(now); !ok {
		d.refuse(m.RequestID, protocol.CodeBusy, fmt.Sprintf("too many messages in a short time: the next one may come in %s", notice.Span((wait+time.Second-1).Truncate(time.Second))))
		return
	}
	if m.From == protocol.FromUser {
		d.dictated(now, m, text)
		return
	}
	d.spoken(now, m, text)
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
func (d *desk) spoken(now time.Time, m *protocol.Note, text string) {
	from := d.agent(m.AgentID, m.AgentName, m.TokenID)
	w := &overlay.Message{Who: "message from “" + from.Name + "”", Text: text, From: from, Came: now}
	if m.RequestID != "" {
		w.Tell = func(why protocol.Waiting) { d.s.link.Send(&protocol.Done{RequestID: m.RequestID, Waiting: why}) }
	}
	ok := d.s.pump.Post(func(time.Time) { // which knows whom the user muted
		if d.s.authority.Muted(from) {
			d.s.link.Send(notNow(m.RequestID, &control.NotNow{Muted: true}))
			return
		}
		if err := d.s.status.Hear(w); err != nil {
			d.refuse(m.RequestID, protocol.CodeBusy, err.Error())
			return
		}
		d.s.recording.said(from, text)
	})
	if !ok {
		d.gone(m.RequestID)
	}
}

// dictated gives the agent a message that somebody elsewhere wrote for the user, and shows the user that.
func (d *desk) dictated(now time.Time, m *protocol.Note, text string) {
	by := notice.Person(m.By)
	ok := d.s.pump.Post(func(time.Time) {
		to := d.s.authority.Correspondent(d.s.status.Heard())
		d.tell(to, by, text)
		// That it is not shown, where the user has no place for it, is no reason not to tell the agent.
		_ = d.s.status.Hear(&overlay.Message{Who: "“" + by + "” writes to " + notice.Recipient(to.Name) + " from elsewhere", Text: notice.Message(text), Came: now})
		d.s.link.Send(&protocol.Done{RequestID: m.RequestID})
	})
	if !ok {
		d.gone(m.RequestID)
	}
}

// tell leaves a message for an agent: it gets it with its next answer, at once if it waits for a decision. Whoever listens
// hears it now. by is who wrote it elsewhere, "" for the user at this terminal: the agent can tell one from the other.
func (d *desk) tell(to control.Agent, by, text string) {
	said := text
	if by != "" {
		said = "(written elsewhere, by " + by + ") " + text
	}
	d.mail.put(to.ID, said)
	d.s.link.Send(&protocol.Note{ID: newID(), SessionID: d.s.id, From: protocol.FromUser, By: by, Text: text})
	d.s.recording.told(to, by, text)
	d.s.observer.Post(func(time.Time) {
		sent := false
		d.s.observer.DecideWaits(func(id string) bool {
			agent, ok := d.deciding[id]
			if !ok || sent || !(letter{to: to.ID}).isFor(agent) {
				return false
			}
			sent = true // the first that waits gets it, and no other one
			return true
		}, "message")
	})
}
