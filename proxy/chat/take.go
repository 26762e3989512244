package chat

import (
	"fmt"
	"slices"
)

// handleEvent applies an event of the driver.
func (s *Session) handleEvent(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded() {
		return // only what comes behind the end
	}
	switch e := e.(type) {
	case Ready:
		s.handleReady(e.Conversation)
	case ItemAdded:
		s.addItem(e.Item)
	case TextAppended:
		s.addRecord(Record{Piece: &e.Piece})
	case TurnStarted:
		s.startTurn()
	case PromptAccepted:
		if _, waited := s.removeWaiting(e.Prompt); waited {
			s.noteFate(e.Prompt, read, "")
			s.startTurn()
		}
	case PromptDropped:
		s.dropPrompt(e.Prompt)
	case RequestOpened:
		s.openNewRequest(e.Request)
	case Withdrawn:
		s.closeWithdrawn(e.ID, e.Why)
	case SettingsChanged:
		s.updateSettings(e.Settings)
	case Finished:
		if s.phase != Starting { // else its end says why
			s.endTurn(e.Turn)
		}
	case AgentExited:
		s.endSession(e.Why)
		return
	}
	s.logNewState("")
}

func (s *Session) handleReady(conversation string) {
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

// removeWaiting removes a prompt from those that wait, and returns its text.
func (p *progress) removeWaiting(prompt string) (text string, waited bool) {
	text, waited = p.waiting[prompt]
	delete(p.waiting, prompt)
	p.order = slices.DeleteFunc(p.order, func(id string) bool { return id == prompt })
	return text, waited
}

func (p *progress) startTurn() { p.phase, p.running = Working, true }

func (s *Session) dropPrompt(prompt string) {
	if text, waited := s.removeWaiting(prompt); waited {
		s.failUnread(prompt, text)
	}
	if s.phase == Working && !s.running && len(s.waiting) == 0 {
		s.phase = AtPrompt
	}
}

// openNewRequest opens the agent's request. It refuses a known id, because the answer to one
// request must not count for another.
func (s *Session) openNewRequest(r Request) {
	switch {
	case s.isKnown(r.ID):
		s.closeWithdrawn(r.ID, "asked twice")
		s.addNotice(fmt.Sprintf("refused: %s used the id of an earlier request: %q", s.agent, r.ID))
		_ = s.driver.Answer(r.ID, Answer{Words: "asked twice"})
		return
	case s.isFull(&r):
		s.addNotice(fmt.Sprintf("refused: %s asks too much at once", s.agent))
		_ = s.driver.Answer(r.ID, Answer{Words: errFull.Error()})
		return
	}
	s.addRequest(&r)
}

func (s *Session) closeWithdrawn(id, why string) {
	i := slices.IndexFunc(s.open, func(r *Request) bool { return r.ID == id })
	if i < 0 {
		return // it is answered
	}
	r := s.open[i]
	s.open = slices.Delete(s.open, i, i+1)
	s.close(r, Closed{ID: id, Why: why})
}

func (s *Session) endTurn(t Turn) {
	s.addRecord(Record{Turn: &t})
	s.phase, s.running = AtPrompt, false
	if len(s.waiting) > 0 {
		s.phase = Working
	}
}

// endSession refuses all open requests and reports prompts that the agent never began as unread.
func (s *Session) endSession(why string) {
	for _, r := range s.open {
		s.close(r, Closed{ID: r.ID, Why: s.agent + " ended"})
	}
	s.open = nil
	for _, id := range s.order {
		s.failUnread(id, s.waiting[id])
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
	s.logNewState(why)
	close(s.over)
}
