package control

import (
	"fmt"
	"slices"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/question"
)

// maxWaiters bounds the requests of one agent that one decision answers.
const maxWaiters = 16

// Request is an agent's question to the user.
type Request struct {
	ID     string // of the message, to answer it
	Agent  Agent
	Level  protocol.Level
	Reason string
	For    time.Duration // wanted; 0 for no limit
	// RuleGrant is the grant that a rule of the user gives it.
	RuleGrant RuleGrant
	// Program is the program that the agent asks with, and Parent the one that started it, both as
	// the agent reports them.
	Program, Parent string
}

// request is an agent's open request, with all its calls that wait for the answer. Without a call
// it is the proxy's offer to go on after a suspension. RuleGrant is zero unless it is announced.
type request struct {
	Request
	ids      []string
	asked    time.Time
	question *question.Question
}

// Request handles an agent's request for control. Its answer is an [Event], at once if the user
// decided in advance. While another agent drives, the request waits. The error is one of this
// package's, or a *question.NotNow.
func (m *Machine) Request(now time.Time, asked Request) error {
	m.Tick(now)
	agent := asked.Agent
	own := m.findRequest(agent.ID)
	r := &request{Request: asked, ids: []string{asked.ID}, asked: now}
	delete(m.absent, agent.ID)
	switch isHolder := m.driven && m.agent.ID == agent.ID; {
	case m.IsMuted(agent):
		return &question.NotNow{Muted: true}
	case isHolder && coversLevel(m.level, r.Level):
		m.reportGranted(r.ids)
		return nil
	case isHolder:
		return fmt.Errorf("%w (you, under a lower level: release it first)", ErrBusy)
	case m.left && m.remote == RemoteGrant{}:
		return ErrLeft
	case !m.driven && m.pregrant != "" && coversLevel(m.pregrant, r.Level) && m.remote.isFor(agent):
		m.asked = now
		m.replaceRequest(now, own) // it may have asked for more before
		m.giveControl(now, r, m.pregrantFor,
			Event{By: m.remote.By, Policy: m.pregrantUntil.IsZero()})
		return nil
	case m.left:
		return ErrLeft
	case !m.conf.Keyboard && m.driven:
		return fmt.Errorf("%w (%s): try again later", ErrBusy, m.agent.Name)
	case !m.conf.Keyboard:
		return ErrNobody
	case own != nil && own.joins(asked):
		m.addCall(own, r.ID)
		return nil
	}
	if notNow := m.Admit(now, agent); notNow != nil {
		return notNow
	}
	m.asked = now
	m.replaceRequest(now, own)
	m.addRequest(now, r)
	return nil
}

// addRequest puts a new request to the user.
func (m *Machine) addRequest(now time.Time, r *request) {
	if !m.mayAnnounce(r) {
		r.RuleGrant = RuleGrant{}
	}
	r.question = question.New(question.Keyboard, r.Agent, func(now time.Time, yes bool) {
		switch {
		case !yes:
			m.endRequest(now, r, Event{Reason: protocol.ReasonRefused})
		case r.isAnnounced():
			m.giveAnnounced(now, r)
		default:
			m.giveControl(now, r, m.maxKeyGrant(), Event{})
		}
	})
	r.question.Unasked = r.isAnnounced()
	m.requests = append(m.requests, r)
	if !m.driven { // the user would give away the keyboard that another agent has
		m.Add(now, r.question)
	}
}

// GrantOwnTerminal gives an agent control of its own terminal, which no user watches, without a
// question. It does nothing if an agent has control or asks for it.
func (m *Machine) GrantOwnTerminal(now time.Time, asked Request) {
	m.Tick(now)
	if m.Phase() != Observing {
		return
	}
	r := &request{Request: asked}
	if asked.ID != "" {
		r.ids = []string{asked.ID}
	}
	m.giveControl(now, r, m.userLimit(), Event{OwnTerminal: true})
}

// addCall adds a call that waits for the answer. Over the limit it ends the oldest.
func (m *situation) addCall(r *request, id string) {
	r.ids = append(r.ids, id)
	if len(r.ids) > maxWaiters {
		m.reportReplaced(r, r.ids[:1])
		r.ids = r.ids[1:]
	}
}

func (m *situation) findRequest(agentID string) *request {
	return m.findRequestWhere(func(r *request) bool { return r.Agent.ID == agentID })
}

func (m *situation) findRequestWhere(isMeant func(*request) bool) *request {
	at := slices.IndexFunc(m.requests, isMeant)
	if at < 0 {
		return nil
	}
	return m.requests[at]
}

// joins reports whether a request asks what the user reads already, so that one answer is for both.
func (r *request) joins(other Request) bool {
	return r.Agent == other.Agent && r.Level == other.Level && r.Reason == other.Reason &&
		r.For == other.For && r.AskingProgram() == other.AskingProgram()
}

// replaceRequest ends an agent's open request, if there is one: its next one asks for something
// else, which the user must read first. It invalidates a remote owner's decision about the open
// request.
func (m *Machine) replaceRequest(now time.Time, r *request) {
	if r == nil {
		return
	}
	m.reportReplaced(r, r.ids)
	m.dropRequest(r)
	m.Queue.End(now, r.question, question.Withdrawn, "")
	m.raiseEpoch()
}

// reportReplaced answers calls that a newer one replaced.
func (m *situation) reportReplaced(r *request, ids []string) {
	m.events = append(m.events, Event{
		Requests: ids,
		Agent:    r.Agent,
		Epoch:    m.requestEpoch(),
		Reason:   protocol.ReasonReplaced,
		Request:  true,
	})
}

func (m *situation) dropRequest(r *request) {
	m.requests = slices.DeleteFunc(m.requests, func(o *request) bool { return o == r })
}

// endRequest ends a request without control. All such ends come here; event has the details.
func (m *Machine) endRequest(now time.Time, r *request, event Event) {
	how := question.Withdrawn
	if event.Reason == protocol.ReasonRefused {
		how, m.rulesPaused = question.Refused, true
	}
	m.rulesPaused = m.rulesPaused || event.Reason == protocol.ReasonReclaimed
	m.dropRequest(r)
	delete(m.absent, r.Agent.ID)
	m.Queue.End(now, r.question, how, "")
	event.Requests, event.Request = r.ids, true
	event.Agent, event.Level, event.Epoch = r.Agent, r.Level, m.requestEpoch()
	event.Blocked = how == question.Refused && m.IsBlocked(r.Agent)
	m.lastEnd = event
	m.events = append(m.events, event)
	m.raiseEpoch()
}

// raiseEpoch invalidates what owners decided about open requests. While an agent drives, no owner
// can give control, and a new epoch would void the agent's input.
func (m *situation) raiseEpoch() {
	if !m.driven {
		m.epoch++
	}
}

// requestEpoch returns the epoch of the open requests, 0 while it is that of another agent's grant.
func (m *situation) requestEpoch() uint64 {
	if m.driven {
		return 0
	}
	return m.epoch
}

// WithdrawRequest takes a request back: its call was given up, or its caller is gone. The question
// stays while another call of the agent waits for the same answer. Control that was given to this
// call alone ends: its agent does not know of it.
func (m *Machine) WithdrawRequest(now time.Time, requestID string) {
	m.Tick(now)
	withdrawn := Event{Reason: protocol.ReasonReleased, Withdrawn: true}
	if at := slices.Index(m.holders, requestID); at >= 0 {
		if len(m.holders) == 1 {
			m.endGrant(now, withdrawn)
			return
		}
		m.holders = slices.Delete(slices.Clone(m.holders), at, at+1)
		return
	}
	r := m.findRequestWhere(func(r *request) bool { return slices.Contains(r.ids, requestID) })
	switch {
	case r == nil:
	case len(r.ids) == 1:
		m.endRequest(now, r, withdrawn)
	default:
		r.ids = slices.DeleteFunc(slices.Clone(r.ids), func(id string) bool { return id == requestID })
	}
}

// SetAttached notes that people attached to a session or that the last one detached. A question
// that the last one leaves open is over.
func (m *Machine) SetAttached(now time.Time, present bool) {
	m.Tick(now)
	m.conf.Keyboard = present
	if present {
		m.left = false
		return
	}
	for _, r := range slices.Clone(m.requests) {
		m.endRequest(now, r, Event{Reason: protocol.ReasonExpired})
	}
	m.CloseMenu(now)
	if m.IsCurrent(question.Message) { // it stays unfinished
		m.CloseLine(now)
	}
	m.NoteShown(now, 0)
}

// NoteLeft notes that the user leaves the session's terminal. Until SetAttached says that they are
// back, no one can be asked or sees the input, so only a remote owner can give control.
func (m *Machine) NoteLeft(now time.Time) {
	m.endAll(now, Event{Reason: protocol.ReasonReclaimed, Cause: Left})
	m.left = true
	m.SetAttached(now, false)
}
