package control

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/question"
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

// muteOffer returns the menu's present offer, about the agent that the user last dealt with.
func (m *situation) muteOffer() Mute {
	if a := m.LastAgent; a.Name != "" && m.IsCurrent(question.Menu) {
		return Mute{Agent: a.Name, Undo: m.IsMuted(a)}
	}
	return Mute{}
}

// mute mutes an agent until the end of the session, for the owner by or the user in the menu, and
// ends all that it has or asks for.
func (m *Machine) mute(now time.Time, a Agent, by string) {
	m.Mute(a)
	m.lastMute = Mute{Agent: a.Name, By: by}
	if m.driven && m.agent.IsSame(a) {
		m.endGrant(now, Event{Reason: protocol.ReasonReclaimed, Cause: Muted, By: by})
	}
	for _, r := range slices.Clone(m.requests) {
		if r.Agent.IsSame(a) {
			m.endRequest(now, r, Event{Reason: protocol.ReasonRefused, Cause: Muted, By: by})
		}
	}
	m.RefuseAll(now, a)
	m.raiseEpoch() // invalidates an owner's earlier decision to unmute it
}

// MuteAgent mutes the agent of that name, for the owner by. It fails if no such agent has asked
// here.
func (m *Machine) MuteAgent(now time.Time, name, by string) error {
	m.Tick(now)
	a, known := m.FindByName(name)
	if !known {
		return fmt.Errorf("no agent %q has asked for anything here", name)
	}
	m.mute(now, a, by)
	return nil
}

// UnmuteAgent unmutes the agent of that name, or all if name is "", for the owner by, who saw the
// epoch. It returns [ErrMoved] for an older epoch, and fails if no such agent is muted.
func (m *Machine) UnmuteAgent(now time.Time, name, by string, epoch uint64) error {
	m.Tick(now)
	switch {
	case epoch != 0 && epoch != m.epoch:
		return ErrMoved
	case !m.Unmute(name):
		return errors.New("no agent of that name is muted")
	}
	m.lastMute = Mute{Agent: name, Undo: true, By: by}
	return nil
}

// RefuseRequest refuses the request of the agent of that name, or the oldest if name is "", for the
// owner by. It never ends control: if the agent has control by now, RefuseRequest fails. It also
// refuses a request that has ended.
func (m *Machine) RefuseRequest(now time.Time, name, by string) error {
	m.Tick(now)
	r := m.findRequestWhere(func(r *request) bool { return name == "" || r.Agent.Name == name })
	switch {
	case r != nil:
		m.endRequest(now, r, Event{Reason: protocol.ReasonRefused, By: by})
	case m.driven && (name == "" || m.agent.Name == name):
		return fmt.Errorf("%s has the keyboard already: take it back", m.agent.Name)
	}
	return nil
}
