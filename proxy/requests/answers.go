package requests

import (
	"slices"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
)

// answersKept bounds the requests that nobody waits for, and the agents that an answer is kept for.
const answersKept = 64

// answers keeps what became of control when the agent did not hear it, since it stopped waiting for the user's answer or did
// nothing as its grant ended: it gets that with its next wait for control, once. What an agent has heard meets no wait again. It
// belongs to the observer's goroutine.
type answers struct {
	open   map[string]string // agents, by their open requests
	left   map[string]bool   // open requests that nobody waits for any more
	newest map[string]answer // by agent: it may still turn out to be unheard, what says so was on its way when it came
	kept   map[string]string // by agent: the word for how its request ended, or control after that
	told   map[string]told   // by agent: the wait that got such a word last, which may not have reached it
}

type told struct{ requestID, word string }

type answer struct {
	word     string
	requests []string // that somebody may wait for
}

// asks notes a new request: what became of those before it is no answer any more.
func (a *answers) asks(agentID, requestID string) {
	delete(a.kept, agentID)
	delete(a.told, agentID)
	delete(a.left, requestID)
	if a.open == nil || len(a.open) >= answersKept {
		a.open = make(map[string]string)
	}
	a.open[requestID] = agentID
}

// unheard are an agent's open requests whose answer it can only hear with a wait.
func (a *answers) unheard(agentID string) (requestIDs []string) {
	for id := range a.left {
		if a.open[id] == agentID {
			requestIDs = append(requestIDs, id)
		}
	}
	return requestIDs
}

// leave notes that nobody waits for the answer to a request, or to a wait for it, any more; withdrawn says that the request is taken back.
// It returns the agent that has not heard an answer that was given, "" for none.
func (a *answers) leave(requestID string, withdrawn bool) (agentID string) {
	for agent, t := range a.told {
		if t.requestID == requestID { // the wait was given up as it was answered
			delete(a.told, agent)
			a.keep(agent, t.word)
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
			a.keep(agent, n.word)
			return agent
		}
		return ""
	}
	if withdrawn {
		return ""
	}
	if a.left == nil || len(a.left) >= answersKept {
		a.left = make(map[string]bool)
	}
	a.left[requestID] = true
	return ""
}

// decided notes a change of control, which word names; heard says that a wait or an input of the agent's was answered with it.
func (a *answers) decided(e control.Event, word string, heard bool) {
	var awaited []string
	for _, id := range e.Requests {
		if !a.left[id] {
			awaited = append(awaited, id)
		}
		delete(a.left, id)
		delete(a.open, id)
	}
	if !e.Granted && e.Reason == protocol.ReasonReplaced {
		return // its newer requests are still open
	}
	delete(a.kept, e.Agent.ID)
	delete(a.told, e.Agent.ID)
	delete(a.newest, e.Agent.ID)
	switch {
	case heard, !e.Granted && e.Reason == protocol.ReasonReleased: // its own doing
	case len(awaited) > 0:
		if a.newest == nil || len(a.newest) >= answersKept {
			a.newest = make(map[string]answer)
		}
		a.newest[e.Agent.ID] = answer{word: word, requests: awaited}
	case len(e.Requests) > 0, !e.Granted:
		a.keep(e.Agent.ID, word)
	}
}

func (a *answers) keep(agentID, word string) {
	if a.kept == nil || len(a.kept) >= answersKept {
		a.kept = make(map[string]string)
	}
	a.kept[agentID] = word
}

// take is what an agent has not heard yet, "" for nothing.
func (a *answers) take(agentID string) string {
	word := a.kept[agentID]
	delete(a.kept, agentID)
	return word
}

// takeFor is take for a wait. The same wait again, over the connection that follows one that was lost, gets the same word.
func (a *answers) takeFor(agentID, requestID string) string {
	if word := a.take(agentID); word != "" {
		a.tell(agentID, requestID, word)
		return word
	}
	if t := a.told[agentID]; t.requestID == requestID {
		return t.word
	}
	return ""
}

// tell notes that a wait was answered with word.
func (a *answers) tell(agentID, requestID, word string) {
	if a.told == nil || len(a.told) >= answersKept {
		a.told = make(map[string]told)
	}
	a.told[agentID] = told{requestID, word}
}
