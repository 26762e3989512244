package requests

import (
	"slices"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/keys"
)

// lookBytes bounds what of an input those who look are told.
const lookBytes = 160

// looked is what those who look at the screen from elsewhere are told of an input: nothing of one that was typed while the program asks
// for a secret. It belongs to the pump's goroutine.
type looked struct {
	bytes []byte
	more  bool // the rest is left out
	mute  bool
}

// wrote takes what the program took of an input, right after it did.
func (h *Handler) wrote(in *typing, p []byte) {
	in.record.Wrote(p)
	l := &in.looked
	l.mute = l.mute || h.Control.Allowed() || h.Control.State(time.Now()).Secret != protocol.SecretNone
	p, _ = cutBrackets(p)
	switch {
	case string(p) == pasteBegins, string(p) == pasteEnds:
	case l.more || len(l.bytes)+len(p) > lookBytes: // in pieces, which are whole keys
		l.more = true
	default:
		l.bytes = append(l.bytes, p...)
	}
}

// noteTyped tells those who look what an agent typed, once the input is over.
func (h *Handler) noteTyped(in *typing, r input.Receipt) {
	if r.Written == 0 || in.looked.mute {
		return
	}
	text := in.does
	if text == "" {
		text = keys.Show(slices.Clone(in.looked.bytes))
	}
	if in.looked.more {
		text += "…"
	}
	name := h.Control.LastEnd().Agent.Name
	if st := h.Control.State(time.Now()); st.Agent.ID == in.m.AgentID {
		name = st.Agent.Name
	}
	h.Observer.Post(func(now time.Time) {
		h.Observer.AgentTyped(now, name, protocol.Clip(h.Observer.Redact(text, -1), protocol.MaxTyped))
	})
}
