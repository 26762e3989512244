package control

import (
	"slices"
	"time"

	"terminalproxy/protocol"
)

// WithdrawRequest takes a request back: its call was given up, or its caller is gone. The question
// stays while another request of the agent waits for the same answer. Control that was given to
// this request alone ends: its agent has not learned of it.
func (m *Machine) WithdrawRequest(now time.Time, requestID string) {
	m.Tick(now)
	requests := &m.waiting
	if m.phase == Granted {
		requests = &m.holders
	}
	at := slices.Index(*requests, requestID)
	if at < 0 {
		return
	}
	if len(*requests) == 1 {
		m.endWith(now, Event{Reason: protocol.ReasonReleased, Withdrawn: true})
		return
	}
	*requests = slices.Delete(slices.Clone(*requests), at, at+1)
}

// joinsQuestion reports whether a request asks what the user reads already, so that one answer is
// for both.
func (m *Machine) joinsQuestion(r Request) bool {
	return m.phase == Asked && m.agent == r.Agent && m.level == r.Level &&
		m.reason == r.Reason && m.wanted == r.For && m.from == r.AskingProgram()
}

// withdrawAsked takes back what the agent has asked: its next request asks something else, which
// the user must read anew. A remote owner's decision about it comes too late.
func (m *Machine) withdrawAsked(now time.Time) {
	if m.phase != Asked {
		return
	}
	m.reportReplaced(m.waiting)
	m.endQuestion(now, m.agent.ID, false)
	m.ahead, m.waiting, m.epoch = Ahead{}, nil, m.epoch+1
}

// reportReplaced answers these requests: a newer one took their place.
func (m *Machine) reportReplaced(requests []string) {
	m.events = append(
		m.events,
		Event{
			Requests: requests,
			Agent:    m.agent,
			Epoch:    m.epoch,
			Reason:   protocol.ReasonReplaced,
			Request:  true,
		},
	)
}
