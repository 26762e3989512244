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
func (g *grant) joinsQuestion(r Request) bool {
	return g.phase == Asked && g.agent == r.Agent && g.level == r.Level &&
		g.reason == r.Reason && g.wanted == r.For && g.from == r.AskingProgram()
}

// withdrawAsked withdraws what the agent has asked: its next request asks something else, which the
// user must read anew. It invalidates a remote owner's decision about it.
func (g *grant) withdrawAsked(now time.Time) {
	if g.phase != Asked {
		return
	}
	g.reportReplaced(g.waiting)
	g.endQuestion(now, g.agent.ID, false)
	g.ahead, g.waiting, g.epoch = Ahead{}, nil, g.epoch+1
}

// reportReplaced answers requests that a newer one replaced.
func (g *grant) reportReplaced(requests []string) {
	g.events = append(g.events,
		Event{
			Requests: requests,
			Agent:    g.agent,
			Epoch:    g.epoch,
			Reason:   protocol.ReasonReplaced,
			Request:  true,
		})
}
