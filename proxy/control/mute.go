package control

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// Mute is what the key x in the menu does.
type Mute struct {
	// Agent is the name of the one that it mutes, "" for nobody.
	Agent string
	// Undo says that it lets all agents speak again that are muted, Agent among them.
	Undo bool
	// By is the owner elsewhere who did it, "" for the user in the menu.
	By string
}

// maxMet bounds the agents that are remembered though they never asked for the keyboard.
const maxMet = 16

// Meet notes an agent that writes to the user, or asks in a conversation: it can be muted though it never asked for the keyboard.
func (m *Machine) Meet(a Agent) {
	m.met = append(slices.DeleteFunc(m.met, a.same), a)
	m.met = m.met[max(0, len(m.met)-maxMet):]
	if m.menu.IsZero() { // else the key would mute another one than it says
		m.last = a
	}
}

// mute is the present offer of the menu: about the agent that the user had to do with last.
func (m *Machine) mute() Mute {
	if a := m.last; a.ID != "" && !m.menu.IsZero() {
		return Mute{Agent: a.Name, Undo: m.manners.muted(a)}
	}
	return Mute{}
}

// toggle mutes the agent of the menu's offer until the end of the session, or lets all speak again.
func (m *Machine) toggle() (did bool) {
	offer := m.mute()
	switch {
	case offer.Agent == "":
		return false
	case offer.Undo:
		m.manners.unmute("")
	default:
		m.manners.remember(m.last).muted = true
	}
	m.took = offer
	return true
}

// Hush mutes the agent of that name until the end of the session, on the word of by: what it asks for, or has, ends. The error says
// that no such agent has asked here.
func (m *Machine) Hush(now time.Time, name, by string) error {
	m.Tick(now)
	a, known := m.named(name)
	if !known {
		return fmt.Errorf("no agent %q has asked for anything here", name)
	}
	m.manners.remember(a).muted = true
	m.took = Mute{Agent: a.Name, By: by}
	switch {
	case m.phase == Observing:
		m.epoch++ // what an owner decided before, to let it speak, comes too late
	case !m.agent.same(a):
	case m.phase == Asked:
		m.endSince(now, protocol.ReasonRefused, Muted, by)
	default:
		m.endSince(now, protocol.ReasonReclaimed, Muted, by)
	}
	return nil
}

// Unhush lets the agent of that name speak again, "" for all that are muted, on the word of by. epoch is the one that this person
// saw. The error is [ErrMoved], or says that there is none.
func (m *Machine) Unhush(now time.Time, name, by string, epoch uint64) error {
	m.Tick(now)
	switch {
	case epoch != 0 && epoch != m.epoch:
		return ErrMoved
	case !m.manners.unmute(name):
		return errors.New("nobody is muted of that name")
	}
	m.took = Mute{Agent: name, Undo: true, By: by}
	return nil
}

// Refuse refuses the request of the agent of that name, "" for the one that asks, on the word of by. Nobody loses control by it: the
// error says that the agent has got it meanwhile. What asks no more is refused as well.
func (m *Machine) Refuse(now time.Time, name, by string) error {
	m.Tick(now)
	switch meant := name == "" || m.agent.Name == name; {
	case m.phase == Asked && meant:
		m.endBy(now, protocol.ReasonRefused, by)
	case m.phase == Granted && meant:
		return fmt.Errorf("%s has the keyboard already: take it back", m.agent.Name)
	}
	return nil
}

// named is the agent of a name that the user has, or had last, to do with.
func (m *Machine) named(name string) (a Agent, known bool) {
	for _, a := range append([]Agent{m.agent, m.lastEnd.Agent}, m.met...) {
		if a.ID != "" && a.Name == name {
			return a, true
		}
	}
	for _, r := range m.manners.refusals {
		if r.agent.Name == name {
			return r.agent, true
		}
	}
	return Agent{}, false
}

// unmute lets the agent of that name speak again, "" for all; did says that one was muted.
func (n *manners) unmute(name string) (did bool) {
	for _, r := range n.refusals {
		if r.muted && (name == "" || r.agent.Name == name) {
			r.muted, did = false, true
		}
	}
	return did
}

// silent names those that are muted.
func (n *manners) silent() string {
	var names []string
	for _, r := range n.refusals {
		if r.muted {
			names = append(names, r.agent.Name)
		}
	}
	return strings.Join(names, ",")
}

// Muted reports whether the user muted an agent.
func (m *Machine) Muted(a Agent) bool { return m.manners.muted(a) }
