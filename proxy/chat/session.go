package chat

import (
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"terminalproxy/proxy/chat/recent"
)

// Session is the conversation with one agent. Its methods may be called from any goroutine.
type Session struct {
	driver Driver

	mu sync.Mutex
	transcript
	requests
	progress
	conversation string
	shown        State         // the last state in the log
	leaving      bool          // Close was called
	settings     []Setting     // what can be set
	within       time.Duration // in which a request must be answered, 0 for no limit
	why          string        // the agent ended
	over         chan struct{} // closed when the agent is gone
}

// progress is what the agent works at, and what waits for that. Guarded by Session.mu.
type progress struct {
	phase   State             // what the state is when no request is open
	running bool              // a turn runs; until then prompts may wait for one
	waiting map[string]string // prompts that the agent has not begun, by id
	order   []string          // their ids, oldest first
}

// ErrOver is the answer to what comes after the agent's end.
var ErrOver = errors.New("the agent has ended")

var (
	errEmpty  = errors.New("the prompt is empty")
	errUnread = fmt.Errorf("the agent has yet to read %d prompts", waitingMost)
)

// Bounds of what a session keeps beside its log.
const (
	closedMost  = 1 << 20  // of requests that are closed, in bytes
	waitingMost = 256      // prompts
	openMost    = 256      // requests, and
	inputsMost  = 64 << 20 // what they are about, in bytes
)

// New makes a session with an agent of that name. Nothing runs before Start.
func New(agent string, d Driver) *Session {
	return &Session{
		driver:     d,
		transcript: transcript{agent: agent},
		progress:   progress{phase: Starting, waiting: map[string]string{}},
		requests:   requests{closed: recent.New[Closed](closedMost)},
		over:       make(chan struct{}),
	}
}

// Start starts the agent. An error is also the session's end. Call it once.
func (s *Session) Start() error {
	s.mu.Lock()
	s.logNewState("")
	s.mu.Unlock()
	err := s.driver.Start(s.handleEvent)
	if err != nil {
		s.handleEvent(AgentExited{Why: err.Error()})
	}
	return err
}

// Agent is the agent's name, as author.
func (s *Session) Agent() string { return s.agent }

// State is that of the turn.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.currentState()
}

// Conversation is the agent's id for the conversation, with which it can be resumed; "" before the
// agent is ready.
func (s *Session) Conversation() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conversation
}

// OpenRequests are the requests that wait for an answer, oldest first. They must not be changed.
func (s *Session) OpenRequests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Request(nil), s.open...)
}

// WhyEnded is why the agent ended, "" while it has not, and where it ended as it should.
func (s *Session) WhyEnded() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why
}

// Done is closed when the agent is gone.
func (s *Session) Done() <-chan struct{} { return s.over }

// Send says something to the agent for a person, also while it works or starts. It is in the log
// before the agent gets it.
func (s *Session) Send(by, text string) error {
	return s.send(by, Prompt{ID: NewID(), Text: text, Person: true})
}

// SendForAgent is Send for an agent, which by names. mayAct is asked when the prompt is in the
// journal, and by the driver again: the user may take the keyboard back at any moment between.
func (s *Session) SendForAgent(by, text string, mayAct MayAct) error {
	return s.send(by, Prompt{ID: NewID(), Text: text, MayAct: mayAct})
}

// WaitReason says what a prompt would wait for now.
func (s *Session) WaitReason() Waits {
	if w, ok := s.driver.(Waiter); ok {
		return w.WaitReason()
	}
	return ""
}

func (s *Session) send(by string, p Prompt) error {
	text := p.Text
	if text == "" {
		return errEmpty
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	item := &Item{Kind: User, ID: p.ID, Author: by, Text: p.textWithImages()}
	if err := s.checkReach(); err != nil {
		_ = s.journalize(Entry{Record: Record{Item: item}}, false)
		s.noteFate(p.ID, notSent, err.Error())
		return err
	}
	err := s.addRecordChecked(Record{Item: item}, true)
	if err == nil {
		err = p.MayAct.Refusal()
	}
	if err == nil {
		err = s.driver.Send(p)
	}
	if err != nil {
		s.noteFate(p.ID, notSent, err.Error())
		s.addNotice("not sent: " + err.Error())
		return err
	}
	s.noteFate(p.ID, sent, "")
	s.waiting[p.ID] = text
	s.order = append(s.order, p.ID)
	if s.phase == AtPrompt {
		s.phase = Working
	}
	s.logNewState("")
	return nil
}

// checkReach says why no prompt can reach the agent now, nil if one can.
func (p *progress) checkReach() error {
	switch {
	case p.hasEnded():
		return ErrOver
	case len(p.order) >= waitingMost:
		return errUnread
	}
	return nil
}

// Answer answers a request. The first answer counts: later ones get an [*AnsweredError] that names
// who gave it. An answer that does not fit the request changes nothing.
func (s *Session) Answer(id, by string, a Answer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range s.open {
		if r.ID != id {
			continue
		}
		if err := r.validateAnswer(a); err != nil {
			return err
		}
		if err := s.journalize(Entry{Intent: &Intent{By: by, Request: id, Answer: &a}}, true); err != nil && !a.Refuses() {
			return err
		}
		s.open = append(s.open[:i:i], s.open[i+1:]...)
		done := Closed{ID: id, By: by, Answer: a}
		err := s.sendAnswer(r, a)
		if err != nil { // nothing was allowed, and the log must not say that it was
			done = Closed{ID: id, Why: "the answer of " + by + " did not reach " + s.agent + ": " + err.Error()}
		}
		s.close(r, done)
		s.logNewState("")
		return err
	}
	if c, ok := s.closed.Get(id); ok {
		return &AnsweredError{By: c.By, Why: c.Why}
	}
	return ErrNoRequest
}

// Interrupt ends the running turn, if any, and refuses all open requests.
func (s *Session) Interrupt(by string) error { return s.InterruptForAgent(by, nil) }

// InterruptForAgent is Interrupt for an agent, which by names. mayAct is that of SendForAgent.
func (s *Session) InterruptForAgent(by string, mayAct MayAct) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded() {
		return ErrOver
	}
	_ = s.journalize(Entry{Intent: &Intent{By: by, Interrupt: true}}, true) // what takes something away is done in any case
	if err := mayAct.Refusal(); err != nil {
		s.addNotice("not interrupted: " + err.Error())
		return err
	}
	s.refuseAll(by, "the turn was interrupted")
	err := s.driver.Interrupt(mayAct)
	s.logNewState("")
	return err
}

// Close refuses all open requests, ends the agent and returns when it is gone.
func (s *Session) Close() error {
	s.mu.Lock()
	s.refuseAll("", "the session was closed")
	s.leaving = true
	s.mu.Unlock()
	return s.driver.Close()
}

// refuseAll refuses all open requests.
func (s *Session) refuseAll(by, why string) {
	for _, r := range s.open {
		s.close(r, Closed{ID: r.ID, By: by, Why: why})
		_ = s.sendAnswer(r, Answer{Words: why}) // it is gone: then nothing is allowed either
	}
	s.open = nil
}

func (s *Session) close(r *Request, c Closed) {
	if r.expiry != nil {
		r.expiry.Stop()
	}
	s.closed.Put(c.ID, Closed{ID: c.ID, By: c.By, Why: c.Why}, len(c.ID)+len(c.By)+len(c.Why))
	s.addRecord(Record{Closed: &c})
	if r.done != nil {
		r.done(c)
	}
}

func (p *progress) hasEnded() bool { return p.phase == Ended || p.phase == Failed }

func (s *Session) currentState() State {
	if s.hasEnded() || len(s.open) == 0 {
		return s.phase
	}
	for _, r := range s.open {
		if len(r.Form) == 0 {
			return Approval
		}
	}
	return Asks
}

// logNewState logs the state if it changed.
func (s *Session) logNewState(why string) {
	if now := s.currentState(); now != s.shown {
		s.shown = now
		s.addRecord(Record{State: now, Why: why})
	}
}

// NewID is a new random UUID.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
