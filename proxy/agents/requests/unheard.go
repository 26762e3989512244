package requests

import (
	"maps"
	"slices"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

// answersKept bounds the abandoned requests, and the agents for which a decision is kept.
const answersKept = 64

// unheardAnswers keeps decisions about control that did not reach an agent, because it stopped
// waiting for the user's answer or was idle when its grant ended. Its next wait for control gets
// the decision, once. Owned by the observer's goroutine.
type unheardAnswers struct {
	open      map[string]string // agents, by open request
	abandoned map[string]bool   // open requests whose answer no call waits for
	// newest holds each agent's latest answer until it must have arrived: a cancel, which shows
	// that it did not, may still be on its way.
	newest      map[string]awaitedAnswer
	undelivered map[string]string // by agent: how its request or its control ended
	// delivered holds the wait that got an agent's latest decision: that answer may be lost.
	delivered map[string]deliveredDecision
}

type deliveredDecision struct{ requestID, decision string }

type awaitedAnswer struct {
	decision string
	requests []string // still waited for, as far as known
}

// withRoom returns a map that has room for one more entry: m, or an empty one.
func withRoom[V any](m map[string]V) map[string]V {
	if m == nil || len(m) >= answersKept {
		return make(map[string]V)
	}
	return m
}

// noteRequest opens a request. Decisions about earlier requests are no longer an answer to the
// agent.
func (a *unheardAnswers) noteRequest(agentID, requestID string) {
	delete(a.undelivered, agentID)
	delete(a.delivered, agentID)
	delete(a.abandoned, requestID)
	a.open = withRoom(a.open)
	a.open[requestID] = agentID
}

// hasValue reports whether a map has a value.
func hasValue(m map[string]string, value string) bool {
	return slices.Contains(slices.Collect(maps.Values(m)), value)
}

// abandonedRequests returns an agent's open requests whose answer only a wait can deliver.
func (a *unheardAnswers) abandonedRequests(agentID string) (requestIDs []string) {
	for id := range a.abandoned {
		if a.open[id] == agentID {
			requestIDs = append(requestIDs, id)
		}
	}
	return requestIDs
}

// markAbandoned notes that the call for a request, or for a wait on it, has ended; withdrawn also
// takes the request back. If an answer that was given already did not reach its agent, it returns
// that agent, otherwise "".
func (a *unheardAnswers) markAbandoned(requestID string, withdrawn bool) (agentID string) {
	for agent, t := range a.delivered {
		if t.requestID == requestID { // the wait was cancelled while it was answered
			delete(a.delivered, agent)
			a.storeDecision(agent, t.decision)
			return agent
		}
	}
	for agent, n := range a.newest {
		at := slices.Index(n.requests, requestID)
		if at < 0 {
			continue
		}
		n.requests = slices.Delete(n.requests, at, at+1)
		a.newest[agent] = n
		if len(n.requests) == 0 {
			delete(a.newest, agent)
			a.storeDecision(agent, n.decision)
			return agent
		}
		return ""
	}
	if withdrawn {
		return ""
	}
	a.abandoned = withRoom(a.abandoned)
	a.abandoned[requestID] = true
	return ""
}

// recordDecision notes a change of control; word names it. heard means that the answer to a wait or
// an input tells the agent.
func (a *unheardAnswers) recordDecision(e control.Event, word string, heard bool) {
	var awaited []string
	for _, id := range e.Requests {
		if !a.abandoned[id] {
			awaited = append(awaited, id)
		}
		delete(a.abandoned, id)
		delete(a.open, id)
	}
	if !e.Granted && e.Reason == protocol.ReasonReplaced {
		return // its newer requests stay open
	}
	delete(a.undelivered, e.Agent.ID)
	delete(a.delivered, e.Agent.ID)
	delete(a.newest, e.Agent.ID)
	switch {
	case heard, !e.Granted && e.Reason == protocol.ReasonReleased: // the agent did it
	case len(awaited) > 0:
		a.newest = withRoom(a.newest)
		a.newest[e.Agent.ID] = awaitedAnswer{decision: word, requests: awaited}
	case len(e.Requests) > 0, !e.Granted:
		a.storeDecision(e.Agent.ID, word)
	}
}

func (a *unheardAnswers) storeDecision(agentID, word string) {
	a.undelivered = withRoom(a.undelivered)
	a.undelivered[agentID] = word
}

// takeDecision returns and forgets the decision that did not reach an agent, or "".
func (a *unheardAnswers) takeDecision(agentID string) string {
	word := a.undelivered[agentID]
	delete(a.undelivered, agentID)
	return word
}

// takeForWait takes the decision for a wait. The same wait, repeated over a new connection, gets
// the same decision.
func (a *unheardAnswers) takeForWait(agentID, requestID string) string {
	if word := a.takeDecision(agentID); word != "" {
		a.markDelivered(agentID, requestID, word)
		return word
	}
	if t := a.delivered[agentID]; t.requestID == requestID {
		return t.decision
	}
	return ""
}

// markDelivered notes that a wait was answered with a decision.
func (a *unheardAnswers) markDelivered(agentID, requestID, word string) {
	a.delivered = withRoom(a.delivered)
	a.delivered[agentID] = deliveredDecision{requestID, word}
}
