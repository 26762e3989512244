package control

import (
	"slices"
	"time"

	"terminalproxy/protocol"
)

// WithdrawRequest takes a request back: its call was given up, or its caller is gone. The question
// stays while another request of the agent waits for the same answer. Control that was given to
// this request alone ends: its agent does not know of it.
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
		g.reason == r.Reason && g.wanted == r.For && g.askingProgram == r.AskingProgram()
}

// withdrawAsked withdraws the agent's open request: its next one asks for something else, which the
// user must read first. It invalidates a remote owner's decision about the open request.
func (g *grant) withdrawAsked(now time.Time) {
	if g.phase != Asked {
		return
	}
	g.reportReplaced(g.waiting)
	g.endQuestion(now, g.agent.ID, false)
	g.ruleGrant, g.waiting, g.epoch = RuleGrant{}, nil, g.epoch+1
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
