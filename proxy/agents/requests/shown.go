package requests

import (
	"slices"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/terminal/keys"
)

// maxShownBytes bounds the part of an input that viewers see.
const maxShownBytes = 160

// shownInput is the part of an input that viewers elsewhere see: nothing while the program asks for
// a secret. Owned by the pump's goroutine.
type shownInput struct {
	bytes  []byte
	cut    bool // the rest is left out
	secret bool
}

// noteWritten records bytes of an input right after the program received them.
func (in *delivery) noteWritten(p []byte) {
	in.record.RecordWritten(p)
	l := &in.shown
	l.secret = l.secret || in.Control.AllowsSecret() ||
		in.Control.State(time.Now()).Secret != protocol.SecretNone
	p, _ = cutBrackets(p)
	switch {
	case string(p) == pasteBegins, string(p) == pasteEnds:
	case l.cut || len(l.bytes)+len(p) > maxShownBytes: // pieces are whole keys
		l.cut = true
	default:
		l.bytes = append(l.bytes, p...)
	}
}

// announceTyped shows viewers what an agent typed, once the input is over.
func (in *delivery) announceTyped(r pump.Receipt) {
	if r.Written == 0 || in.shown.secret {
		return
	}
	text := in.mouseAct
	if text == "" {
		text = keys.FormatPieces(slices.Clone(in.shown.bytes))
	}
	if in.shown.cut {
		text += "…"
	}
	name := in.Control.LastEnd().Agent.Name
	if st := in.Control.State(time.Now()); st.Agent.ID == in.m.AgentID {
		name = st.Agent.Name
	}
	in.Observer.Post(func(now time.Time) {
		in.Observer.NoteAgentTyped(now, name,
			protocol.Clip(in.Observer.Redact(text, -1), protocol.MaxTyped))
	})
}
