package control

import (
	"time"

	"terminalproxy/protocol"
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
	// Another is set if another agent asked for something, or had control, just before this one
	// asked.
	Another bool
	// Mute is the menu's offer about the last agent, and Muted the last muting or unmuting.
	Mute, Muted Mute
	// MutedNames names the muted agents, separated by commas.
	MutedNames string
	// Reason is the asking agent's own words, and Asked since when it asks, or zero.
	Reason string
	Asked  time.Time
	// Menu means that the proxy's menu is open: the user pressed the reclaim key with nothing to
	// reclaim.
	Menu bool
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
	// is that line as agents may read it.
	Occupied bool
	Line     string
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
	// Message is the message that the user is writing, if any.
	Message Message
	// Secret is the present secret prompt. Dismissible means that Ctrl+G denies it, or lets the
	// agent answer.
	Secret      protocol.SecretPrompt
	Dismissible bool
	// Hidden means that the user hides the screen from agents.
	Hidden bool
	// GrantKeyIgnored is set if the last press of the grant key did not count: it came too soon, or
	// as part of a text.
	GrantKeyIgnored bool
	// Question counts the questions to the user (requests, menus, confirmations, prompts) to tell
	// them apart.
	Question uint64
}

// HasQuestion reports whether a question to the user is open, apart from secret prompts.
func (s State) HasQuestion() bool {
	return !s.Message.Open && (s.Phase == Asked || s.Menu || s.Pending.Keys != "" || s.Occupied)
}

// State returns the machine's state at now.
func (m *Machine) State(now time.Time) State {
	s := State{
		RemotePregrant:  m.remote,
		Phase:           m.phase,
		Epoch:           m.epoch,
		Agent:           m.agent,
		Level:           m.level,
		Until:           m.until,
		For:             m.offeredLength(),
		Reason:          m.reason,
		Another:         m.phase == Asked && m.another,
		Mute:            m.muteOffer(),
		Muted:           m.lastMute,
		MutedNames:      m.mutedNames(),
		Menu:            !m.menu.IsZero(),
		Pregrant:        m.phase == Observing && m.pregrant != "" && !m.pregrantUntil.IsZero(),
		Paused:          m.phase == Granted && now.Before(m.yield),
		Pending:         m.pending,
		Occupied:        m.occupied,
		Line:            m.line,
		Question:        m.number,
		Program:         m.grantedTo(),
		OtherProgram:    m.pausingProgram(),
		Guarded:         m.DependsOnProgram(),
		Message:         m.message,
		Secret:          m.secret,
		Dismissible:     m.isDismissible(),
		Hidden:          m.hidden,
		GrantKeyIgnored: m.ignored == m.number,
	}
	if m.phase == Asked {
		s.Asked, s.RuleGrant, s.AskingProgram = m.asked, m.ruleGrant, m.askingProgram
	}
	if m.IsPausedByProgram() {
		s.NeverRule = m.forbidden
	}
	return s
}
