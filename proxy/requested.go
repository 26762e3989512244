package proxy

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/host"
	"terminalproxy/proxy/overlay"
	"terminalproxy/proxy/recording"
	"terminalproxy/proxy/requests"
	"terminalproxy/proxy/screen"
	"terminalproxy/proxy/tty"
)

// requestsConfig plugs what answers agents' messages.
func (s *session) requestsConfig(agent *AgentConfig) requests.Config {
	c := requests.Config{
		SessionID: s.id, Started: s.started, ReclaimKey: s.reclaimKey, OneProgram: agent.OneProgram, Owner: agent.Owner, RemoteGrant: agent.RemoteGrant,
		Log: s.log, Observer: s.observer, Pump: s.pump, Control: s.authority, Link: s.link, Program: s.child, Terminal: cells{s.term},
		Status: requestsStatus{s.status}, Recorder: requestsRecorder{s.recording}, Tracker: s.tracker,
	}
	if h := s.conf.headless; h != nil {
		c.Own = ownTerminal{h, s}
	}
	return c
}

// cells is the terminal as the program asks it about the size of its cells.
type cells struct{ *tty.Terminal }

// CellSize implements [requests.Terminal]: as the program learns it from whoever answers its queries.
func (c cells) CellSize() (width, height int) {
	if !c.HasKeyboard() || !c.HasScreen() {
		return screen.CellWidth, screen.CellHeight
	}
	return c.Terminal.CellSize()
}

// requestsStatus is the proxy's own line as package requests speaks on it.
type requestsStatus struct{ *overlay.Status }

func (s requestsStatus) Tell(text string) { s.Say(text, overlay.TellFor) }

func (s requestsStatus) Hear(m requests.Message) error {
	return s.Status.Hear(&overlay.Message{Who: m.Who, Text: m.Text, From: m.From, Came: m.Came, Tell: m.Tell})
}

// requestsRecorder is the recording as package requests has it follow inputs.
type requestsRecorder struct{ *recording.Recording }

func (r requestsRecorder) Input(m *protocol.Input, epoch uint64) requests.Record {
	return r.Recording.Input(m, epoch)
}

// observedLine is the shared line as the observer looks after it: the observer is made before it.
type observedLine struct{ s *session }

func (l observedLine) Moved(now time.Time)           { l.s.requests.Line().Moved(now) }
func (l observedLine) Next() (at time.Time, ok bool) { return l.s.requests.Line().Next() }
func (l observedLine) Serve(now time.Time)           { l.s.requests.Line().Serve(now) }

// ownTerminal is a session without a user's terminal, as package requests sees it.
type ownTerminal struct {
	*host.Session
	s *session
}

func (o ownTerminal) Handle(m protocol.Message) bool { return o.s.attached.Handle(m) }
