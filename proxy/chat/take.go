package chat

import (
	"fmt"
	"slices"

	"terminalproxy/protocol"
)

// take takes in what the driver reports.
func (s *Session) take(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended() {
		return // only what comes behind the end
	}
	switch e := e.(type) {
	case Ready:
		s.ready(e.Conversation)
	case Said:
		s.said(e.Item)
	case Wrote:
		s.add(Record{Piece: &e.Piece})
	case Began:
		s.began()
	case Took:
		if _, waited := s.forget(e.Prompt); waited {
			s.noteFate(e.Prompt, read, "")
			s.began()
		}
	case Dropped:
		s.dropped(e.Prompt)
	case Asked:
		s.asked(e.Request)
	case Withdrawn:
		s.withdrawn(e.ID, e.Why)
	case Sets:
		s.sets(e.Settings)
	case Finished:
		if s.phase != Starting { // else its end says why
			s.finished(e.Turn)
		}
	case Gone:
		s.gone(e.Why)
		return
	}
	s.changed("")
}

func (s *Session) ready(conversation string) {
	s.conversation = conversation
	_ = s.journalize(Entry{Conversation: conversation}, false)
	if s.phase != Starting {
		return // it is another one now
	}
	s.phase = AtPrompt
	if len(s.waiting) > 0 {
		s.phase = Working
	}
}

func (s *Session) said(i Item) {
	if i.Author == "" {
		i.Author = s.agent
	}
	s.add(Record{Item: &i})
}

// forget takes a prompt from those that wait, and returns its text.
func (s *Session) forget(prompt string) (text string, waited bool) {
	text, waited = s.waiting[prompt]
	delete(s.waiting, prompt)
	s.order = slices.DeleteFunc(s.order, func(id string) bool { return id == prompt })
	return text, waited
}

func (s *Session) began() { s.phase, s.running = Working, true }

func (s *Session) dropped(prompt string) {
	if text, waited := s.forget(prompt); waited {
		s.unread(prompt, text)
	}
	if s.phase == Working && !s.running && len(s.waiting) == 0 {
		s.phase = AtPrompt
	}
}

// unread says that the agent will not read a prompt.
func (s *Session) unread(prompt, text string) {
	s.noteFate(prompt, unread, "")
	if len(text) > 200 {
		text = protocol.Clip(text, 200) + "..."
	}
	s.notice(fmt.Sprintf("%s did not read: %s", s.agent, text))
}

// asked opens a request. The answer to another one must not count for it: an id that is not new is refused.
func (s *Session) asked(r Request) {
	switch {
	case s.isKnown(r.ID):
		s.withdrawn(r.ID, "asked twice")
		s.notice(fmt.Sprintf("refused: %s asks under an id that is not new: %q", s.agent, r.ID))
		_ = s.driver.Answer(r.ID, Answer{Words: "asked twice"})
		return
	case s.isFull(&r):
		s.notice(fmt.Sprintf("refused: %s asks too much at once", s.agent))
		_ = s.driver.Answer(r.ID, Answer{Words: errFull.Error()})
		return
	}
	s.opened(&r)
}

func (s *Session) withdrawn(id, why string) {
	i := slices.IndexFunc(s.open, func(r *Request) bool { return r.ID == id })
	if i < 0 {
		return // it is answered
	}
	r := s.open[i]
	s.open = slices.Delete(s.open, i, i+1)
	s.close(r, Closed{ID: id, Why: why})
}

func (s *Session) finished(t Turn) {
	s.add(Record{Turn: &t})
	s.phase, s.running = AtPrompt, false
	if len(s.waiting) > 0 {
		s.phase = Working
	}
}

// gone ends the session: what is open is refused, and prompts that the agent never began are said to be unread.
func (s *Session) gone(why string) {
	for _, r := range s.open {
		s.close(r, Closed{ID: r.ID, Why: s.agent + " ended"})
	}
	s.open = nil
	for _, id := range s.order {
		s.unread(id, s.waiting[id])
	}
	s.waiting, s.order = map[string]string{}, nil
	switch {
	case s.leaving:
		s.phase, why = Ended, ""
	case s.phase == Starting:
		s.phase = Failed
	default:
		s.phase = Ended
	}
	s.why = why
	s.changed(why)
	close(s.over)
}
