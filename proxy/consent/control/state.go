package control

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/question"
)

// State is the machine's state for observers.
type State struct {
	Phase Phase
	Epoch uint64
	Agent Agent // the one that drives or asks
	Level protocol.Level
	Until time.Time // end of the grant, or zero
	// For is the length of the requested grant, or of one that the menu offers or has promised. 0
	// means until it is taken back.
	For time.Duration
	// Question is what the user is asked now.
	Question question.Shown
	// Asking counts the other agents that ask for control while one has it, and NewestAsking is the
	// newest such request.
	Asking       int
	NewestAsking Request
	// Mute is the menu's offer about the last agent, and Muted the last muting or unmuting.
	Mute, Muted Mute
	// MutedNames names the muted agents, separated by commas.
	MutedNames string
	// Reason is the asking agent's own words, and Asked since when it asks, or zero. GoesOn
	// means that the proxy asks whether the agent goes on after a suspension.
	Reason string
	Asked  time.Time
	GoesOn bool
	// Pregrant means that the user promised control, in the menu, to the next agent that asks. A
	// promise from the command line is not shown here.
	Pregrant bool
	// RemotePregrant is such a promise from a remote owner.
	RemotePregrant RemoteGrant
	// Paused means that the user typed and the agent's input waits.
	Paused bool
	// Pending is input that waits for the user to confirm it, or zero.
	Pending Confirmation
	// Occupied means that the agent's input waits because the user has not submitted the line. Line
	// is that line as agents may read it, and Types describes the input to the user.
	Occupied    bool
	Line, Types string
	// Program is the only program that the grant is for, or "". OtherProgram is the program that
	// has the terminal in its place, so that the agent's input waits. NeverRule is the rule that
	// keeps the agent out of OtherProgram, or "".
	Program, OtherProgram, NeverRule string
	// Guarded is set if control depends on the foreground program.
	Guarded bool
	// RuleGrant is the rule by which the asking agent is about to get control, and AskingProgram
	// the program with which it asks.
	RuleGrant     RuleGrant
	AskingProgram string
	// Secret is the present secret prompt.
	Secret protocol.SecretPrompt
	// Hidden means that the user hides the screen from agents.
	Hidden bool
}

// State returns the machine's state at now.
func (m *situation) State(now time.Time) State {
	s := State{
		Question:       m.Shown(),
		RemotePregrant: m.remote,
		Phase:          m.Phase(),
		Epoch:          m.epoch,
		Agent:          m.Holder(),
		Level:          m.level,
		Until:          m.until,
		For:            m.offeredLength(),
		Mute:           m.muteOffer(),
		Muted:          m.lastMute,
		MutedNames:     m.MutedNames(),
		Pregrant:       !m.IsSought() && m.pregrant != "" && !m.pregrantUntil.IsZero(),
		Paused:         m.driven && now.Before(m.yield),
		Pending:        m.pending,
		Occupied:       m.occupied,
		Line:           m.line,
		Types:          m.types,
		Program:        m.grantedTo(),
		OtherProgram:   m.pausingProgram(),
		Guarded:        m.DependsOnProgram(),
		Secret:         m.secret,
		Hidden:         m.hidden,
	}
	if m.driven {
		if s.Asking = len(m.requests); s.Asking > 0 {
			s.NewestAsking = m.requests[s.Asking-1].Request
		}
	} else if len(m.requests) > 0 {
		r := m.requests[0]
		s.Level, s.Reason, s.Asked, s.GoesOn = r.Level, r.Reason, r.asked, r.ids == nil
		s.RuleGrant, s.AskingProgram = r.RuleGrant, r.AskingProgram()
	}
	if m.IsPausedByProgram() {
		s.NeverRule = m.forbidden
	}
	return s
}
