package control

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// Mute describes the effect of the key x in the menu.
type Mute struct {
	// Agent is the name of the agent that it mutes, or "".
	Agent string
	// Undo means that it unmutes all agents, Agent among them.
	Undo bool
	// By is the remote owner who did it; "" for the user in the menu.
	By string
}

// maxKnownAgents bounds the remembered agents that never asked for the keyboard.
const maxKnownAgents = 16

// NoteAgent notes an agent that writes to the user, or asks in a conversation: it can be muted
// although it never asked for the keyboard.
func (m *Machine) NoteAgent(a Agent) {
	m.knownAgents = append(slices.DeleteFunc(m.knownAgents, a.isSameAgent), a)
	m.knownAgents = m.knownAgents[max(0, len(m.knownAgents)-maxKnownAgents):]
	if m.menu.IsZero() { // otherwise the key would mute another agent than the menu names
		m.last = a
	}
}

// muteOffer returns the menu's present offer, about the agent that the user last dealt with.
func (m *Machine) muteOffer() Mute {
	if a := m.last; a.ID != "" && !m.menu.IsZero() {
		return Mute{Agent: a.Name, Undo: m.IsMuted(a)}
	}
	return Mute{}
}

// toggleMute mutes the agent of the menu's offer until the end of the session, or unmutes all.
func (m *Machine) toggleMute() (did bool) {
	offer := m.muteOffer()
	switch {
	case offer.Agent == "":
		return false
	case offer.Undo:
		m.unmuteByName("")
	default:
		m.findOrAdd(m.last).muted = true
	}
	m.lastMute = offer
	return true
}

// MuteAgent mutes the agent of that name until the end of the session, for the owner by, and ends
// its grant or request. It fails if no such agent has asked here.
func (m *Machine) MuteAgent(now time.Time, name, by string) error {
	m.Tick(now)
	a, known := m.findAgentByName(name)
	if !known {
		return fmt.Errorf("no agent %q has asked for anything here", name)
	}
	m.findOrAdd(a).muted = true
	m.lastMute = Mute{Agent: a.Name, By: by}
	switch {
	case m.phase == Observing:
		m.epoch++ // invalidates an owner's earlier decision to unmute it
	case !m.agent.isSameAgent(a):
	case m.phase == Asked:
		m.endWithCause(now, protocol.ReasonRefused, Muted, by)
	default:
		m.endWithCause(now, protocol.ReasonReclaimed, Muted, by)
	}
	return nil
}

// UnmuteAgent unmutes the agent of that name, or all if name is "", for the owner by, who saw the
// epoch. It returns [ErrMoved] for an older epoch, and fails if no such agent is muted.
func (m *Machine) UnmuteAgent(now time.Time, name, by string, epoch uint64) error {
	m.Tick(now)
	switch {
	case epoch != 0 && epoch != m.epoch:
		return ErrMoved
	case !m.unmuteByName(name):
		return errors.New("no agent of that name is muted")
	}
	m.lastMute = Mute{Agent: name, Undo: true, By: by}
	return nil
}

// RefuseRequest refuses the request of the agent of that name, or of the asking one if name is "",
// for the owner by. It never ends control: if the agent has control by now, RefuseRequest fails. It
// also refuses a request that has ended.
func (m *Machine) RefuseRequest(now time.Time, name, by string) error {
	m.Tick(now)
	switch isMeant := name == "" || m.agent.Name == name; {
	case m.phase == Asked && isMeant:
		m.endByOwner(now, protocol.ReasonRefused, by)
	case m.phase == Granted && isMeant:
		return fmt.Errorf("%s has the keyboard already: take it back", m.agent.Name)
	}
	return nil
}

// findAgentByName finds an agent that the user deals with, or dealt with last.
func (m *Machine) findAgentByName(name string) (a Agent, known bool) {
	for _, a := range append([]Agent{m.agent, m.lastEnd.Agent}, m.knownAgents...) {
		if a.ID != "" && a.Name == name {
			return a, true
		}
	}
	for _, r := range m.refusals {
		if r.agent.Name == name {
			return r.agent, true
		}
	}
	return Agent{}, false
}

// unmuteByName unmutes the agent of that name, or all if name is "". It reports whether one was
// muted.
func (n *askLimits) unmuteByName(name string) (did bool) {
	for _, r := range n.refusals {
		if r.muted && (name == "" || r.agent.Name == name) {
			r.muted, did = false, true
		}
	}
	return did
}

// mutedNames joins the names of the muted agents.
func (n *askLimits) mutedNames() string {
	var names []string
	for _, r := range n.refusals {
		if r.muted {
			names = append(names, r.agent.Name)
		}
	}
	return strings.Join(names, ",")
}
