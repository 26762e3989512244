package control

import (
	"slices"
	"time"

	"terminalproxy/protocol"
)

// Withdraw takes a request back: the call that made it was given up, or its caller is gone. The question stands while another request
// of the agent's waits for the same answer. Control that was given to this request alone ends: its agent has not heard of it.
func (m *Machine) Withdraw(now time.Time, requestID string) {
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
		m.endAs(now, Event{Reason: protocol.ReasonReleased, Withdrawn: true})
		return
	}
	*requests = slices.Delete(slices.Clone(*requests), at, at+1)
}

// joins reports whether a request asks what the user reads already, so that one answer is for both.
func (m *Machine) joins(r Request) bool {
	return m.phase == Asked && m.agent == r.Agent && m.level == r.Level && m.reason == r.Reason && m.wanted == r.For && m.from == r.From()
}

// replace takes back what the agent has asked: its next request asks something else, which the user has to read anew. What an owner
// elsewhere decided about it comes too late.
func (m *Machine) replace(now time.Time) {
	if m.phase != Asked {
		return
	}
	m.replaced(m.waiting)
	m.over(now, m.agent.ID, false)
	m.ahead, m.waiting, m.epoch = Ahead{}, nil, m.epoch+1
}

// replaced tells those who made these requests that a newer one took their place.
func (m *Machine) replaced(requests []string) {
	m.events = append(m.events, Event{Requests: requests, Agent: m.agent, Epoch: m.epoch, Reason: protocol.ReasonReplaced, Request: true})
}
